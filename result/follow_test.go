package result

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// seen reads on with a follower: the starts of intervals and the counts of histograms.
func seen(t *testing.T, f *Follower) (starts, counts []int64) {
	t.Helper()
	if err := f.Intervals(func(i Interval) { starts = append(starts, i.StartNs) }); err != nil {
		t.Error(err)
	}
	if err := f.Latency(nil, func(l IntervalLatency) {
		counts = append(counts, l.Histogram.TotalCount())
	}); err != nil {
		t.Error(err)
	}
	return starts, counts
}

func TestFollowerSeesEachLineOnce(t *testing.T) {
	w, run := written(t, t.TempDir())
	f := Follow(w.Dir())
	if err := w.Close(run); err != nil { // everything is on the disk
		t.Fatal(err)
	}
	starts, counts := seen(t, f)
	if !slices.Equal(starts, []int64{0, 1e9}) || !slices.Equal(counts, []int64{1000, 1000}) {
		t.Errorf("%v, %v", starts, counts)
	}
	if starts, counts = seen(t, f); len(starts)+len(counts) > 0 {
		t.Errorf("a second time: %v, %v", starts, counts)
	}
}

// The first part of a line waits for its rest; a line of something else is passed over.
func TestFollowerWaitsForWholeLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, intervalsFile)
	add := func(text string) {
		t.Helper()
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = file.WriteString(text)
			_ = file.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f := Follow(dir)
	var got []int64
	next := func() error {
		return f.Intervals(func(i Interval) { got = append(got, i.StartNs) })
	}
	if err := next(); err == nil {
		t.Error("a file that is not there is read")
	}
	add(`{"start_ns": 1}` + "\n" + `{"start_`)
	if err := next(); err != nil || !slices.Equal(got, []int64{1}) {
		t.Errorf("%v, %v", got, err)
	}
	add(`ns": 2}` + "\nelse\n" + `{"start_ns": 3}` + "\n")
	if err := next(); err == nil || !strings.Contains(err.Error(), "did not write") ||
		!slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := next(); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if err := next(); err == nil {
		t.Error("a file that became shorter is read on")
	}
}

// A follower and the reader see the same histograms, whatever the file holds.
func FuzzFollowLatency(f *testing.F) {
	h := NewHistogram()
	_ = h.RecordValues(1_000_000, 7)
	h.SetTag(string(Publish))
	var log strings.Builder
	w := hdr.NewHistogramLogWriter(&log)
	if err := w.OutputIntervalHistogram(h); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("#[head]\n" + log.String() + "Tag=publish,0"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, latencyFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		s := &Saved{Dir: dir}
		b := s.Run.bounds()
		s.readLines(latencyFile, b.logged(s.readHistogram(b)))
		n := 0
		_ = Follow(dir).Latency(nil, func(IntervalLatency) { n++ })
		if n != len(s.Latency) {
			t.Errorf("the follower sees %d histograms, the reader %d", n, len(s.Latency))
		}
	})
}
