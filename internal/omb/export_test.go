package omb

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-bench/plimsoll/result"
)

var recorded = []result.Series{result.Publish, result.Send, result.Lag, result.EndToEnd}

// measured writes a run as plimsoll measures one: a warm-up of 3 s, so many
// seconds, a drain, an interval a second, and reads it back.
func measured(t *testing.T, seconds int) *result.Saved {
	t.Helper()
	run := &result.Run{
		SchemaVersion: 1, ID: "r", State: result.Running, StartedAt: time.Date(2026, 1, 2, 3, 4, 5,
			0, time.UTC),
		System: result.System{Name: "kafka"},
		Load: result.Load{Workload: "w", MessageBytes: 100, Topics: 1, Partitions: 2,
			Producers: 3, Consumers: 4, Subscriptions: 1},
	}
	w, err := result.Create(t.TempDir(), run)
	if err != nil {
		t.Fatal(err)
	}
	totals := map[result.Series]*hdr.Histogram{}
	random := sequence(1)
	for k := range seconds + 4 {
		phase := phaseOf(k, seconds)
		i := result.Interval{StartNs: int64(k) * 1e9, EndNs: int64(k+1) * 1e9, Phase: phase,
			Acked: 1000, Received: 1000, Failed: 1, Backlog: int64(k)}
		var histograms []*hdr.Histogram
		for n, s := range recorded {
			h := result.NewHistogram()
			for range 1000 {
				_ = h.RecordValue(int64(100_000*(n+1)) +
					int64(math.Pow(random.next(), 8)*float64(k+1)*1e7))
			}
			tag := string(s)
			switch {
			case phase == result.PhaseWarmup:
				tag = result.WarmupPrefix + tag
			case totals[s] == nil:
				totals[s] = hdr.Import(h.Export())
			default:
				totals[s].Merge(h)
			}
			h.SetTag(tag)
			h.SetStartTimeMs(run.StartedAt.UnixMilli() + i.StartNs/1e6)
			h.SetEndTimeMs(run.StartedAt.UnixMilli() + i.EndNs/1e6)
			histograms = append(histograms, h)
		}
		if err := w.Interval(i, result.LoggedOf(histograms)); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range result.AllSeries {
		run.Summary.Latency = append(run.Summary.Latency, result.Summarize(s, totals[s], 0, 0))
	}
	run.State = result.Complete
	if err := w.Close(run); err != nil {
		t.Fatal(err)
	}
	s, err := result.Read(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func exported(t *testing.T, s *result.Saved) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, []*result.Saved{s}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestExportHasEveryKey: OMB's chart scripts index by these.
func TestExportHasEveryKey(t *testing.T) {
	raw := exported(t, measured(t, 25))
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := []string{"workload", "driver", "messageSize", "topics", "partitions",
		"producersPerTopic", "consumersPerTopic",
		"publishRate", "publishErrorRate", "consumeRate", "backlog"}
	for _, p := range []string{"ublishLatency", "ublishDelayLatency", "ndToEndLatency"} {
		small, capital := map[byte]string{'u': "p", 'n': "e"}[p[0]], map[byte]string{'u': "P",
			'n': "E"}[p[0]]
		for _, s := range []string{"Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct",
			"Max"} {
			want = append(want, small+p+s, "aggregated"+capital+p+s)
		}
		want = append(want, "aggregated"+capital+p+"Quantiles")
	}
	for _, key := range want {
		if got[key] == nil {
			t.Errorf("no %s", key)
		}
		if list, is := got[key].([]any); is && len(list) != 3 {
			t.Errorf("%s has %d periods, 25 s are 3", key, len(list))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	// Periods have rates, also the last one of 5 s, and whole numbers where OMB has them.
	if diff := cmp.Diff([]any{1000.0, 1000.0, 1000.0}, got["publishRate"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{12.0, 22.0, 27.0}, got["backlog"]); diff != "" {
		t.Error(diff)
	}
	if bytes.Contains(raw, []byte("NaN")) || !bytes.Contains(raw, []byte(`"topics": 1,`)) {
		t.Error("not as OMB writes numbers")
	}
}

// TestPeriodsMergeHistograms: a period's percentile is that of all its messages.
func TestPeriodsMergeHistograms(t *testing.T) {
	s := measured(t, 25)
	r, err := ParseResult("x.json", exported(t, s))
	if err != nil {
		t.Fatal(err)
	}
	for k, from := range []int64{3, 13, 23} {
		merged := result.NewHistogram()
		for _, l := range s.Latency {
			if l.Series == result.Send && !l.Warmup && l.StartNs >= from*1e9 &&
				l.StartNs < min(from+10, 28)*1e9 {
				l.Histogram.MergeInto(merged)
			}
		}
		if got, want := r.Send.Periods["99pct"][k], float64(merged.ValueAtPercentile(99)); !within(
			got, want, 1e-9) {
			t.Errorf("period %d: p99 %v, of all its messages %v", k, got, want)
		}
	}
}

// TestRoundTrip: out and in again, the percentiles are the same within the
// resolution of the histograms, and a second time exactly.
func TestRoundTrip(t *testing.T) {
	s := measured(t, 60)
	first := exported(t, s)
	back := saved(t, "x.json", first, Known{})
	for _, series := range []result.Series{result.Send, result.Lag, result.EndToEnd} {
		before, after := s.Total(series), back.Total(series)
		for _, p := range []float64{1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100} {
			// Lag is in whole microseconds, the others have three digits.
			if got, want := float64(after.ValueAtPercentile(p)), float64(
				before.ValueAtPercentile(p)); !within(got, want, 0.002) {
				t.Errorf("%s p%v was %v and came back as %v", series, p, want, got)
			}
		}
		for _, p := range s.Run.Summary.Series(series).Percentiles {
			got, ok := back.Run.Summary.Series(series).At(p.Percentile)
			if !ok || !within(float64(got), float64(p.LatencyNs), 0.002) {
				t.Errorf("%s p%v was %v and came back as %v", series, p.Percentile, p.LatencyNs,
					got)
			}
		}
	}
	if back.Run.Summary.Series(result.Publish).Count != 0 {
		t.Error("a publish latency came out of a file that cannot have one")
	}
	var a, b map[string]any
	if err := json.Unmarshal(first, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(exported(t, back), &b); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"publishRate", "consumeRate", "backlog", "messageSize",
		"endToEndLatency99pct", "publishLatencyMax",
		"aggregatedPublishLatency99pct", "aggregatedEndToEndLatency999pct",
		"aggregatedPublishDelayLatency50pct"} {
		if diff := cmp.Diff(a[key], b[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

func TestAnExportHoldsOneRun(t *testing.T) {
	for _, runs := range [][]*result.Saved{nil, {{}, {}}} {
		if err := Write(&bytes.Buffer{}, runs); err == nil ||
			!strings.Contains(err.Error(), "one run") {
			t.Errorf("%d runs: %v", len(runs), err)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, []*result.Saved{{}}); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("an empty run: %v %s", err, b.Bytes())
	}
}

// sequence is a generator of numbers from 0 to 1 that are the same on each machine.
type sequence uint64

func (s *sequence) next() float64 {
	*s = *s*6364136223846793005 + 1442695040888963407
	return float64(*s>>40) / (1 << 24)
}

// phaseOf is the phase of second k of a run with a number of measured seconds.
func phaseOf(k, seconds int) result.PhaseName {
	switch {
	case k < 3:
		return result.PhaseWarmup
	case k == seconds+3:
		return result.PhaseDrain
	}
	return result.PhaseMeasure
}
