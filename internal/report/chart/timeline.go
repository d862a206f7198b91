package chart

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// line is the value of a line over an interval; NaN where it has none. Latencies are nanoseconds.
type line func(i result.Interval, seconds float64) float64

// valuesOf are the values of a line over intervals of some lengths; nil if it has none, or there is
// no line.
func valuesOf[I any](all []I, of func(I, float64) float64, lengthNs func(I) int64) document.Values {
	if of == nil {
		return nil
	}
	out := make(document.Values, len(all))
	for i, one := range all {
		out[i] = math.NaN()
		if ns := lengthNs(one); ns > 0 {
			out[i] = of(one, float64(ns)/1e9)
		}
	}
	if !slices.ContainsFunc(out, phrase.Finite) {
		return nil
	}
	return out
}

// rateOf is a count as messages per second.
func rateOf(count func(result.Interval) int64) line {
	return func(i result.Interval, s float64) float64 { return float64(count(i)) / s }
}

func countOf(count func(result.Interval) int64) line {
	return func(i result.Interval, _ float64) float64 { return float64(count(i)) }
}

var ackedLine = rateOf(func(i result.Interval) int64 { return i.Acked })

// receivedLine is the rate of each subscription.
func receivedLine(r *result.Run) line {
	if fact.Unrecorded(r, result.RecordedReceived, r.Summary.ReceivedRate == 0) {
		return nil
	}
	subscriptions := float64(max(r.Load.Subscriptions, 1))
	return func(i result.Interval, s float64) float64 {
		return float64(i.Received) / s / subscriptions
	}
}

func backlogLine(r *result.Run) line {
	if fact.Unrecorded(r, result.RecordedBacklog, r.Summary.MaxBacklog == 0) {
		return nil
	}
	return countOf(func(i result.Interval) int64 { return i.Backlog })
}

func percentileLine(series result.Series, percentile float64) line {
	return func(i result.Interval, _ float64) float64 {
		ns, ok := latency.ExactAt(latency.Of(i, series), percentile)
		return orGap(ns, ok)
	}
}

func maxLine(series result.Series) line {
	return func(i result.Interval, _ float64) float64 {
		ns, ok := latency.ExactMax(latency.Of(i, series))
		return orGap(ns, ok)
	}
}

// orGap is a latency, or a gap in the line if it is unknown or only a bound.
func orGap(ns int64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return positive(ns)
}

// positive is a value for an axis in powers of ten, which has no zero.
func positive(v int64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return float64(v)
}
