package measure

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Little compares the sampled mean number in flight with rate x mean latency
// (J. D. C. Little, "A Proof for the Queuing Formula L = lambda W", 1961).
// rate is in messages per second, latency in nanoseconds.
func Little(sampled float64, samples int64, rate, meanLatencyNs float64) result.LittlesLaw {
	l := result.LittlesLaw{SampledInFlight: sampled, ExpectedInFlight: rate * meanLatencyNs / 1e9, Samples: samples}
	if l.ExpectedInFlight > 0 {
		l.Miss = math.Abs(sampled-l.ExpectedInFlight) / l.ExpectedInFlight
	}
	return l
}
