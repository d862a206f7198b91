package observe

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// storedVersion is the schema of a stored calibration.
const storedVersion = 1

// storedMax bounds a stored calibration: ours are some kilobytes.
const storedMax = 1 << 20

// stored is a calibration as it is kept.
type stored struct {
	SchemaVersion int           `json:"schema_version"`
	Machine       string        `json:"machine"`
	Volume        string        `json:"volume"` // the file system
	Limits        result.Limits `json:"limits"`
}

// Save keeps what a calibration found for this machine and the directory's file
// system, in place of an earlier one, and returns where.
func (c *Calibration) Save(l *result.Limits) (path string, err error) {
	path, err = storedPath(c.volume)
	if err != nil {
		return "", err
	}
	kept := stored{SchemaVersion: storedVersion, Machine: machine(), Volume: c.volume.id, Limits: *l}
	if err := keep(path, kept); err != nil {
		return "", fmt.Errorf("store the calibration: %w", err)
	}
	return path, nil
}

// keep replaces a file of the cache as a whole; its directory is made where it is missing.
func keep(path string, value any) error {
	raw, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := result.ReplaceFile(path, append(raw, '\n')); err != nil {
		return fmt.Errorf("in %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// Stored returns what is known of this machine and a directory's file system.
// The error is a sentence that says what to do.
func Stored(dir string) (*result.Limits, error) {
	calibrate := fmt.Sprintf("run 'plimsoll calibrate %s' once", dir)
	v, err := volumeOf(dir)
	if err != nil {
		return nil, fmt.Errorf("this machine's limits are not known: %w", err)
	}
	path, err := storedPath(v)
	if err != nil {
		return nil, fmt.Errorf("this machine's limits are not known: %w", err)
	}
	raw, err := readStored(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("this machine's limits are not known: %s", calibrate)
	}
	if err == nil {
		var s stored
		if s, err = parseStored(raw); err == nil {
			err = s.fits(v)
		}
		if err == nil {
			return &s.Limits, nil
		}
	}
	return nil, fmt.Errorf("this machine's limits are not known, because %s %w: %s", path, err, calibrate)
}

// readStored reads a regular file of a sane size.
func readStored(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, os.ErrNotExist
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > storedMax) {
		return nil, errors.New("is not a calibration")
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be read (%w)", errors.Unwrap(err))
	}
	return raw, nil
}

// parseStored reads a stored calibration and refuses one whose figures cannot
// be.
func parseStored(raw []byte) (stored, error) {
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return stored{}, errors.New("is not a calibration")
	}
	if s.SchemaVersion != storedVersion {
		return stored{}, errors.New("is of another version of plimsoll")
	}
	l := s.Limits
	if l.SequentialWriteBytes <= 0 || l.LoopbackBytes <= 0 || l.MemoryCopyBytes <= 0 || l.ClockResolutionNs <= 0 || l.Cores <= 0 {
		return stored{}, errors.New("holds figures that cannot be")
	}
	return s, nil
}

// fits says why a calibration is not one of this machine as it is now.
func (s stored) fits(v volume) error {
	if s.Machine != machine() || s.Volume != v.id {
		return errors.New("is of another machine or file system")
	}
	if cores := runtime.NumCPU(); s.Limits.Cores != cores {
		return fmt.Errorf("was made with %d cores and there are %d now", s.Limits.Cores, cores)
	}
	return nil
}

// storedPath is where the calibration of a file system is kept.
func storedPath(v volume) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "limits-"+machine()+"-"+v.id+".json"), nil
}

func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New("there is no directory to keep a calibration in: set HOME or XDG_CACHE_HOME")
	}
	return filepath.Join(dir, "plimsoll"), nil
}

// machine tells this machine from others that share a home directory, and
// gives nothing of it away.
func machine() string {
	name, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")
	sum := sha256.Sum256([]byte(name + "\n" + strings.TrimSpace(string(id))))
	return fmt.Sprintf("%x", sum[:6])
}
