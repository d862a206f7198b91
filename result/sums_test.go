package result

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The total of an account has every count of every subscription. All subscriptions have the same
// transactions, and the longest of their times counts, so those do not add up.
func TestTheTotalHasEveryCount(t *testing.T) {
	var one, other SubscriptionLedger
	numbers := func(l *SubscriptionLedger, by int64) {
		v := reflect.ValueOf(l).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Int64 {
				f.SetInt(by * int64(i+1))
			}
		}
	}
	numbers(&one, 10)
	numbers(&other, 1)
	total := reflect.ValueOf(Ledger{Subscriptions: []SubscriptionLedger{one, other}}.Total())
	for i := range total.NumField() {
		name := total.Type().Field(i).Name
		want := int64(11 * (i + 1))
		if strings.HasSuffix(name, "Transactions") || strings.HasSuffix(name, "Ns") {
			want = int64(10 * (i + 1))
		}
		if f := total.Field(i); f.Kind() == reflect.Int64 && f.Int() != want {
			t.Errorf("%s is %d, want %d", name, f.Int(), want)
		}
	}
}

// A summary of two seconds, the second of which ended late, with two subscriptions.
func TestRatesAreThoseOfTheWindow(t *testing.T) {
	var s Summary
	s.Add(Interval{StartNs: 5e9, EndNs: 6e9, Scheduled: 1000, Acked: 900, Received: 1800,
		Backlog: 70, CPUSeconds: 0.5, BlockedNs: 2e8, GCPauseNs: 40, GCCount: 3, ThrottledNs: 5,
		RSSBytes: 900, HeapBytes: 80})
	s.Add(Interval{StartNs: 6e9, EndNs: 7.5e9, Scheduled: 1000, Acked: 1100, Received: 2200,
		Backlog: 20, CPUSeconds: 0.75, BlockedNs: 3e8, GCPauseNs: 30, GCCount: 4, ThrottledNs: 6,
		RSSBytes: 700, HeapBytes: 90})
	s.Finish(Load{WindowSeconds: 2, Subscriptions: 2, MessageBytes: 100}, 4)
	want := Summary{WindowNs: 2.5e9, OfferedRate: 1000, AchievedRate: 800, ReceivedRate: 800,
		WorkRate: 800, BytesPerS: 80_000, MaxBacklog: 70, EndBacklog: 20,
		Generator: Generator{CPUSeconds: 1.25, CPUShare: 0.125, BlockedSeconds: 0.5,
			GCPauseMaxNs: 40, GCCount: 7, ThrottledNs: 11, PeakRSSBytes: 900, HeapPeakBytes: 90}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	// A window that ended early: the offered rate is of its own length.
	short := Summary{WindowNs: 1e9, OfferedRate: 500, AchievedRate: 500}
	short.Finish(Load{WindowSeconds: 10}, 0)
	if short.OfferedRate != 500 || short.AchievedRate != 500 {
		t.Errorf("of a short window: %+v", short)
	}
	none := Summary{OfferedRate: 3}
	if none.Finish(Load{WindowSeconds: 10}, 1); none.OfferedRate != 3 {
		t.Errorf("of no window: %+v", none)
	}
}

// The payload of a message is that of the window, or the load's where nothing was acknowledged.
func TestPayloadBytes(t *testing.T) {
	load := Load{MessageBytes: 1024}
	for _, c := range []struct {
		s    Summary
		want float64
	}{
		{Summary{AchievedRate: 10, BytesPerS: 5_000}, 500},
		{Summary{AchievedRate: 0, BytesPerS: 5_000}, 1024},
		{Summary{AchievedRate: 10, BytesPerS: 0}, 1024},
	} {
		if got := c.s.PayloadBytes(load); got != c.want {
			t.Errorf("%+v: %v bytes, want %v", c.s, got, c.want)
		}
	}
}

// A minute has the p95 of its own samples. A window shorter than a minute is one minute, and a rest
// counts where it is a minute but for a little.
func TestMinutes(t *testing.T) {
	const s = int64(1e9)
	tally := func(windowNs int64) []Minute {
		var m MinuteTally
		for at := s / 2; at < windowNs; at += s {
			sample := func(ms int64) func(*hdr.Histogram) {
				return func(into *hdr.Histogram) { _ = into.RecordValues(ms*1e6, 100) }
			}
			m.Add(Send, at, sample(10*(1+at/minuteNs)))
			m.Add(SendCall, at, sample(20*(1+at/minuteNs)))
			m.Add(EndToEnd, at, sample(30*(1+at/minuteNs)))
			m.Add(Lag, at, func(*hdr.Histogram) { t.Error("a minute has no schedule lag") })
		}
		return m.Minutes(windowNs)
	}
	for windowNs, ends := range map[int64][]int64{
		30 * s:  {30 * s},
		60 * s:  {60 * s},
		90 * s:  {60 * s},
		119 * s: {60 * s},
		// Within a hundredth of a minute.
		119*s + 4*s/10: {60 * s, 119*s + 4*s/10},
		120 * s:        {60 * s, 120 * s},
		150 * s:        {60 * s, 120 * s},
	} {
		got := tally(windowNs)
		if len(got) != len(ends) {
			t.Errorf("a window of %d s: %+v", windowNs/s, got)
			continue
		}
		for i, m := range got {
			factor := float64(10e6 * (i + 1))
			near := func(ns int64, want float64) bool { return math.Abs(float64(ns)/want-1) < 0.001 }
			if m.StartNs != int64(i)*60*s || m.EndNs != ends[i] || !near(m.SendP95Ns, factor) ||
				!near(m.SendCallP95Ns, 2*factor) || !near(m.EndToEndP95Ns, 3*factor) {
				t.Errorf("a window of %d s, minute %d: %+v", windowNs/s, i, m)
			}
		}
	}
	var none MinuteTally
	if got := none.Minutes(60 * s); got != nil {
		t.Errorf("minutes without a sample: %+v", got)
	}
	for _, c := range []struct{ start, end, want int64 }{
		{12, 14, 3}, {5, 9, 0}, {98, 102, 89}, {150, 160, 89},
	} {
		if got := MinuteAt(c.start, c.end, 10, 100); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.start, c.end, got, c.want)
		}
	}
}

// The largest latency of messages of which some have none is a lower bound.
func TestTheWorstLatency(t *testing.T) {
	for name, c := range map[string]struct {
		missing Missing
		want    int64
		bound   Bound
	}{
		"all answered":              {Missing{}, 50, Exact},
		"an unanswered one":         {Missing{Unanswered: 1}, 70, AtLeast},
		"a refused one":             {Missing{Refused: 1}, 70, NotReached},
		"an unsent one":             {Missing{Unsent: 1}, 70, NotReached},
		"one that was not received": {Missing{Unanswered: 2, NotReceived: 1}, 70, NotReached},
	} {
		l := Latency{MaxNs: 50, Missing: c.missing,
			Percentiles: []Percentile{{Percentile: 50, LatencyNs: 20},
				{Percentile: 99, LatencyNs: 70, Bound: AtLeast}}}
		if ns, bound := l.Worst(); ns != c.want || bound != c.bound {
			t.Errorf("%s: %d %q, want %d %q", name, ns, bound, c.want, c.bound)
		}
	}
	if n := (Missing{1, 20, 300, 4000}).Total(); n != 4321 {
		t.Errorf("%d messages without a latency, want 4,321", n)
	}
}

func TestSummariesOfHistograms(t *testing.T) {
	h := NewHistogram()
	for i := range int64(1000) {
		_ = h.RecordValue((i + 1) * 1e6)
	}
	l := Summarize(Send, h, 3, 4)
	var shown []float64
	for _, p := range l.Percentiles {
		shown = append(shown, p.Percentile)
		if want := p.Percentile * 1e7; math.Abs(float64(p.LatencyNs)/want-1) > 0.002 {
			t.Errorf("p%v is %d, want %v", p.Percentile, p.LatencyNs, want)
		}
	}
	if !slices.Equal(shown, []float64{50, 75, 90, 95, 99}) {
		t.Errorf("percentiles of 1,000 samples: %v", shown)
	}
	if l.Count != 1000 || l.Clamped != 3 || l.Negative != 4 || l.Series != Send ||
		math.Abs(float64(l.MaxNs)/1e9-1) > 0.001 || math.Abs(float64(l.MinNs)/1e6-1) > 0.001 ||
		math.Abs(l.MeanNs/500.5e6-1) > 0.001 {
		t.Errorf("%+v", l)
	}
	if few := Summarize(Send, h, 0, 0); len(few.Percentiles) == 0 {
		t.Error("no median")
	}
	one := NewHistogram()
	_ = one.RecordValue(5e6)
	if few := Summarize(Send, one, 0, 0); len(few.Percentiles) != 1 ||
		few.Percentiles[0].Percentile != 50 {
		t.Errorf("of one sample: %+v", few.Percentiles)
	}
	if none := Summarize(Send, NewHistogram(), 1, 2); none.Count != 0 || none.Clamped != 1 ||
		len(none.Percentiles) != 0 {
		t.Errorf("of no sample: %+v", none)
	}
}

// A backlog's reading slows producers down by a factor.
func TestBacklogs(t *testing.T) {
	with := func(ns int64) []Latency {
		return []Latency{{Series: Publish,
			Percentiles: []Percentile{{Percentile: 99, LatencyNs: ns}}}}
	}
	b := Backlog{FirstNs: 7e9, CaughtUpNs: 10e9, Stretches: []Stretch{
		{Name: Before, Latency: with(2e6)}, {Name: During, Latency: with(5e6)}}}
	if got, known := b.Effect(Publish, 99); !known || got != 2.5 {
		t.Errorf("%v, %v: want 2.5", got, known)
	}
	if _, known := b.Effect(Publish, 50); known {
		t.Error("the effect on an unknown percentile is known")
	}
	if _, known := b.Effect(Send, 99); known {
		t.Error("the effect on an unknown series is known")
	}
	if got := b.CatchUpNs(); got != 3e9 {
		t.Errorf("caught up in %d ns", got)
	}
	b.CaughtUpNs, b.Stretches[0].Latency = 0, with(0)
	if got := b.CatchUpNs(); got != 0 {
		t.Errorf("caught up in %d ns, and it never did", got)
	}
	if _, known := b.Effect(Publish, 99); known {
		t.Error("an effect on a latency of nothing is known")
	}
}

func TestPartsAndSpans(t *testing.T) {
	if got := (Part{LengthNs: 4e9, Acked: 1000}).Rate(); got != 250 {
		t.Errorf("%v/s", got)
	}
	if got := (Part{Acked: 1000}).Rate(); got != 0 {
		t.Errorf("%v/s in no time", got)
	}
	s := Span{10, 20, 30, 40}
	if s.Since(5); s != (Span{5, 15, 25, 35}) {
		t.Errorf("%+v", s)
	}
}

// plimsoll's share of the cores is that of the machines that offered the load: of the workers'
// hosts, each once, and not of the coordinator's.
func TestCoresOfTheLoad(t *testing.T) {
	r := &Run{Environment: Environment{Cores: 2}}
	if n := r.LoadCores(); n != 2 {
		t.Errorf("without workers: %d cores", n)
	}
	r.Workers = []Worker{{Host: "a", Cores: 4}, {Host: "a", Cores: 4}, {Host: "b", Cores: 8}}
	if n := r.LoadCores(); n != 12 {
		t.Errorf("three workers on two hosts: %d cores", n)
	}
}
