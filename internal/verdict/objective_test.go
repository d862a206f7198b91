package verdict

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// An objective of the greatest latency is judged by the largest of all, those of messages without
// an answer included.
func TestObjectivesOfTheGreatestLatency(t *testing.T) {
	for name, c := range map[string]struct {
		latency result.Latency
		want    string
	}{
		"below":          {result.Latency{Count: 5, MaxNs: 9e6 - 1}, result.Holds},
		"at the bound":   {result.Latency{Count: 5, MaxNs: 9e6}, result.Broken},
		"no message":     {result.Latency{}, result.Unknown},
		"a refused one":  {result.Latency{Count: 5, MaxNs: 1e6, Missing: result.Missing{Refused: 1}}, result.Broken},
		"only a refused": {result.Latency{Missing: result.Missing{Refused: 1}}, result.Broken},
		"an unanswered one": {result.Latency{Count: 5, MaxNs: 1e6,
			Missing: result.Missing{Unanswered: 1}}, result.Unknown},
	} {
		s := &result.Saved{Run: *good()}
		c.latency.Series = result.Publish
		s.Run.Summary.Latency[0] = c.latency
		if got := objective("max<9ms")[0].judge(s); got.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got.Outcome, c.want, got.Sentence)
		}
	}
}

// A missed objective passes as a disturbance when three quarters of the intervals kept it. An
// interval with too few messages for the percentile is judged by its greatest latency.
func TestAMissedObjectiveMayBeAPassingDisturbance(t *testing.T) {
	of := func(ns int64, few bool) []result.Latency {
		l := result.Latency{Series: result.Publish, Count: 2000, MaxNs: 10 * ns,
			Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: ns}}}
		if few {
			l.Count, l.MaxNs, l.Percentiles = 5, ns, nil
		}
		return []result.Latency{l}
	}
	for name, c := range map[string]struct {
		kept, missed int
		few          bool
		more         []result.Interval
		want         bool
	}{
		"three quarters":                   {kept: 9, missed: 3, want: true},
		"fewer":                            {kept: 8, missed: 3},
		"of the greatest latencies":        {kept: 9, missed: 3, few: true, want: true},
		"of the greatest latencies, fewer": {kept: 8, missed: 3, few: true},
		"too few intervals to say":         {kept: 3, missed: 1},
		"as few as suffice":                {kept: 4, missed: 1, want: true},
		"intervals without a message do not count": {kept: 8, missed: 3, more: []result.Interval{
			{Phase: result.PhaseMeasure}, {Phase: result.PhaseMeasure,
				Latency: []result.Latency{{Series: result.Publish}}},
			{Phase: result.PhaseWarmup, Latency: of(1e6, false)}}},
	} {
		s := &result.Saved{Run: *good(), Intervals: c.more}
		for i := range c.kept + c.missed {
			ns := int64(9e6) - 1
			if i < c.missed {
				ns = 9e6
			}
			s.Intervals = append(s.Intervals, result.Interval{Phase: result.PhaseMeasure,
				Latency: of(ns, c.few)})
		}
		if got := objective("p99<9ms")[0].passing(s); got != c.want {
			t.Errorf("%s: passing %v, want %v", name, got, c.want)
		}
	}
}

// The side that limited a run at which nothing grew is that whose messages are missing.
func TestTheSideOfAShortfall(t *testing.T) {
	for name, c := range map[string]struct {
		achieved, received float64
		want               string
	}{
		"not acknowledged":            {800, 800, SidePublish},
		"just not acknowledged":       {989, 989, SidePublish},
		"acknowledged, not received":  {990, 800, SideConsume},
		"acknowledged, half received": {1000, 500, SideConsume},
	} {
		s := window(level(5), level(5))
		s.Run.Summary.AchievedRate, s.Run.Summary.ReceivedRate = c.achieved, c.received
		if got := LimitingSide(s, nil, Stable(s, nil)); got.Name != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got.Name, c.want, got.Sentence)
		}
	}
}

// A run says that it has no level on record rather than to have the level of another.
func TestRunsWithoutALevelAreNotComparable(t *testing.T) {
	level := func(asked, is int) *result.Run {
		r := good()
		r.Durability = result.Durability{Asked: asked, Level: is}
		return r
	}
	for _, c := range []struct {
		a, b *result.Run
		says string // empty: they are comparable
	}{
		{level(2, 2), level(1, 2), ""},
		{level(2, 2), level(2, 1), "level 2, level 1"},
		{level(2, 2), level(2, 0), "level 2, level 2, not read back"},
		{level(2, 2), level(0, 0), "level 2, no level on record"},
		{level(0, 0), level(0, 0), ""},
	} {
		got := ""
		for _, w := range Comparable([]*result.Run{c.a, c.b}) {
			got += w.Sentence
		}
		want := ""
		if c.says != "" {
			want = "these runs are not comparable: their durability differs (" + c.says + "), and " +
				"an acknowledgement that promises less is cheaper to give"
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
