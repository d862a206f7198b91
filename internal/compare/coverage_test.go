package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// messages returns the times of answers, in seconds, and the latencies, in ns, of a run.
type messages func(random *rand.Rand, seconds float64) (at, latencyNs []float64)

// queued is a server with a constant service time and random arrivals (M/D/1) at a part of its
// capacity. It has been busy for long when the run begins.
func queued(perSecond, load float64) messages {
	return func(random *rand.Rand, seconds float64) (at, latencyNs []float64) {
		const before = 20
		free := 0.0
		for due := 0.0; ; {
			due += random.ExpFloat64() / (perSecond * load)
			if due >= before+seconds {
				return at, latencyNs
			}
			free = max(free, due) + 1/perSecond
			if due >= before {
				at, latencyNs = append(at, free-before), append(latencyNs, (free-due)*1e9)
			}
		}
	}
}

// independent messages have exponential latencies with a mean of 1 ms.
func independent(perSecond float64) messages {
	return func(random *rand.Rand, seconds float64) (at, latencyNs []float64) {
		for i := 0.0; i < perSecond*seconds; i++ {
			at, latencyNs = append(at, i/perSecond), append(latencyNs, random.ExpFloat64()*1e6)
		}
		return at, latencyNs
	}
}

// run returns a run of a number of seconds.
func (m messages) run(seed uint64, seconds int) *result.Saved {
	saved := &result.Saved{Run: result.Run{State: result.Complete, Seed: seed,
		Phases: []result.Phase{{Name: result.PhaseMeasure, EndNs: int64(seconds) * 1e9}}}}
	each := make([]*hdr.PackedHistogram, seconds)
	for i := range each {
		each[i] = hdr.NewPacked(result.HistogramMinNs, result.HistogramMaxNs,
			result.HistogramDigits)
		saved.Latency = append(saved.Latency, result.IntervalLatency{Series: result.Publish,
			StartNs: int64(i) * 1e9, EndNs: int64(i+1) * 1e9, Histogram: each[i]})
	}
	total := result.NewHistogram()
	at, latencyNs := m(seeded(seed), float64(seconds))
	for i, ns := range latencyNs {
		_ = total.RecordValue(int64(ns))
		_ = each[min(int(at[i]), seconds-1)].RecordValue(int64(ns))
	}
	saved.Run.Summary.Latency = []result.Latency{result.Summarize(result.Publish, total, 0, 0)}
	return saved
}

// The interval of 95% within a run holds the system's own percentile in at least 92 of 100 runs,
// also where latencies come in few bursts, and is not much wider than necessary where messages are
// independent.
func TestTruthIntervalsWithinARunHoldTheTruth(t *testing.T) {
	simulates(t)
	// Percentiles of a queue at 90% of its capacity, in turns (Erlang, "The Theory of Probabilities
	// and Telephone Conversations", 1909).
	const queued50, queued99 = 4.013, 22.898
	for name, c := range map[string]struct {
		of        messages
		at, truth float64
		mostWide  float64 // mean width, as a share of the truth
	}{
		"p99 of a busy queue":         {queued(1000, 0.9), 99, queued99 / 1000, 1},
		"p99 of a faster queue":       {queued(3000, 0.9), 99, queued99 / 3000, 0.7},
		"p50 of a busy queue":         {queued(1000, 0.9), 50, queued50 / 1000, 0.35},
		"p99 of independent messages": {independent(300), 99, -math.Log(0.01) / 1000, 0.13},
		"p50 of independent messages": {independent(300), 50, -math.Log(0.5) / 1000, 0.08},
	} {
		truth := c.truth * 1e9
		const runs = 120
		below, above, width := 0, 0, 0.0
		for seed := range uint64(runs) {
			s := c.of.run(seed, 30)
			value, _ := s.Run.Summary.Series(result.Publish).At(c.at)
			low, high := ranksOf(partsOf(s, result.Publish), c.at).interval(float64(value), 0.025)
			width += (high - low) / truth / runs
			switch {
			case low > truth:
				below++
			case high < truth:
				above++
			}
		}
		held := runs - below - above
		t.Logf("%s: %d of %d hold, %d too high, %d too low, %.1f%% wide", name, held, runs,
			below, above, width*100)
		if held*100 < 92*runs || width > c.mostWide {
			t.Errorf("%s: %d of %d intervals hold the truth, and are %.1f%% wide", name, held,
				runs, width*100)
		}
	}
}

// The figure of a run has the interval of its ranks.
func TestPercentilesHaveTheIntervalOfTheirRanks(t *testing.T) {
	s := queued(1000, 0.9).run(1, 30)
	f := figure.Named("publish.p99")
	value, _ := f.Value(&s.Run)
	wantLow, wantHigh := ranksOf(partsOf(s, result.Publish), 99).interval(value, 0.025)
	w, ok := Of(s, f)
	if low, high := w.Interval(value, 0.025); !ok || low != wantLow || high != wantHigh ||
		high-value < value-low {
		t.Errorf("%v to %v, want %v to %v, wider above %v", low, high, wantLow, wantHigh, value)
	}
}
