package figure

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
)

// Span holds the bounds of a value. Least and Most differ if messages without a latency leave the
// value open. Both are infinite when the percentile is not reached, because more messages have no
// latency than lie beyond it.
type Span struct{ Least, Most float64 }

// Exactly returns the span of a known value.
func Exactly(v float64) Span { return Span{v, v} }

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

// Times returns the value divided by the value of another span. It is 0 to infinite when neither
// is reached.
func (s Span) Times(of Span) Span {
	out := Span{s.Least / of.Most, s.Most / of.Least}
	if math.IsNaN(out.Least) {
		out.Least = 0
	}
	if math.IsNaN(out.Most) {
		out.Most = math.Inf(1)
	}
	return out
}

// SpanOf returns the span of a run's percentile.
func SpanOf(p result.Percentile) Span {
	ns := float64(p.LatencyNs)
	switch p.Bound {
	case result.NotReached:
		return Exactly(math.Inf(1))
	case result.AtLeast:
		return Span{max(ns, 1), math.Inf(1)}
	}
	return Exactly(ns)
}
