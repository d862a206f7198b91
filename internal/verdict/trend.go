package verdict

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// fewestForTrend is how many intervals a window needs for a trend to be told
	// from chance.
	fewestForTrend = 10
	// mostForTrend bounds the work, which grows with the square: of more intervals
	// neighbours are taken together.
	mostForTrend = 600
	// The change over the window from which on a reader must know, as a share of
	// the median: of the rate, and of a latency, which varies more by itself.
	rateTrend    = 0.02
	latencyTrend = 0.10
	// z95 is the normal deviate of a two-sided 95%.
	z95 = 1.959964
)

// JudgeSaved fills verdicts and warnings like Judge, from all that was saved:
// the warnings speak of faults and of trends within the measured window too.
func JudgeSaved(s *result.Saved) {
	Judge(&s.Run, s.Events...)
	all := list(s.Run.Warnings)
	trends(&all, s)
	s.Run.Warnings = all
}

// trends warns of figures that rose or fell through the measured window. A rate
// that was not constant makes trends of its own, so then nothing is said.
func trends(all *list, s *result.Saved) {
	offered := rates(s.Run.Load.Segments)
	if slices.ContainsFunc(offered, func(r float64) bool { return r != offered[0] }) {
		return
	}
	for _, f := range []struct {
		name  string
		bound float64
		value func(result.Interval) (float64, bool)
		print func(float64) string
	}{
		{"the achieved rate", rateTrend, func(i result.Interval) (float64, bool) {
			return float64(i.Acked) * 1e9 / float64(i.EndNs-i.StartNs), true
		}, quantity.Rate},
		{"publish p50", latencyTrend, publishAt(50), nanoseconds},
		{"publish p99", latencyTrend, publishAt(99), nanoseconds},
	} {
		x, y := series(s.Intervals, f.value)
		if len(x) < fewestForTrend {
			continue
		}
		median, low, high := slope(x, y)
		length, usual := x[len(x)-1]-x[0], middle(y)
		least := math.Min(math.Abs(low), math.Abs(high)) * length
		if low*high <= 0 || usual <= 0 || least < f.bound*usual {
			continue
		}
		word := "rose"
		if median < 0 {
			word = "fell"
		}
		all.warn("trend", "no steady state: %s %s by %s over the measured window, at a median of %s (at least %.0f%% of it, with 95%% confidence): a longer run would show other figures",
			f.name, word, f.print(math.Abs(median)*length), f.print(usual), math.Floor(least/usual*100))
	}
}

func nanoseconds(v float64) string { return quantity.Duration(int64(v)) }

func publishAt(percentile float64) func(result.Interval) (float64, bool) {
	return func(i result.Interval) (float64, bool) {
		ns, ok := result.Summary{Latency: i.Latency}.Series(result.Publish).At(percentile)
		return float64(ns), ok
	}
}

// series is a figure over the measured window, by seconds, of whole intervals.
// It is empty when some have it and others not.
func series(intervals []result.Interval, value func(result.Interval) (float64, bool)) (x, y []float64) {
	for _, i := range intervals {
		if i.Phase != result.PhaseMeasure || i.EndNs-i.StartNs < 5e8 {
			continue
		}
		v, ok := value(i)
		if !ok {
			return nil, nil
		}
		x, y = append(x, float64(i.StartNs+i.EndNs)/2e9), append(y, v)
	}
	if each := (len(x) + mostForTrend - 1) / mostForTrend; each > 1 {
		x, y = together(x, each), together(y, each)
	}
	return x, y
}

// together is the mean of so many neighbours each.
func together(values []float64, each int) (out []float64) {
	for part := range slices.Chunk(values, each) {
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		out = append(out, sum/float64(len(part)))
	}
	return out
}

// slope is the median of the slopes of all pairs of points (Theil, "A
// Rank-Invariant Method of Linear and Polynomial Regression Analysis", 1950) and
// its interval of 95% (Sen, "Estimates of the Regression Coefficient Based on
// Kendall's Tau", 1968). Neighbours in time resemble one another, which makes
// chance look like a trend: the variance is widened by what the residuals'
// correlation with their neighbours says (Yue and Wang, "The Mann-Kendall Test
// Modified by Effective Sample Size", 2004). The xs must rise.
func slope(x, y []float64) (median, low, high float64) {
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
	median = middleOf(slopes)
	residuals := make([]float64, n)
	for i := range x {
		residuals[i] = y[i] - median*x[i]
	}
	variance := (float64(n)*float64(n-1)*float64(2*n+5) - ties(y)) / 18 * memory(residuals)
	reach := z95 * math.Sqrt(math.Max(variance, 0))
	all := float64(len(slopes))
	first, last := int(math.Floor((all-reach)/2)), int(math.Ceil((all+reach)/2))
	low, high = math.Inf(-1), math.Inf(1)
	if first >= 0 {
		low = slopes[min(first, len(slopes)-1)]
	}
	if last < len(slopes) {
		high = slopes[max(last, 0)]
	}
	return median, low, high
}

// ties is what equal values take from the variance of Kendall's sum.
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

// memory is by how much the correlation of neighbours widens a variance, as in a
// first-order autoregression, freed of the bias that taking a line out of a short
// series gives it: -(2+4rho)/n (van Giersbergen, "On the Effect of Deterministic
// Terms on the Bias in Stable AR Models", 2005).
func memory(residuals []float64) float64 {
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
	// What is left of a straight line is rounding.
	if rounding := 1e-9 * greatest; own <= n*rounding*rounding || n < 6 {
		return 1
	}
	rho := math.Min((next/own+2/n)/(1-4/n), 0.95)
	if rho <= 0 {
		return 1
	}
	return (1 + rho) / (1 - rho)
}

func middle(values []float64) float64 {
	return middleOf(slices.Sorted(slices.Values(values)))
}

// middleOf is the median of sorted values.
func middleOf(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
