package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// confidence is the confidence of the shown intervals.
const confidence = 0.95

// rankRatio compares two sides by ranks. It holds the lower and the upper bounds of all ratios of a
// value of b to a value of a, each sorted. Values are above 0.
type rankRatio struct {
	a, b        spans
	least, most []float64
}

func ranked(a, b spans) *rankRatio {
	r := &rankRatio{a: a, b: b}
	for _, x := range a {
		for _, y := range b {
			times := y.Times(x)
			r.least, r.most = append(r.least, times.Least), append(r.most, times.Most)
		}
	}
	slices.Sort(r.least)
	slices.Sort(r.most)
	return r
}

// middle returns the estimate of Hodges and Lehmann ("Estimates of Location Based on Rank Tests",
// 1963) on the logarithm: the median of all ratios.
func (r *rankRatio) middle() figure.Span {
	n := len(r.least)
	return between(geometric(r.least[(n-1)/2], r.least[n/2], 0),
		geometric(r.most[(n-1)/2], r.most[n/2], math.Inf(1)))
}

// interval leaves out, at each end, the ratios that the Mann-Whitney test would reject with that
// tail, so that the two agree (Bauer, "Constructing Confidence Sets Using Rank Statistics", 1972).
// sure is false if the values are too few.
func (r *rankRatio) interval(tail float64) (low, high figure.Span, sure bool) {
	u := stats.CriticalU(len(r.a), len(r.b), tail)
	if u < 0 {
		return low, high, false
	}
	last := len(r.least) - 1 - u
	return between(r.least[u], r.most[u]), between(r.least[last], r.most[last]), true
}

// p returns the p of the Mann-Whitney test. If bounds leave open which of two values is greater, it
// assumes the order against a difference.
func (r *rankRatio) p() float64 {
	times := r.middle()
	switch {
	case times.Least > 1:
		return stats.MannWhitney(r.a.most(), r.b.least())
	case times.Most < 1:
		return stats.MannWhitney(r.a.least(), r.b.most())
	case r.a.exact() && r.b.exact():
		return stats.MannWhitney(r.a.least(), r.b.least())
	}
	return 1
}

// geometric returns the geometric mean of two ratios, and unknown for 0 and infinity.
func geometric(x, y, unknown float64) float64 {
	if x == 0 && math.IsInf(y, 1) {
		return unknown
	}
	return math.Sqrt(x) * math.Sqrt(y)
}
