package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/result"
)

// brief is an effort with parts of 20 ms.
func brief() Effort {
	const moment = 20 * time.Millisecond
	return Effort{
		FileBytes: 4 << 20, WriteBytes: 16 << 20, Syncs: 50,
		Write: moment, Sync: moment, Loopback: moment, RoundTrip: moment, Copy: moment,
		Pacer: moment,
	}
}

// calibrated prepares and runs a brief calibration.
func calibrated(t *testing.T, dir string) (*Calibration, *result.Limits) {
	t.Helper()
	c, err := Prepare(dir, brief())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	l, err := c.Run(t.Context(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	return c, l
}

// cacheIn replaces the user's cache by an empty one.
func cacheIn(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
}

func TestCalibrationMeasuresEverythingAndLeavesNothing(t *testing.T) {
	cacheIn(t)
	dir := t.TempDir()
	_, l := calibrated(t, dir)
	if l.SequentialWriteBytes <= 0 || l.LoopbackBytes <= 0 || l.MemoryCopyBytes <= 0 ||
		l.ClockResolutionNs <= 0 || l.Cores != runtime.NumCPU() || l.Dir != dir {
		t.Errorf("%+v", l)
	}
	for _, latency := range [][]result.Latency{l.SyncLatency, l.LoopbackRoundTrip, l.PacerError} {
		if len(latency) != 1 || latency[0].Count == 0 || latency[0].MaxNs <= 0 ||
			len(latency[0].Percentiles) == 0 {
			t.Errorf("%+v", latency)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A directory that does not exist yet is calibrated in its parent.
func TestCalibrationOfAMissingDirectory(t *testing.T) {
	cacheIn(t)
	dir := filepath.Join(t.TempDir(), "runs")
	c, l := calibrated(t, dir)
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || l.Dir != dir {
		t.Errorf("%v, %+v", err, l)
	}
	path, err := c.Save(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Stored(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l, got); diff != "" {
		t.Error(diff)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("stored as %v", left)
	}
}

func TestCalibrationEndsWithItsContext(t *testing.T) {
	cacheIn(t)
	for steps := range 4 {
		c, err := Prepare(t.TempDir(), brief())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		l, err := c.Run(ctx, func(string) {
			if steps--; steps < 0 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || l != nil {
			t.Errorf("%+v, %v", l, err)
		}
		cancel()
		c.Close()
	}
}

func TestUnusableDirectoriesAreOneSentence(t *testing.T) {
	cacheIn(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	vast := brief()
	vast.FileBytes = 1 << 60
	for _, c := range []struct {
		dir    string
		effort Effort
		want   string
	}{
		{file, brief(), "is not a directory"},
		{filepath.Join(file, "runs"), brief(), "is not a directory"},
		{filepath.Join(t.TempDir(), "no", "runs"), brief(), "check the path"},
		{t.TempDir(), vast, "free and calibrating takes"},
		{"/proc", brief(), "name another directory"},
	} {
		got, err := Prepare(c.dir, c.effort)
		if err == nil {
			got.Close()
		}
		if !isSentence(err, c.want) {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	if _, err := Prepare(t.TempDir(), brief()); !isSentence(err, "set HOME") {
		t.Error(err)
	}
}

// isSentence reports whether an error of one line holds a text.
func isSentence(err error, want string) bool {
	return err != nil && strings.Contains(err.Error(), want) &&
		!strings.Contains(err.Error(), "\n")
}

// An invalid calibration is refused like a missing one, with a sentence that says why.
func TestInvalidStoredCalibrationsAreRefused(t *testing.T) {
	cacheIn(t)
	dir := t.TempDir()
	v, err := volumeOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err := storedPath(v)
	if err != nil {
		t.Fatal(err)
	}
	good := stored{
		SchemaVersion: storedVersion, Machine: machine(), Volume: v.id,
		Limits: result.Limits{
			SequentialWriteBytes: 1, LoopbackBytes: 1, MemoryCopyBytes: 1,
			ClockResolutionNs: 1, Cores: runtime.NumCPU(),
		},
	}
	with := func(change func(*stored)) []byte {
		s := good
		change(&s)
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	want := "this machine's limits are not known: run 'plimsoll calibrate " + dir + "' once"
	if _, err := Stored(dir); err == nil || err.Error() != want {
		t.Errorf("none: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for want, raw := range map[string][]byte{
		"is not a calibration":           []byte("{"),
		"another version of plimsoll":    with(func(s *stored) { s.SchemaVersion++ }),
		"holds impossible figures":       with(func(s *stored) { s.Limits.LoopbackBytes = -1 }),
		"another machine or file system": with(func(s *stored) { s.Machine = "x" }),
		"cores and there are":            with(func(s *stored) { s.Limits.Cores++ }),
		"":                               with(func(*stored) {}),
	} {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := Stored(dir)
		if want == "" && err == nil && got != nil {
			continue
		}
		if want == "" || !isSentence(err, want) || !isSentence(err, "plimsoll calibrate") {
			t.Errorf("%s: %v", want, err)
		}
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := Stored(dir); err == nil || !strings.Contains(err.Error(), "is not a calibration") {
		t.Errorf("a directory: %v", err)
	}
}

func FuzzStored(f *testing.F) {
	f.Add([]byte(`{"schema_version":1,"limits":{"sequential_write_bytes_per_s":1,` +
		`"loopback_bytes_per_s":1,"memory_copy_bytes_per_s":1,"clock_resolution_ns":1,"cores":2}}`))
	f.Add([]byte(`{"schema_version":1e9}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := parseStored(raw)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		second, err := parseStored(again)
		if err != nil {
			t.Fatal(err)
		}
		third, err := json.Marshal(second)
		if err != nil || !bytes.Equal(again, third) {
			t.Errorf("%s became %s, %v", again, third, err)
		}
	})
}
