package stats

import (
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// MannWhitney is the p of the test of two samples by ranks, two-sided (Mann and Whitney, "On
// a Test of Whether One of Two Random Variables Is Stochastically Larger Than the Other",
// 1947), exact for samples of up to 50 values.
func MannWhitney(a, b []float64) float64 {
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

// LeastP is the least p that MannWhitney can give for a values against b.
func LeastP(a, b int) float64 {
	logChoose := func(n, k int) float64 {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
		return lg(n) - lg(k) - lg(n-k)
	}
	return math.Min(1, 2*math.Exp(-logChoose(a+b, a)))
}

// Evenly is the number of values that each side needs for MannWhitney to reach p.
func Evenly(p float64) int {
	n := 1
	for LeastP(n, n) > p && n < 1000 {
		n++
	}
	return n
}

// exactRanks is the greatest number of values on a side for which the distribution of U is
// computed exactly, as in benchmath.
const exactRanks = 50

// CriticalU is the greatest u for which the U of MannWhitney is u or less with a probability
// of at most tail; -1 when there is none.
func CriticalU(a, b int, tail float64) int {
	probability := func(u int) float64 {
		if a <= exactRanks && b <= exactRanks {
			return moremath.UDist{N1: a, N2: b}.CDF(float64(u))
		}
		mean, sd := float64(a*b)/2, math.Sqrt(float64(a*b)*float64(a+b+1)/12)
		return moremath.StdNormal.CDF((float64(u) + 0.5 - mean) / sd)
	}
	low, high := -1, a*b // probability(high) is 1
	for high-low > 1 {
		// The factor allows for rounding where the probability equals the tail.
		if mid := (low + high) / 2; probability(mid) <= tail*(1+1e-9) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
