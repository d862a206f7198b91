package result

import (
	"math"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// packedOf is a packed histogram of so many latencies.
func packedOf(ns, count int64) *hdr.PackedHistogram {
	h := hdr.NewPacked(HistogramMinNs, HistogramMaxNs, HistogramDigits)
	_ = h.RecordValues(ns, count)
	return h
}

// killed is a run of which only the lines of a warm-up and of three seconds of its window, and the
// histograms, reached the disk.
func killed() *Saved {
	s := &Saved{Run: Run{SchemaVersion: SchemaVersion, State: Incomplete,
		Load: Load{Subscriptions: 1, WindowSeconds: 30, MessageBytes: 10}}}
	for i := range int64(5) {
		in := Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9, Phase: PhaseMeasure, Scheduled: 1000,
			Sent: 990, Acked: 900, Failed: 20, Received: 880,
			Latency: []Latency{{Series: Publish, Clamped: 1, Negative: 2},
				{Series: Lag, Clamped: 3, Negative: 4}}}
		if i < 2 {
			in.Phase = []PhaseName{PhaseConnect, PhaseWarmup}[i]
		}
		s.Intervals = append(s.Intervals, in)
		for series, ns := range map[Series]int64{Publish: 4e6, EndToEnd: 6e6, OwnLag: 3e5,
			LessOwnLag: 37e5, Twin: 1e5, TwinReceive: 2e5} {
			s.Latency = append(s.Latency, IntervalLatency{Series: series, Warmup: i < 2,
				StartNs: in.StartNs, EndNs: in.EndNs, Histogram: packedOf(ns, 900)})
		}
	}
	return s
}

// What a killed process had measured of its window is summarized, without the warm-up.
func TestAKilledRunIsSummarized(t *testing.T) {
	s := killed()
	s.summarizeFromIntervals()
	r := &s.Run
	if c := r.Counters; c.Scheduled != 3000 || c.Acked != 2700 || c.Failed != 60 ||
		c.Received != 2640 {
		t.Errorf("%+v", c)
	}
	if s := r.Summary; s.WindowNs != 3e9 || s.OfferedRate != 1000 || s.AchievedRate != 900 ||
		s.ReceivedRate != 880 {
		t.Errorf("%+v", s)
	}
	is := func(what string, got int64, want float64) {
		if math.Abs(float64(got)/want-1) > 0.001 {
			t.Errorf("%s is %d ns, want %v", what, got, want)
		}
	}
	g := r.Summary.Generator
	is("own lag p99", g.OwnLagP99Ns, 3e5)
	is("mean own lag", int64(g.OwnLagMeanNs), 3e5)
	is("publish p99 less own lag", g.LessOwnLagP99Ns, 37e5)
	if g.OwnLagCount != 2700 {
		t.Errorf("own lag of %d messages", g.OwnLagCount)
	}
	twin := r.Summary.Instrument
	if twin == nil || twin.Publish.Count != 2700 || twin.EndToEnd.Count != 2700 {
		t.Fatalf("the twin: %+v", twin)
	}
	is("the twin's publish latency", twin.Publish.MaxNs, 1e5)
	is("the twin's end-to-end latency", twin.EndToEnd.MaxNs, 2e5)
	for series, want := range map[Series]Latency{
		Publish: {Count: 2700, Clamped: 3, Negative: 6,
			// 10 of each second since the connections were made.
			Missing: Missing{Refused: 60, Unsent: 40}},
		EndToEnd: {Count: 2700},
		Send:     {Missing: Missing{Refused: 60}},
		Lag:      {Clamped: 9, Negative: 12, Missing: Missing{Unsent: 40}},
	} {
		l := r.Summary.Series(series)
		if l.Count != want.Count || l.Clamped != want.Clamped || l.Negative != want.Negative ||
			l.Missing != want.Missing {
			t.Errorf("%s: %+v", series, l)
		}
	}
	is("publish p50", r.Summary.Series(Publish).MaxNs, 4e6)
	is("end-to-end p50", r.Summary.Series(EndToEnd).MaxNs, 6e6)
}

// Latencies of the warm-up and of other series are in no total.
func TestTotalsAreOfTheWindow(t *testing.T) {
	s := killed()
	if n := s.Total(Publish).TotalCount(); n != 2700 {
		t.Errorf("%d publish latencies in the window, want 2,700", n)
	}
	if h := s.Total(Waited); h != nil {
		t.Errorf("%d latencies of a series without any", h.TotalCount())
	}
	p99 := Percentile{Percentile: 99, LatencyNs: 9, Bound: AtLeast}
	l := Latency{Percentiles: []Percentile{{Percentile: 50, LatencyNs: 7}, p99}}
	if p, known := l.Point(99); !known || p != p99 {
		t.Errorf("%+v, %v", p, known)
	}
	if p, known := l.Point(90); known || p.Percentile != 90 {
		t.Errorf("a percentile that is not on record: %+v, %v", p, known)
	}
}

// Percentiles that the error of two clocks blurs are left out.
func TestPercentilesBelowTheErrorOfClocks(t *testing.T) {
	of := func(p50Ns, p99Ns int64) []Percentile {
		return []Percentile{{Percentile: 50, LatencyNs: p50Ns}, {Percentile: 99, LatencyNs: p99Ns}}
	}
	l := Latency{Percentiles: of(499, 500), Answered: of(100, 900)}
	got := l.WithError(100)
	if got.ErrorNs != 100 || len(got.Percentiles) != 1 || got.Percentiles[0].LatencyNs != 500 ||
		len(got.Answered) != 1 || got.Answered[0].LatencyNs != 900 {
		t.Errorf("%+v", got)
	}
	if got := l.WithError(0); got.ErrorNs != 0 || len(got.Percentiles) != 2 {
		t.Errorf("without an error: %+v", got)
	}
}

// What processes used is known where it is known of each, and plimsoll's is its own unless servers
// live in it.
func TestWhatProcessesUsed(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	of := func(p ProcessUse) *int64 { return p.Syncs }
	all := []ProcessUse{{Name: "n1", Syncs: n(3)}, {Name: Self, Syncs: n(5)}}
	if sum, known := Sum(all, of); !known || sum != 8 {
		t.Errorf("%v syncs, known %v", sum, known)
	}
	all[0].Syncs = nil
	if sum, known := Sum(all, of); known || sum != 0 {
		t.Errorf("%v syncs, known %v, and those of one process are not", sum, known)
	}
	r := Run{Observation: Observation{Servers: []string{"n1"}, Processes: all}}
	if own := r.OwnUse(); own == nil || own.Name != Self {
		t.Errorf("plimsoll's own: %+v", own)
	}
	r.Workers = []Worker{{Name: "w1"}}
	if own := r.OwnUse(); own != nil {
		t.Errorf("plimsoll's own, that of the coordinator: %+v", own)
	}
	r.Workers, r.Observation.Servers = nil, []string{Self}
	if own := r.OwnUse(); own != nil {
		t.Errorf("plimsoll's own, with servers in it: %+v", own)
	}
	r.Observation = Observation{Processes: all[:1]}
	if own := r.OwnUse(); own != nil {
		t.Errorf("plimsoll's own, not observed: %+v", own)
	}
}

// The window is the phase of that name, and a window without an end has not ended.
func TestTheWindowOfARun(t *testing.T) {
	r := Run{Phases: []Phase{{Name: PhaseWarmup, StartNs: 1, EndNs: 5},
		{Name: PhaseMeasure, StartNs: 5, EndNs: 9}}}
	if from, to, ok := r.Window(); from != 5 || to != 9 || !ok {
		t.Error(from, to, ok)
	}
	r.Phases[1].EndNs = 0
	if from, to, ok := r.Window(); from != 5 || to != math.MaxInt64 || !ok {
		t.Error(from, to, ok)
	}
	r.Phases = r.Phases[:1]
	if from, to, ok := r.Window(); from != 0 || to != 0 || ok {
		t.Error(from, to, ok)
	}
	for _, c := range []struct {
		r    Run
		want bool
	}{{Run{SchemaVersion: 1}, true}, {Run{SchemaVersion: 2}, false},
		{Run{SchemaVersion: 1, Imported: &Import{}}, false}} {
		if got := c.r.Lacks(); got != c.want {
			t.Errorf("version %d, imported %v: lacks %v", c.r.SchemaVersion, c.r.Imported != nil, got)
		}
	}
}
