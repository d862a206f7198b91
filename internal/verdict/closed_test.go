package verdict

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// goodLoop is a closed loop without faults: four producers with a send of ten messages each, which
// takes 10 ms and 0.5 ms to begin.
func goodLoop() *result.Run {
	r := good()
	r.Load = result.Load{Model: result.ClosedLoop, Delivery: "at_least_once", Topics: 1,
		Producers: 4, Subscriptions: 1, Closed: &result.Closed{InFlight: 1, BatchLeast: 10,
			BatchMost: 10}}
	r.Summary.OfferedRate, r.Summary.AchievedRate = 3809, 3809
	r.Summary.Latency = []result.Latency{
		{Series: result.SendCall, Count: 3809, MeanNs: 10e6},
		{Series: result.Lag, Count: 38090, MeanNs: 0.5e6},
		r.Summary.Series(result.Publish), r.Summary.Series(result.Send),
	}
	r.Summary.Generator.OwnLagMeanNs = 0.5e6
	return r
}

func outcomes(r *result.Run) map[string]string {
	out := map[string]string{}
	for _, v := range r.Verdicts {
		out[v.Name] = v.Outcome
	}
	return out
}

func TestClosedLoopVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		spoil     func(*result.Run)
		generator string
	}{
		"good": {func(*result.Run) {}, result.Holds},
		"slow to turn around": {func(r *result.Run) {
			r.Summary.Latency[0].MeanNs, r.Summary.Latency[1].MeanNs,
				r.Summary.Generator.OwnLagMeanNs = 8e6, 2.5e6, 2.5e6
		}, result.Broken},
		"held up by Send": {func(r *result.Run) {
			r.Summary.Latency[0].MeanNs, r.Summary.Latency[1].MeanNs,
				r.Summary.Generator.OwnLagMeanNs = 8e6, 2.5e6, 0.1e6
		}, result.Holds},
		"a slow twin": {
			func(r *result.Run) { r.Summary.Instrument.Publish.Percentiles[1].LatencyNs = 5e6 },
			result.Broken},
	} {
		r := goodLoop()
		c.spoil(r)
		Judge(r)
		got := outcomes(r)
		if got[Generator] != c.generator || got[Rate] != result.Unknown {
			t.Errorf("%s: generator %s, rate %s: %+v", name, got[Generator], got[Rate], r.Verdicts)
		}
	}
}

func TestClosedLoopsAreComparableWithTheirLikeOnly(t *testing.T) {
	if w := Comparable([]*result.Run{goodLoop(), goodLoop()}); len(w) > 0 {
		t.Errorf("two of a kind: %v", w)
	}
	open := good()
	open.Load.Model = result.OpenLoop
	w := Comparable([]*result.Run{open, goodLoop()})
	if len(w) == 0 || w[0].Code != "model_differs" ||
		!strings.Contains(w[0].Sentence, "open and closed loop") {
		t.Errorf("an open loop beside a closed one: %v", w)
	}
	other := goodLoop()
	other.Load.Closed = &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 10}
	w = Comparable([]*result.Run{goodLoop(), other})
	if len(w) != 1 || !strings.Contains(w[0].Sentence, "messages of a send") {
		t.Errorf("two batches: %v", w)
	}
}
