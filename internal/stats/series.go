package stats

import (
	"math"
	"math/rand/v2"

	moremath "github.com/aclements/go-moremath/stats"
)

// CircularBlocks draws a sample of a series of as many values as there are weights, whole
// blocks of a length at a time, and sets how often each value is in it (Politis and Romano, "A
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

// Widening is by how much the variance of what is drawn in blocks of a length
// falls short of what it stands for, because a block does not know what came
// before it: exact for a series whose neighbours correlate and that has no
// longer memory (a first-order autoregression), with the correlation freed of
// its bias in short series (Kendall, "Note on Bias in the Estimation of
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

// mostCorrelation keeps a series that only drifts from widening without bound.
const mostCorrelation = 0.95

// autocovariance is that of a series at lags 0 to most.
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
