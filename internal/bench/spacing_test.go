package bench

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
)

// bytesOfReading writes what a reading of an interval writes, with the real encoder, and returns the
// bytes: histograms of every series at a rate, and resources of three nodes with gauges.
func bytesOfReading(t *testing.T, rate float64, every time.Duration) int64 {
	t.Helper()
	run := &result.Run{ID: "spacing", SchemaVersion: result.SchemaVersion}
	root := t.TempDir()
	w, err := result.Create(root, run)
	if err != nil {
		t.Fatal(err)
	}
	before := w.Written()
	random := rand.New(rand.NewPCG(1, 1))
	var all []*hdr.Histogram
	i := result.Interval{StartNs: 1e12, EndNs: 1e12 + int64(every), Phase: result.PhaseMeasure,
		Acked: 123_456_789, Received: 123_456_789, RSSBytes: 1e9, HeapBytes: 1e9}
	for _, series := range append(result.AllSeries, result.Beside...) {
		h := result.NewHistogram()
		h.SetTag(string(series))
		n := int(min(rate*every.Seconds(), 30_000)) // more fill few more buckets
		for range n {
			_ = h.RecordValue(int64(1e6 * math.Exp(random.NormFloat64())))
		}
		i.Latency = append(i.Latency, result.Summarize(series, h, 0, 0))
		all = append(all, h)
	}
	r := result.Resources{StartNs: 1e12, EndNs: 1e12 + int64(every), Phase: result.PhaseMeasure}
	count := int64(1e9)
	for _, name := range []string{"n1", "n2", "n3", "plimsoll"} {
		r.Processes = append(r.Processes, result.ProcessUse{Name: name, PID: 100_000,
			RSSBytes: count, ReadBytes: &count, WriteBytes: &count, Syncs: &count,
			NetReceivedBytes: &count, NetSentBytes: &count})
		r.Gauges = append(r.Gauges, result.Gauge{Name: result.DataOnDisk + name, Value: 1e10},
			result.Gauge{Name: result.DataFiles + name, Value: 1e4})
	}
	if err := w.Interval(i, result.LoggedOf(all)); err != nil {
		t.Fatal(err)
	}
	if err := w.Resources(r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(run); err != nil {
		t.Fatal(err)
	}
	if whole, _ := os.Stat(filepath.Join(w.Dir(), result.RunFile)); whole.Size() > 1<<20 {
		t.Errorf("%s has %d bytes", result.RunFile, whole.Size())
	}
	return w.Written() - before
}

// A run of any length stays below 100 MB, at low and at high rates, and a run of an hour at a low
// rate has intervals of a second.
func TestADayFitsIn100MB(t *testing.T) {
	sizes := map[time.Duration]int64{}
	for _, c := range []struct {
		rate   float64
		window time.Duration
		most   time.Duration // of an interval at the end
	}{
		{200, time.Hour, time.Second}, {200, 24 * time.Hour, 128 * time.Second},
		{50_000, 24 * time.Hour, 5 * time.Minute},
	} {
		clear(sizes)
		s := spacing{everyNs: int64(time.Second)}
		var written int64
		for now := int64(0); now < int64(c.window); now += s.everyNs {
			every := time.Duration(s.everyNs)
			if sizes[every] == 0 {
				sizes[every] = bytesOfReading(t, c.rate, every)
			}
			written += sizes[every]
			s.look(written, int64(c.window)-now)
		}
		t.Logf("%v at %v/s: %d MB, intervals of %v at the end, %v", c.window, c.rate, written>>20,
			time.Duration(s.everyNs), sizes)
		if written > 98<<20 {
			t.Errorf("%v at %v/s: %d MB", c.window, c.rate, written>>20)
		}
		if time.Duration(s.everyNs) > c.most {
			t.Errorf("%v at %v/s: intervals of %v", c.window, c.rate, time.Duration(s.everyNs))
		}
	}
}
