package known

import (
	"math"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
)

// Manifold is the least ratio that is described as "N times as high" rather than by a percentage,
// and the least difference that is too large to be called what the runs could have shown.
const Manifold = 10

// Percent prints a share, with a digit after the point where it is small.
func Percent(v float64) string {
	digits := 0
	if v < 0.1 {
		digits = 1
	}
	return strconv.FormatFloat(v*100, 'f', digits, 64) + "%"
}

// Times prints a ratio.
func Times(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64) + "x"
	}
	return strconv.FormatFloat(v, 'f', 3, 64) + "x"
}

// Reach prints an interval; either end may be open.
func Reach(low, high float64, printed func(float64) string) string {
	switch {
	case math.IsInf(low, 1) || high == 0 || low <= 0 && math.IsInf(high, 1):
		return "no interval"
	case math.IsInf(high, 1):
		return printed(low) + " or more"
	case low <= 0:
		return printed(high) + " or less"
	}
	return printed(low) + " to " + printed(high)
}

// PValue prints a p.
func PValue(e compare.Effect) string {
	switch {
	case !e.Tested():
		return document.None
	case e.P < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(e.P, 'f', 4, 64)
}

// Shown is the answer of one figure in a word.
func Shown(e compare.Effect) string {
	switch {
	case !e.Tested():
		return "not tested"
	case e.Blurred:
		return "own error"
	case !e.Shown:
		return "–"
	case e.Ratio > 1:
		return "higher"
	}
	return "lower"
}

// Middle prints a median and its interval.
func Middle(e compare.Effect, c compare.Center) (median, interval string) {
	return Center(e.Figure.Unit, c)
}

// Center prints a median, or its bounds, and its interval.
func Center(unit figure.Unit, c compare.Center) (median, interval string) {
	print := func(v float64) string { return unit.Print(v) }
	switch {
	case c.Median.NotReached():
		median = "not reached"
	case math.IsInf(c.Median.Most, 1):
		median = "≥ " + print(c.Median.Least)
	case !c.Median.Exact():
		median = print(c.Median.Least) + " to " + print(c.Median.Most)
	default:
		median = print(c.Median.Least)
	}
	if c.Values == 1 && (c.Low == c.High || !c.Median.Exact()) || math.IsInf(c.Low, 1) {
		return median, ""
	}
	return median, Reach(c.Low, c.High, print)
}

// Bracketed prints a value with its interval, where it has one.
func Bracketed(value, interval string) string {
	if interval == "" {
		return value
	}
	return value + " (" + interval + ")"
}
