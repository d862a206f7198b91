package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// confidence is that of the intervals that are shown.
const confidence = 0.95

// Center is the middle of a set of values and the interval that holds the
// median of what they were drawn from.
type Center struct {
	Median     float64 `json:"median"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`   // of the interval
	Values     int     `json:"values_count"` // that it comes from
}

// center is the median and its interval by order statistics. Fewer than six
// values have no interval of 95%: theirs is from the least to the greatest, with
// the confidence that this has.
func center(values []float64) Center {
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), confidence)
	c := Center{Median: s.Center, Low: s.Lo, High: s.Hi, Confidence: s.Confidence, Values: len(values)}
	if math.IsInf(c.Low, 0) || math.IsInf(c.High, 0) {
		c.Low, c.High = slices.Min(values), slices.Max(values)
		c.Confidence = 1 - math.Pow(0.5, float64(len(values)-1))
	}
	return c
}

// rankP is the p of the Mann-Whitney test, two-sided, exact for samples of this
// size.
func rankP(a, b []float64) float64 {
	sample := func(v []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
}

// leastP is the least p that the test can give for so many values.
func leastP(a, b int) float64 {
	logChoose := func(n, k int) float64 {
		lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
		return lg(n) - lg(k) - lg(n-k)
	}
	return math.Min(1, 2*math.Exp(-logChoose(a+b, a)))
}

// evenly is how many values each side needs for the test to reach a p.
func evenly(p float64) int {
	n := 1
	for leastP(n, n) > p && n < 1000 {
		n++
	}
	return n
}

// exactRanks is up to how many values a side the distribution of U is worked
// out exactly, as benchmath does.
const exactRanks = 50

// critical is the greatest U of the Mann-Whitney test whose probability to be
// as small is at most tail; -1: there is none.
func critical(a, b int, tail float64) int {
	probability := func(u int) float64 {
		if a <= exactRanks && b <= exactRanks {
			return stats.UDist{N1: a, N2: b}.CDF(float64(u))
		}
		mean, sd := float64(a*b)/2, math.Sqrt(float64(a*b)*float64(a+b+1)/12)
		return stats.StdNormal.CDF((float64(u) + 0.5 - mean) / sd)
	}
	low, high := -1, a*b // probability(high) is 1
	for high-low > 1 {
		// The factor forgives the last bit of a probability that is the tail itself.
		if mid := (low + high) / 2; probability(mid) <= tail*(1+1e-9) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// ratios are all ratios of a value of b to one of a, sorted. Values are above 0.
func ratios(a, b []float64) []float64 {
	out := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, y/x)
		}
	}
	slices.Sort(out)
	return out
}

// rankRatio is how many times b is a, by the estimate of Hodges and Lehmann
// ("Estimates of Location Based on Rank Tests", 1963) on the logarithm: the
// median of all ratios. The interval leaves out, at each end, what the
// Mann-Whitney test would refuse with that tail, so that the two agree (Bauer,
// "Constructing Confidence Sets Using Rank Statistics", 1972). It is open, 0 or
// infinite, where the values are too few.
func rankRatio(a, b []float64, tail float64) (ratio, low, high float64) {
	r := ratios(a, b)
	ratio = math.Sqrt(r[(len(r)-1)/2] * r[len(r)/2])
	u := critical(len(a), len(b), tail)
	if u < 0 {
		return ratio, 0, math.Inf(1)
	}
	return ratio, r[u], r[len(r)-1-u]
}

// medianBound is the order statistic of sorted values below which the median of
// what they were drawn from lies with a probability of at most tail; ok is false
// when they are too few.
func medianBound(values []float64, tail float64) (low, high float64, ok bool) {
	sorted := slices.Sorted(slices.Values(values))
	coin := stats.BinomialDist{N: len(sorted), P: 0.5}
	k := 0
	for k < len(sorted) && coin.CDF(float64(k)) <= tail*(1+1e-9) {
		k++
	}
	if k == 0 {
		return 0, math.Inf(1), false
	}
	return sorted[k-1], sorted[len(sorted)-k], true
}

// fewestForMedian is how many values medianBound needs.
func fewestForMedian(tail float64) int {
	return max(1, int(math.Ceil(-math.Log2(tail)-1e-9)))
}
