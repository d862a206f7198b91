package compare

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// confidence is that of the intervals that are shown.
const confidence = 0.95

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

// rankTest is the p of the Mann-Whitney test for what is certain of two sets of
// values: where bounds leave open which is the greater, they are taken to speak
// against the difference.
func rankTest(a, b spans, ratio Span) float64 {
	switch {
	case ratio.Least > 1:
		return rankP(a.most(), b.least())
	case ratio.Most < 1:
		return rankP(a.least(), b.most())
	case a.exact() && b.exact():
		return rankP(a.least(), b.least())
	}
	return 1
}

// ratios are all ratios of a value of b to one of a: the least that each can be,
// and the most, each sorted. Values are above 0.
func ratios(a, b spans) (least, most []float64) {
	for _, x := range a {
		for _, y := range b {
			r := y.times(x)
			least, most = append(least, r.Least), append(most, r.Most)
		}
	}
	slices.Sort(least)
	slices.Sort(most)
	return least, most
}

// rankRatio is how many times b is a, by the estimate of Hodges and Lehmann
// ("Estimates of Location Based on Rank Tests", 1963) on the logarithm: the
// median of all ratios. The interval leaves out, at each end, what the
// Mann-Whitney test would refuse with that tail, so that the two agree (Bauer,
// "Constructing Confidence Sets Using Rank Statistics", 1972). It is open, 0 or
// infinite, and sure is false, where the values are too few.
func rankRatio(a, b spans, tail float64) (ratio, low, high Span, sure bool) {
	least, most := ratios(a, b)
	n := len(least)
	ratio = Span{geometric(least[(n-1)/2], least[n/2], 0), geometric(most[(n-1)/2], most[n/2],
		math.Inf(1))}
	u := critical(len(a), len(b), tail)
	if u < 0 {
		return ratio, Span{0, ratio.Most}, Span{ratio.Least, math.Inf(1)}, false
	}
	return ratio, Span{least[u], most[u]}, Span{least[n-1-u], most[n-1-u]}, true
}

// geometric is the geometric mean of two ratios; that of 0 and infinity is not
// known.
func geometric(x, y, unknown float64) float64 {
	if x == 0 && math.IsInf(y, 1) {
		return unknown
	}
	return math.Sqrt(x) * math.Sqrt(y)
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
