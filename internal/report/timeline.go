package report

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
)

// line is a line of a time line and the function that takes its value from an interval.
type line struct {
	name  string
	value func(i result.Interval, seconds float64) float64
}

// timelines are the lines of each run. Those of latencies are nanoseconds, and
// have no value where nothing was recorded.
func timelines(subscriptions int) []line {
	per := float64(max(subscriptions, 1))
	lines := []line{
		{"offered", func(i result.Interval, s float64) float64 { return float64(i.Scheduled) / s }},
		{"acked", func(i result.Interval, s float64) float64 { return float64(i.Acked) / s }},
		{"received", func(i result.Interval, s float64) float64 {
			return float64(i.Received) / s / per
		}},
		{"failed", func(i result.Interval, s float64) float64 { return float64(i.Failed) / s }},
		{"backlog", func(i result.Interval, _ float64) float64 { return float64(i.Backlog) }},
		{"in_flight", func(i result.Interval, _ float64) float64 { return float64(i.InFlight) }},
		{"cpu", func(i result.Interval, s float64) float64 { return i.CPUSeconds / s }},
		{"gc", func(i result.Interval, _ float64) float64 {
			return positive(float64(i.GCPauseNs))
		}},
	}
	for _, series := range []result.Series{result.Publish, result.EndToEnd, result.Lag,
		result.Hiccup} {
		lines = append(lines, latencyLines(series)...)
	}
	return lines
}

// latencyLines are the lines of a latency series.
func latencyLines(series result.Series) []line {
	return []line{
		{string(series) + "_p50", percentileLine(series, 50)},
		{string(series) + "_p99", percentileLine(series, 99)},
		{string(series) + "_max", func(i result.Interval, _ float64) float64 {
			ns, ok := exactMax(latencyOf(i, series))
			return orGap(ns, ok)
		}},
	}
}

func percentileLine(series result.Series, percentile float64) func(result.Interval,
	float64) float64 {
	return func(i result.Interval, _ float64) float64 {
		ns, ok := exactAt(latencyOf(i, series), percentile)
		return orGap(ns, ok)
	}
}

// orGap is a latency, or a gap in the line if it is unknown or only a bound.
func orGap(ns int64, ok bool) float64 {
	if !ok {
		return math.NaN()
	}
	return positive(float64(ns))
}

// positive is a value for an axis in powers of ten, which has no zero.
func positive(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}
