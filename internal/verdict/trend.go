package verdict

import (
	"math"
	"slices"
)

// trend is a straight line through points, and how well its slope is known.
type trend struct {
	slope, low, high float64 // of 95% confidence; units of y by units of x
	points           int
}

const (
	// trendFewest is the number of points below which no slope can be told from
	// chance at 95%.
	trendFewest = 5
	// trendMost bounds the points: pairs of them are what takes time.
	trendMost = 200
	// normal95 is the two-sided 95% point of the normal distribution.
	normal95 = 1.959964
	// mostCorrelated bounds the correction for points that follow one another.
	mostCorrelated = 0.9
)

// trendOf is the Theil-Sen line: the median of the slopes between all pairs of
// points (Theil 1950; Sen, "Estimates of the Regression Coefficient Based on
// Kendall's Tau", 1968), which up to 29% of the points may miss by any amount
// without moving it far. The interval is Sen's, from the variance of Kendall's
// S. Levels of a queue are not independent of one another, which would make
// that interval too narrow: the variance is multiplied by (1+r)/(1-r), r being the
// correlation of neighbouring residuals (Bayley and Hammersley 1946). ok is
// false when there are too few points. xs must increase.
func trendOf(xs, ys []float64) (t trend, ok bool) {
	if every := (len(xs) + trendMost - 1) / trendMost; every > 1 {
		xs, ys = thin(xs, every), thin(ys, every)
	}
	n := len(xs)
	if n < trendFewest {
		return trend{points: n}, false
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range xs {
		for k := i + 1; k < n; k++ {
			slopes = append(slopes, (ys[k]-ys[i])/(xs[k]-xs[i]))
		}
	}
	slices.Sort(slopes)
	t = trend{slope: median(slopes), points: n}
	residuals := make([]float64, n)
	for i := range xs {
		residuals[i] = ys[i] - t.slope*xs[i]
	}
	r := min(max(correlation(residuals), 0), mostCorrelated)
	variance := float64(n*(n-1)*(2*n+5)) / 18 * (1 + r) / (1 - r)
	pairs, reach := float64(len(slopes)), normal95*math.Sqrt(variance)
	low, high := int(math.Floor((pairs-reach)/2)), int(math.Ceil((pairs+reach)/2))
	t.low, t.high = slopes[max(low-1, 0)], slopes[min(high, len(slopes)-1)]
	return t, true
}

// spread is the standard deviation of points around their trend, from the
// median of their distances, which a few points far off do not move; 0 where
// there are too few points for a trend.
func spread(xs, ys []float64) float64 {
	t, ok := trendOf(xs, ys)
	if !ok {
		return 0
	}
	off := make([]float64, len(xs))
	for i := range xs {
		off[i] = ys[i] - t.slope*xs[i]
	}
	middle := median(slices.Sorted(slices.Values(off)))
	for i := range off {
		off[i] = math.Abs(off[i] - middle)
	}
	// Of the normal distribution, half lies within 1/1.4826 standard deviations.
	return 1.4826 * median(slices.Sorted(slices.Values(off)))
}

func thin(values []float64, every int) []float64 {
	var out []float64
	for i := 0; i < len(values); i += every {
		out = append(out, values[i])
	}
	return out
}

// median is that of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// correlation is that of neighbours, around the median.
func correlation(values []float64) float64 {
	middle := median(slices.Sorted(slices.Values(values)))
	var with, all float64
	for i, v := range values {
		all += (v - middle) * (v - middle)
		if i > 0 {
			with += (v - middle) * (values[i-1] - middle)
		}
	}
	if all <= 0 {
		return 0
	}
	return with / all
}
