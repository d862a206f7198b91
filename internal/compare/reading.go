package compare

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Span holds the bounds of a value. Least and Most differ if messages without a latency leave the
// value open. Both are infinite when the percentile is not reached, because more messages have no
// latency than lie beyond it.
type Span struct{ Least, Most float64 }

// exactly returns the span of a known value.
func exactly(v float64) Span { return Span{v, v} }

// Exact reports whether the value is a known number.
func (s Span) Exact() bool { return s.Least == s.Most && !math.IsInf(s.Least, 0) }

// NotReached reports whether the value exceeds every number.
func (s Span) NotReached() bool { return math.IsInf(s.Least, 1) }

// Bound returns the span as a result.Bound.
func (s Span) Bound() result.Bound {
	switch {
	case s.Exact():
		return result.Exact
	case s.NotReached():
		return result.NotReached
	}
	return result.AtLeast
}

// times returns the value divided by the value of another span. It is 0 to infinite when neither
// is reached.
func (s Span) times(of Span) Span {
	out := Span{s.Least / of.Most, s.Most / of.Least}
	if math.IsNaN(out.Least) {
		out.Least = 0
	}
	if math.IsNaN(out.Most) {
		out.Most = math.Inf(1)
	}
	return out
}

// spanOf returns the span of a run's percentile.
func spanOf(p result.Percentile) Span {
	ns := float64(p.LatencyNs)
	switch p.Bound {
	case result.NotReached:
		return exactly(math.Inf(1))
	case result.AtLeast:
		return Span{max(ns, 1), math.Inf(1)}
	}
	return exactly(ns)
}

// spans holds the values of a figure, one for each run.
type spans []Span

// of returns a figure of every run; ok is false when a run does not have it.
func of(runs []*result.Saved, f Figure) (out spans, ok bool) {
	for _, s := range runs {
		v, known := f.of(&s.Run)
		if !known || v.Least <= 0 || math.IsNaN(v.Least) || math.IsNaN(v.Most) {
			return nil, false
		}
		out = append(out, v)
	}
	return out, len(out) > 0
}

// exact reports whether all values are exact.
func (s spans) exact() bool {
	return !slices.ContainsFunc(s, func(v Span) bool { return !v.Exact() })
}

// least returns the lower bounds.
func (s spans) least() []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v.Least
	}
	return out
}

// most returns the upper bounds.
func (s spans) most() []float64 {
	out := make([]float64, len(s))
	for i, v := range s {
		out[i] = v.Most
	}
	return out
}

// Center is the median of a set of values, with an interval for the median of the population. High
// is infinite if nothing bounds it.
type Center struct {
	Median     Span
	Low, High  float64
	Confidence float64 // of the interval
	Values     int     // number of values
}

// center returns the median and its interval by order statistics. Fewer than six values have no
// interval of 95%: theirs is from the least to the greatest, with its lower confidence.
func center(values spans) Center {
	least := centerOf(values.least())
	most := least
	if !values.exact() {
		most = centerOf(values.most())
	}
	least.Median.Most, least.High = most.Median.Most, most.High
	return least
}

func centerOf(values []float64) Center {
	c := Center{Median: exactly(stats.Median(values)), Values: len(values)}
	c.Low, c.High, c.Confidence = stats.MedianInterval(values, confidence)
	return c
}
