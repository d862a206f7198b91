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

// storedVersion is the schema version of stored calibrations and proofs.
const storedVersion = 1

// storedMax bounds the size of a stored file in bytes. Valid files have some kilobytes.
const storedMax = 1 << 20

// stored is the format of a stored calibration.
type stored struct {
	SchemaVersion int           `json:"schema_version"`
	Machine       string        `json:"machine"`
	Volume        string        `json:"volume"` // the file system
	Limits        result.Limits `json:"limits"`
}

// Save stores the limits of this machine and of the directory's file system, replaces earlier
// ones, and returns the path.
func (c *Calibration) Save(l *result.Limits) (path string, err error) {
	path, err = storedPath(c.volume)
	if err != nil {
		return "", err
	}
	kept := stored{
		SchemaVersion: storedVersion, Machine: machine(), Volume: c.volume.id, Limits: *l,
	}
	if err := keep(path, kept); err != nil {
		return "", fmt.Errorf("store the calibration: %w", err)
	}
	return path, nil
}

// keep replaces a file of the cache as a whole, and makes its directory if necessary.
func keep(path string, value any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := result.ReplaceDocument(path, value); err != nil {
		return fmt.Errorf("in %s: %w", filepath.Dir(path), err)
	}
	return nil
}

// Stored returns the stored limits of this machine and of a directory's file system. An
// error is a sentence that says what to do.
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
	return nil, fmt.Errorf("this machine's limits are not known, because %s %w: %s",
		path, err, calibrate)
}

// readStored reads a regular file of at most storedMax bytes. Its errors continue a sentence
// that begins with the path.
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

// parseStored parses a stored calibration, and refuses impossible figures.
func parseStored(raw []byte) (stored, error) {
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		return stored{}, errors.New("is not a calibration")
	}
	if s.SchemaVersion != storedVersion {
		return stored{}, errors.New("was written by another version of plimsoll")
	}
	l := s.Limits
	if l.SequentialWriteBytes <= 0 || l.LoopbackBytes <= 0 || l.MemoryCopyBytes <= 0 ||
		l.ClockResolutionNs <= 0 || l.Cores <= 0 {
		return stored{}, errors.New("holds impossible figures")
	}
	return s, nil
}

// fits returns an error when a calibration is not for this machine as it is now.
func (s stored) fits(v volume) error {
	if s.Machine != machine() || s.Volume != v.id {
		return errors.New("is of another machine or file system")
	}
	if cores := runtime.NumCPU(); s.Limits.Cores != cores {
		return fmt.Errorf("was made with %d cores and there are %d now", s.Limits.Cores, cores)
	}
	return nil
}

// storedPath returns the path of a file system's calibration.
func storedPath(v volume) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "limits-"+machine()+"-"+v.id+".json"), nil
}

// cacheDir returns plimsoll's directory in the user's cache.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errors.New(
			"there is no directory to keep a calibration in: set HOME or XDG_CACHE_HOME")
	}
	return filepath.Join(dir, "plimsoll"), nil
}

// machine returns a hash that tells this machine from others with the same home directory,
// and reveals nothing else.
func machine() string {
	name, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")
	sum := sha256.Sum256([]byte(name + "\n" + strings.TrimSpace(string(id))))
	return fmt.Sprintf("%x", sum[:6])
}
