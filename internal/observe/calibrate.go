package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Effort bounds the parts of a calibration: how long each lasts, and how much it writes.
type Effort struct {
	FileBytes  int64 // the size of the file to write; a multiple of 1 MB
	WriteBytes int64 // the most bytes to write to it, over and over
	Syncs      int   // the most syncs

	Write, Sync, Loopback, RoundTrip, Copy, Pacer time.Duration
}

// FullEffort takes about ten seconds.
func FullEffort() Effort {
	return Effort{
		FileBytes: 512 << 20, WriteBytes: 2 << 30, Syncs: 20_000,
		Write: 3 * time.Second, Sync: 2500 * time.Millisecond,
		Loopback: 1500 * time.Millisecond, RoundTrip: time.Second,
		Copy: 500 * time.Millisecond, Pacer: 1500 * time.Millisecond,
	}
}

// needBytes returns the most disk that the effort takes at one time, in bytes.
func (e Effort) needBytes() int64 { return e.FileBytes + int64(e.Syncs)*syncedBytes }

// The latency series of a calibration.
const (
	seriesSync   result.Series = "fdatasync"
	seriesTrip   result.Series = "loopback_round_trip"
	seriesPacer  result.Series = "pacer_error"
	spaceToSpare               = 64 << 20
)

// Calibration measures what this machine can do at most. It must be used by one goroutine.
type Calibration struct {
	dir    string // the directory to calibrate
	place  string // the existing directory that holds the file
	volume volume
	effort Effort
	file   *os.File // has no name, so it vanishes with this process
}

// Prepare makes the file to write on a directory's file system. When the directory does not
// exist, Prepare uses its parent. An error says what is wrong with the directory.
func Prepare(dir string, e Effort) (*Calibration, error) {
	if _, err := cacheDir(); err != nil {
		return nil, err
	}
	shown := dir
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", shown, err)
	}
	place, err := existing(dir)
	if err != nil {
		return nil, err
	}
	v, err := volumeOf(place)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", place, err)
	}
	if need := e.needBytes() + spaceToSpare; v.freeBytes < need {
		return nil, fmt.Errorf("%s has %s free and calibrating takes up to %s: "+
			"free some or name another directory",
			place, quantity.Bytes(v.freeBytes), quantity.Bytes(need))
	}
	f, err := unnamedFile(place)
	if err != nil {
		return nil, explainDisk(place, err)
	}
	return &Calibration{dir: dir, place: place, volume: v, effort: e, file: f}, nil
}

// existing returns the directory, or its parent when the directory does not exist.
func existing(dir string) (string, error) {
	for _, place := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(place)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil && !errors.Is(err, syscall.ENOTDIR) {
			return "", explainDisk(place, err)
		}
		if err != nil || !info.IsDir() {
			return "", fmt.Errorf("%s is not a directory: name a directory", place)
		}
		return place, nil
	}
	return "", fmt.Errorf(
		"neither %s nor the directory that it would be in exists: check the path", dir)
}

// unnamedFile makes a file and removes its name, so that the file vanishes with this
// process.
func unnamedFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".calibrate-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// explainDisk turns an error of the disk into a sentence that says what to do.
func explainDisk(dir string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("the disk at %s is full: free some or name another directory", dir)
	case errors.Is(err, syscall.EROFS), errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%s cannot be written: %w: name another directory", dir, err)
	}
	return fmt.Errorf("write to %s: %w", dir, err)
}

// Run measures. It calls say with a sentence before each step. When ctx ends, Run returns
// the error of ctx and no figures.
func (c *Calibration) Run(ctx context.Context, say func(string)) (*result.Limits, error) {
	e := c.effort
	l := &result.Limits{
		MeasuredAt: time.Now().UTC().Format(time.RFC3339), Dir: c.dir, Device: c.volume.disk,
		Cores: runtime.NumCPU(),
	}
	for _, step := range []struct {
		sentence string
		measure  func() error
	}{
		{"how late waits end", func() (err error) {
			l.ClockResolutionNs = clockResolution(clock.Precise())
			l.PacerError, err = pacerError(ctx, clock.Precise(), e.Pacer)
			return err
		}},
		{"copying memory", func() (err error) {
			l.MemoryCopyBytes, err = memoryCopy(ctx, e.Copy)
			return err
		}},
		{"the loopback interface", func() (err error) {
			if l.LoopbackBytes, err = loopbackBytes(ctx, e.Loopback); err != nil {
				return err
			}
			l.LoopbackRoundTrip, err = loopbackRoundTrip(ctx, e.RoundTrip)
			return err
		}},
		{
			fmt.Sprintf("writing to the disk at %s, at most %s at a time",
				c.place, quantity.Bytes(e.needBytes())),
			func() error { return c.disk(ctx, l) },
		},
	} {
		say(step.sentence)
		if err := step.measure(); err != nil {
			return nil, reason(ctx, err)
		}
	}
	return l, nil
}

// disk measures syncs and sequential writes.
func (c *Calibration) disk(ctx context.Context, l *result.Limits) (err error) {
	// The syncs come first, because the disk is still busy after the large file.
	if l.SyncLatency, err = syncLatency(ctx, c.file, c.effort); err != nil {
		return explainDisk(c.place, err)
	}
	l.SequentialWriteBytes, l.DirectIO, err = sequentialWrite(
		ctx, c.file, c.volume.inMemory, c.effort)
	if err != nil {
		return explainDisk(c.place, err)
	}
	return nil
}

// reason returns the error of ctx when it has ended, and err otherwise.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Close removes the file.
func (c *Calibration) Close() error { return c.file.Close() }

// timed collects the values of a latency.
type timed struct{ h *hdr.Histogram }

func newTimed() timed { return timed{result.NewHistogram()} }

func (t timed) add(ns int64) {
	// The value is within the histogram's range, so there is no error.
	_ = t.h.RecordValue(min(max(ns, 0), result.HistogramMaxNs))
}

func (t timed) latency(series result.Series) []result.Latency {
	return []result.Latency{result.Summarize(series, t.h, 0, 0)}
}
