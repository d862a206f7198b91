package stats

import (
	"math"
	"slices"
)

// z95 is the normal deviate of a two-sided 95%.
const z95 = 1.959964

// Median is the middle value, or the mean of the two in the middle.
func Median(values []float64) float64 {
	return medianOf(slices.Sorted(slices.Values(values)))
}

// medianOf is the median of sorted values.
func medianOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// LeastSquares is the slope of the straight line through points whose squared distances in y
// are least (Legendre, "Nouvelles méthodes pour la détermination des orbites des comètes",
// 1805).
func LeastSquares(x, y []float64) float64 {
	n, meanX, meanY := float64(len(x)), 0.0, 0.0
	for i := range x {
		meanX, meanY = meanX+(x[i]-x[0])/n, meanY+y[i]/n
	}
	over, under := 0.0, 0.0
	for i := range x {
		dx := x[i] - x[0] - meanX
		over, under = over+dx*(y[i]-meanY), under+dx*dx
	}
	return over / under
}

// Slope is the median of the slopes of all pairs of points (Theil, "A
// Rank-Invariant Method of Linear and Polynomial Regression Analysis", 1950) and
// its interval of 95% (Sen, "Estimates of the Regression Coefficient Based on
// Kendall's Tau", 1968). Neighbours in time are correlated, which makes chance look
// like a trend, so the variance is widened according to the correlation of
// neighbouring residuals (Yue and Wang, "The Mann-Kendall Test Modified by Effective
// Sample Size", 2004). x must increase.
func Slope(x, y []float64) (median, low, high float64) {
	n := len(x)
	if n < 2 {
		return 0, math.Inf(-1), math.Inf(1)
	}
	slopes := make([]float64, 0, n*(n-1)/2)
	for i := range x {
		for j := range i {
			slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
		}
	}
	slices.Sort(slopes)
	median = medianOf(slopes)
	residuals := make([]float64, n)
	for i := range x {
		residuals[i] = y[i] - median*x[i]
	}
	variance := (float64(n)*float64(n-1)*float64(2*n+5) - ties(y)) / 18 * memory(residuals)
	reach := z95 * math.Sqrt(math.Max(variance, 0))
	all := float64(len(slopes))
	first, last := int(math.Floor((all-reach)/2)), int(math.Ceil((all+reach)/2))
	low, high = slopes[min(max(first, 0), len(slopes)-1)], slopes[max(min(last, len(slopes)-1), 0)]
	return median, low, high
}

// ties is the correction of the variance of Kendall's sum for equal values.
func ties(y []float64) float64 {
	sorted := slices.Sorted(slices.Values(y))
	sum := 0.0
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		sum += t * (t - 1) * (2*t + 5)
		i = j
	}
	return sum
}

// memory is the factor by which the correlation of neighbours widens a variance, as in
// a first-order autoregression, corrected for the bias from removing a line from a
// short series: -(2+4rho)/n (van Giersbergen, "On the Effect of Deterministic
// Terms on the Bias in Stable AR Models", 2005).
func memory(residuals []float64) float64 {
	rho := likeness(residuals, 2, 4)
	return (1 + rho) / (1 - rho)
}

// likeness is the correlation of neighbours, from 0 to 0.95, corrected for a bias of
// -(fixed+scaled*rho)/n. It is 0 for fewer than 6 values.
func likeness(residuals []float64, fixed, scaled float64) float64 {
	n := float64(len(residuals))
	mean, greatest := 0.0, 0.0
	for _, r := range residuals {
		mean += r / n
		greatest = math.Max(greatest, math.Abs(r))
	}
	var own, next float64
	for i, r := range residuals {
		own += (r - mean) * (r - mean)
		if i > 0 {
			next += (r - mean) * (residuals[i-1] - mean)
		}
	}
	// The residuals of a straight line are rounding errors.
	if rounding := 1e-9 * greatest; own <= n*rounding*rounding || n < 6 {
		return 0
	}
	return min(max((next/own+fixed/n)/(1-scaled/n), 0), 0.95)
}
