package stats

import (
	"math"
	"math/rand/v2"

	moremath "github.com/aclements/go-moremath/stats"
)

// CircularBlocks resamples a series of len(weights) values in blocks of length neighbours, and
// sets weights to the number of times that each value was drawn (Politis and Romano, "A
// Circular Block-Resampling Procedure for Stationary Data", 1992).
func CircularBlocks(random *rand.Rand, length int, weights []int32) {
	clear(weights)
	n := len(weights)
	for left := n; left > 0; left -= length {
		at := random.IntN(n)
		for i := range min(length, left) {
			weights[(at+i)%n]++
		}
	}
}

// Widening is the factor by which resampling in blocks of length underestimates a variance, because
// blocks are drawn independently. It is exact for a first-order autoregression, with the
// correlation corrected for its bias in short series (Kendall, "Note on Bias in the Estimation of
// Autocorrelation", 1954).
func Widening(series []float64, length int) float64 {
	n, l := float64(len(series)), float64(length)
	c := autocovariance(series, 1)
	if c[0] <= 0 {
		return 1
	}
	r := min((c[1]/c[0]+1/n)/(1-3/n), mostCorrelation)
	if r <= 0 {
		return 1
	}
	whole := (1 + r) / (1 - r)
	return whole / (whole - 2*r*(1-math.Pow(r, l))/(l*(1-r)*(1-r)))
}

// mostCorrelation bounds the widening of a series that only drifts.
const mostCorrelation = 0.95

// autocovariance is the autocovariance of a series at lags 0 to most.
func autocovariance(series []float64, most int) []float64 {
	mean := moremath.Mean(series)
	out := make([]float64, most+1)
	for k := range out {
		for i := k; i < len(series); i++ {
			out[k] += (series[i] - mean) * (series[i-k] - mean)
		}
		out[k] /= float64(len(series))
	}
	return out
}
