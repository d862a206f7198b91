package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// heavyTail is a run of a system that answers in 0.2 ms, and 4% of messages in 904 ms.
func heavyTail(own50, own99, own999 int64) *result.Run {
	r := good()
	latency := func(series result.Series, p50, p99, p999 int64) result.Latency {
		return result.Latency{Series: series, Count: 100_000, Percentiles: []result.Percentile{
			{Percentile: 50, LatencyNs: p50}, {Percentile: 99, LatencyNs: p99},
			{Percentile: 99.9, LatencyNs: p999}}}
	}
	r.Summary.Latency[0] = latency(result.Publish, 2e5+own50, 904e6+own99, 905e6+own999)
	r.Summary.Latency = append(r.Summary.Latency,
		latency(result.EndToEnd, 2e5+own50, 904e6+own99, 905e6+own999))
	g := &r.Summary.Generator
	g.OwnLagP99Ns, g.LessOwnLagP99Ns = own99, 904e6
	g.OwnErrors = []result.OwnError{
		{Percentile: 50, OwnLagNs: own50, LessOwnLagNs: 2e5},
		{Percentile: 99, OwnLagNs: own99, LessOwnLagNs: 904e6},
		{Percentile: 99.9, OwnLagNs: own999, LessOwnLagNs: 905e6},
	}
	r.Summary.Instrument = &result.Instrument{Publish: latency(result.Twin, 5e4, 1e5, 1e5),
		EndToEnd: latency(result.TwinReceive, 5e4, 1e5, 1e5)}
	return r
}

// A long tail of the system does not excuse an error of plimsoll's at the median. The percentile
// that fails is named and marked, and no other.
func TestEachPercentileIsJudgedAgainstTheSystemAtThatPercentile(t *testing.T) {
	for name, c := range map[string]struct {
		run     *result.Run
		outcome string
		says    string
		marked  []float64
	}{
		"as it should be": {heavyTail(5e4, 2e5, 3e5), result.Holds, "kept up", nil},
		"the median is late": {heavyTail(118e4, 120e6, 120e6), result.Broken,
			"own schedule lag p50 1.18ms exceeds the bound of 250us", []float64{50}},
		"the tail is late": {heavyTail(5e4, 600e6, 800e6), result.Broken,
			"own schedule lag p99 600ms", []float64{99, 99.9}},
		"only p99.9 is late": {heavyTail(5e4, 2e5, 800e6), result.Holds,
			"p99.9 of latency shows plimsoll's own error", []float64{99.9}},
		"the twin's median is late": {func() *result.Run {
			r := heavyTail(5e4, 2e5, 3e5)
			r.Summary.Instrument.Publish.Percentiles[0].LatencyNs = 12e5
			r.Summary.Instrument.EndToEnd.Percentiles[0].LatencyNs = 12e5
			return r
		}(), result.Broken, "1.2ms at p50, beyond the bound of 500us", []float64{50}},
		"the simulated system's median is late": {func() *result.Run {
			r := heavyTail(5e4, 2e5, 3e5)
			r.Summary.Generator.OwnErrors[0].SimulatedLateNs = 12e5
			return r
		}(), result.Broken, "1.2ms later than its own schedule (p50)", []float64{50}},
	} {
		Judge(c.run)
		v := c.run.Verdicts[0]
		if v.Outcome != c.outcome || !strings.Contains(v.Sentence, c.says) {
			t.Errorf("%s: %s: %s, want %s: %q", name, v.Outcome, v.Sentence, c.outcome, c.says)
		}
		if limited := c.run.Summary.Generator.Limited; limited != (c.outcome == result.Broken) {
			t.Errorf("%s: limited is %v", name, limited)
		}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			var marked []float64
			for _, p := range c.run.Summary.Series(series).Percentiles {
				if p.OwnError {
					marked = append(marked, p.Percentile)
				}
			}
			if len(marked) != len(c.marked) || len(marked) > 0 && marked[0] != c.marked[0] {
				t.Errorf("%s: %s has marks at %v, want %v", name, series, marked, c.marked)
			}
		}
	}
}

// A rate does not depend on the median of own lag, so a search for a rate ignores it.
func TestARateIsNotLimitedByTheMedian(t *testing.T) {
	r := heavyTail(118e4, 2e6, 2e6)
	if v := carried(r); v.Outcome != result.Holds {
		t.Error(v.Sentence)
	}
}
