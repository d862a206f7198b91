package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// fates plants the results of messages in each second: how many of 1,000 take 50 ms, and how many
// have no latency. The others take about 200 us.
type fates struct {
	slow, refused, unanswered, lost int64
}

// planted caches runs by their fates and ids, because histograms take long to make.
var planted sync.Map

// run is a saved run of 30 seconds of 1,000 messages with these fates. Unanswered
// messages are waited for until 10 seconds after the window.
func (f fates) run(name string, id int) *result.Saved {
	type key struct {
		fates fates
		id    int
	}
	made, ok := planted.Load(key{f, id})
	if !ok {
		made, _ = planted.LoadOrStore(key{f, id}, f.plant(id))
	}
	s := *made.(*result.Saved)
	s.Run.ID, s.Run.Name = fmt.Sprintf("%s-%d", name, id), name
	s.Intervals = slices.Clone(s.Intervals)
	return &s
}

func packed() *hdr.PackedHistogram {
	return hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs, result.HistogramDigits)
}

// plant makes a run without an id.
func (f fates) plant(id int) *result.Saved {
	const seconds, each = 30, 1000
	random := seeded(uint64(id))
	s := &result.Saved{Run: result.Run{
		SchemaVersion: result.SchemaVersion, State: result.Complete, Seed: 1,
		Phases: []result.Phase{{Name: result.PhaseMeasure, EndNs: seconds * 1e9}},
	}}
	total, waited := map[result.Series]*hdr.Histogram{}, result.NewHistogram()
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		total[series] = result.NewHistogram()
	}
	late := packed()
	for second := range int64(seconds) {
		of := map[result.Series]*hdr.PackedHistogram{
			result.Publish: packed(), result.EndToEnd: packed()}
		for n := range each - f.refused - f.unanswered {
			v := int64(200e3 * math.Exp(0.2*random.NormFloat64()))
			if n < f.slow {
				v = int64(50e6 * math.Exp(0.01*random.NormFloat64()))
			}
			for series, h := range of {
				if series == result.Publish || n >= f.lost {
					_ = h.RecordValue(v)
					_ = total[series].RecordValue(v)
				}
			}
		}
		for n := range f.unanswered {
			due := second*1e9 + n*1e6
			_ = late.RecordValue((seconds+10)*1e9 - due)
			_ = waited.RecordValue((seconds+10)*1e9 - due)
		}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			s.Latency = append(s.Latency, result.IntervalLatency{
				Series: series, StartNs: second * 1e9, EndNs: second*1e9 +
					1e9, Histogram: of[series],
			})
		}
		s.Intervals = append(s.Intervals, result.Interval{
			Phase: result.PhaseMeasure, StartNs: second * 1e9, EndNs: (second + 1) * 1e9,
			Failed: f.refused, Scheduled: each, Sent: each,
		})
	}
	s.Latency = append(s.Latency, result.IntervalLatency{
		Series: result.Waited, StartNs: seconds * 1e9, EndNs: (seconds + 10) * 1e9, Histogram: late,
	})
	s.Run.Counters = result.Counters{
		Scheduled: seconds * each, Failed: seconds * f.refused, Unknown: seconds * f.unanswered,
	}
	unacked := result.Missing{Refused: seconds * f.refused, Unanswered: seconds * f.unanswered}
	unread := result.Missing{NotReceived: seconds * (f.refused + f.unanswered + f.lost)}
	s.Run.Summary = result.Summary{WindowNs: seconds * 1e9, Instrument: &result.Instrument{}}
	s.Run.Summary.Latency = []result.Latency{
		result.Censored(result.Publish, total[result.Publish], waited, unacked, 0, 0),
		result.Censored(result.EndToEnd, total[result.EndToEnd], nil, unread, 0, 0),
	}
	return s
}

func (f fates) side(name string, runs int) Side {
	s := Side{Name: name}
	for i := range runs {
		s.Runs = append(s.Runs, f.run(name, i))
	}
	return s
}

func figureOf(t *testing.T, c *Comparison, name string) Effect {
	t.Helper()
	for _, e := range c.Figures {
		if e.Figure.Name == name {
			return e
		}
	}
	t.Fatalf("%s is not compared", name)
	return Effect{}
}

// 1.5% of A's messages take 50 ms, and B refuses exactly those: that makes B's tail
// no better.
func TestRefusalsDoNotImproveATail(t *testing.T) {
	for _, runs := range []int{1, 2, 3, 5} {
		a, b := fates{slow: 15}.side("A", runs), fates{refused: 15}.side("B", runs)
		got := Objects(a, b).String()
		for _, want := range []string{
			"shares of messages without a publish latency: 0 of 30,000 in A, 450 of 30,000, 1.5% " +
				"(450 " +
				"refused) in B", "without an end-to-end latency",
		} {
			if runs == 1 && !strings.Contains(got, want) {
				t.Errorf("%d runs: objections %q lack %q", runs, got, want)
			}
		}
		if len(got) == 0 {
			t.Errorf("%d runs: no objection", runs)
		}
		e := figureOf(t, mustCompare(t, a, b), "publish.p99")
		if !e.B.Median.NotReached() || !e.A.Median.Exact() || !e.Times.NotReached() ||
			e.Ratio <= 1 {
			t.Errorf("%d runs: %+v", runs, e)
		}
		if e.Shown != (runs == 5) {
			t.Errorf("%d runs: shown %v with p %v", runs, e.Shown, e.P)
		}
		said, err := rule(t, a, b, "publish.p99 > 1.1x")
		if err != nil || !strings.HasPrefix(said, "fails: publish.p99 is not reached in B") {
			t.Errorf("%d runs: %q, %v", runs, said, err)
		}
		// With the sides exchanged, A refuses, and B is better.
		e = figureOf(t, mustCompare(t, b, a), "publish.p99")
		if e.Times != figure.Exactly(0) || e.Shown != (runs == 5) {
			t.Errorf("%d runs, the other way round: %+v", runs, e)
		}
		said, err = rule(t, b, a, "publish.p99 > 1.1x")
		if err != nil || !strings.HasPrefix(said, "passes: ") {
			t.Errorf("%d runs, the other way round: %q, %v", runs, said, err)
		}
	}
}

// A gate fails if a bound leaves it undecided, and not if it can be decided despite the bound.
func TestGatesOfBounds(t *testing.T) {
	good, slow := fates{}, fates{slow: 15}
	waits, refuses, lost := fates{unanswered: 15}, fates{refused: 15}, fates{lost: 15}
	const untold = "fails: not decided: "
	for name, c := range map[string]struct {
		a, b fates
		gate string
		want string
	}{
		"a bound, beyond":       {slow, waits, "publish.p99 > 1.1x", "fails: publish.p99 is ≥ "},
		"a bound, maybe beyond": {waits, waits, "publish.p99 > 1.1x", untold + "publish.p99 is"},
		"neither reached": {refuses, refuses, "publish.p99 > 1.1x", untold +
			"publish.p99 is not"},
		"a bound below": {good, waits, "publish.p99 > 60s", untold + "publish.p99 is ≥ "},
		"a bound above": {good, waits, "publish.p99 > 1s", "fails: publish.p99 is ≥ "},
		"not reached": {good, refuses, "publish.p99 > 1h",
			"fails: publish.p99 is not reached: "},
		"better wanted": {good, refuses, "publish.p99 < 1x",
			"passes: publish.p99 is not reached"},
		"A's is a bound": {waits, good, "publish.p99 > 1.1x", "passes: publish.p99 is ≤ "},
		"a percentile below all": {refuses, refuses, "publish.p50 > 1.1x",
			"passes: publish.p50 is 1.0"},
		"lost": {good, lost, "e2e.p99 > 1.1x",
			"fails: e2e.p99 is not reached in B"},
	} {
		for _, runs := range []int{1, 5} {
			got, err := rule(t, c.a.side("A", runs), c.b.side("B", runs), c.gate)
			if err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, %d runs: %q, %v, want %q", name, runs, got, err, c.want)
			}
		}
	}
}

// The bootstrap reads the same percentiles as the summary, with the messages that
// have none: a known figure may still have no upper end.
func TestPercentilesWithinARunAreCensored(t *testing.T) {
	for name, f := range map[string]fates{
		"none": {}, "refused": {refused: 15}, "unanswered": {unanswered: 15},
		"few": {refused: 3, slow: 20}, "lost": {lost: 15},
	} {
		s := f.run("r", 1)
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			p := partsOf(s, series)
			whole := make([]int32, len(p.counts))
			for i := range whole {
				whole[i] = 1
			}
			for _, at := range s.Run.Summary.Series(series).Percentiles {
				p.opened = 0
				got := p.percentile(whole, at.Percentile)
				miss := math.Abs(got/float64(at.LatencyNs) - 1)
				if bounded := p.opened > 0; bounded != (at.Bound != result.Exact) || miss > 0.003 {
					t.Errorf("%s, %s: %v, bounded %v, and %+v", name, series, got, bounded, at)
				}
			}
		}
	}
	f := figure.Named("publish.p99")
	if _, ok := Of(fates{refused: 15}.run("r", 1), f); ok {
		t.Error("a percentile that is not reached has an interval")
	}
	near := fates{refused: 9, slow: 5}.run("r", 1)
	within, ok := Of(near, f)
	if low, high := within.Interval(50e6, 0.025); !ok || low > 50e6 || math.IsInf(high, 1) {
		t.Errorf("refusals spread evenly: %v to %v, %v", low, high, ok)
	}
	// All of a run's refusals in two of its seconds: they could have been in three.
	for i := range near.Intervals {
		near.Intervals[i].Failed = 0
	}
	near.Intervals[7].Failed, near.Intervals[8].Failed = 135, 135
	within, ok = Of(near, f)
	if low, high := within.Interval(50e6, 0.025); !ok || low > 50e6 || !math.IsInf(high, 1) {
		t.Errorf("refusals in a burst: %v to %v, %v", low, high, ok)
	}
}

// Different shares are an objection; equal shares are mentioned, and the sides are compared.
func TestSharesOfMessagesWithoutLatency(t *testing.T) {
	for name, c := range map[string]struct {
		a, b            fates
		objects, hinted bool
	}{
		"none":         {fates{}, fates{slow: 1}, false, false},
		"the same":     {fates{refused: 2}, fates{unanswered: 2}, false, true},
		"not the same": {fates{refused: 2}, fates{refused: 3}, true, false},
	} {
		a, b := c.a.side("A", 2), c.b.side("B", 2)
		objections := Objects(a, b).String()
		hints := strings.Join(mustCompare(t, a, b).Hints, "; ")
		const said = "without a publish latency"
		if strings.Contains(objections, said) != c.objects ||
			strings.Contains(hints, said) != c.hinted {
			t.Errorf("%s: objections %q, hints %q", name, objections, hints)
		}
	}
	older := fates{}.side("B", 1)
	older.Runs[0].Run.SchemaVersion, older.Runs[0].Run.Counters.Failed = 1, 450
	got := Objects(fates{}.side("A", 1), older).String()
	if !strings.Contains(got, "450 refused") {
		t.Errorf("an older run, whose percentiles leave refusals out: %q", got)
	}
}
