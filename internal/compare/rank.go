package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// confidence is the confidence of the shown intervals.
const confidence = 0.95

// rankTest returns the p of the Mann-Whitney test. If bounds leave open which of two values is
// greater, it assumes the order against a difference.
func rankTest(a, b spans, ratio figure.Span) float64 {
	switch {
	case ratio.Least > 1:
		return stats.MannWhitney(a.most(), b.least())
	case ratio.Most < 1:
		return stats.MannWhitney(a.least(), b.most())
	case a.exact() && b.exact():
		return stats.MannWhitney(a.least(), b.least())
	}
	return 1
}

// ratios returns the lower and the upper bounds of all ratios of a value of b to a value of a,
// each sorted. Values are above 0.
func ratios(a, b spans) (least, most []float64) {
	for _, x := range a {
		for _, y := range b {
			r := y.Times(x)
			least, most = append(least, r.Least), append(most, r.Most)
		}
	}
	slices.Sort(least)
	slices.Sort(most)
	return least, most
}

// rankRatio returns the ratio of b to a by the estimate of Hodges and Lehmann
// ("Estimates of Location Based on Rank Tests", 1963) on the logarithm: the
// median of all ratios. The interval leaves out, at each end, the ratios that the
// Mann-Whitney test would reject with that tail, so that the two agree (Bauer,
// "Constructing Confidence Sets Using Rank Statistics", 1972). If the values are too few, it is
// open (0 or infinite), and sure is false.
func rankRatio(a, b spans, tail float64) (ratio, low, high figure.Span, sure bool) {
	least, most := ratios(a, b)
	n := len(least)
	ratio = between(geometric(least[(n-1)/2], least[n/2], 0),
		geometric(most[(n-1)/2], most[n/2], math.Inf(1)))
	u := stats.CriticalU(len(a), len(b), tail)
	if u < 0 {
		return ratio, between(0, ratio.Most), between(ratio.Least, math.Inf(1)), false
	}
	return ratio, between(least[u], most[u]), between(least[n-1-u], most[n-1-u]), true
}

// geometric returns the geometric mean of two ratios, and unknown for 0 and infinity.
func geometric(x, y, unknown float64) float64 {
	if x == 0 && math.IsInf(y, 1) {
		return unknown
	}
	return math.Sqrt(x) * math.Sqrt(y)
}
