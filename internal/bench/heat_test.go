package bench

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// warming feeds readings to a heat, pass by pass, until it is over: the servers carry 1,000
// messages a second at a constant CPU time, of which they compile for a share that depends on the
// reading and on the number of readings of the pass before it. It returns the number of readings.
func warming(h *heat, compiled func(reading, ofPass int) float64) (readings int) {
	const limit = 1200 // 5 minutes
	for readings < limit && !h.over() {
		ended := false
		h.end, h.began = func() { ended = true }, len(h.p50)
		for i := 0; !ended && readings < limit; i++ {
			start := int64(readings) * int64(warmEvery)
			h.Interval(result.Interval{Phase: result.PhaseMeasure, StartNs: start,
				EndNs: start + int64(warmEvery), Acked: 250, Latency: []result.Latency{{
					Series: result.Send, Count: 250,
					Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 5e6}}}}})
			ns := int64(compiled(readings, i) * 0.2e9)
			h.Resources(result.Resources{Phase: result.PhaseMeasure,
				Processes: []result.ProcessUse{
					{Name: "n1", CPUSeconds: 0.2, CompileNs: &ns},
					{Name: "n2", CPUSeconds: 0.2},
					{Name: result.Self, CPUSeconds: 9, CompileNs: &ns}}}, []string{"n1", "n2"})
			readings++
		}
	}
	return readings
}

// Latency and CPU time per message of servers that compile may be level long before they have
// done so: what they compile decides.
func TestWarmUpEndsWhenServersHaveCompiled(t *testing.T) {
	const perSecond = 4
	for name, c := range map[string]struct {
		compiled    func(reading, ofPass int) float64
		least, most int // seconds
	}{
		"nothing":        {func(int, int) float64 { return 0 }, 29, 31},
		"for 90 seconds": {func(i, _ int) float64 { return 0.9 * below(i, 90*perSecond) }, 91, 122},
		"with topics of its own": {func(i, ofPass int) float64 {
			return 0.9*below(i, 20*perSecond) + 0.9*below(ofPass, 8*perSecond)*below(i, 100*perSecond)
		}, 101, 137},
		"in the opening of each pass": {func(_, ofPass int) float64 {
			return below(ofPass, 2*perSecond)
		}, 29, 31},
		"for ever": {func(int, int) float64 { return 0.6 }, 300, 300},
	} {
		h := &heat{auto: true, mostBytes: 1e12}
		n := warming(h, c.compiled)
		if n < c.least*perSecond || n > c.most*perSecond || h.steady != (c.most < 300) {
			t.Errorf("%s: %d s, steady: %v", name, n/perSecond, h.steady)
		}
		w := h.result()
		if w.CompileFirst == nil || w.CompileLast == nil {
			t.Fatalf("%s: %+v", name, w)
		}
		if h.steady && *w.CompileLast > compileBound {
			t.Errorf("%s: the servers compile for %v of their time at the end", name, *w.CompileLast)
		}
	}
}

// below is 1 for numbers below a limit, and 0 for others.
func below(i, limit int) float64 {
	if i < limit {
		return 1
	}
	return 0
}
