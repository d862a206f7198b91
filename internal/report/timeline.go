package report

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/result"
)

// maxGroups bounds the stretches of a time line; each keeps two points of each line. A screen
// has no room for more.
const maxGroups = 300

// points are the values of a line. A missing value is NaN.
type points []float64

// timeline is the figures of a run over time, an array for each line. Times are seconds since
// the run started.
type timeline struct {
	Seconds points            `json:"t"`
	Lines   map[string]points `json:"lines"`
}

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

// orGap is a latency, or a gap in the line where it is unknown or only a bound.
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

// thin divides the points into groups of neighbours and keeps at most two points of each line
// in each group: the least and the greatest value, in their order. So a stall of a second
// stays visible in an hour.
func (t timeline) thin(groups int) timeline {
	n := len(t.Seconds)
	if n <= 2*groups {
		return t
	}
	size := (n + groups - 1) / groups
	out := timeline{Seconds: points{}, Lines: map[string]points{}}
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		out.Seconds = append(out.Seconds, t.Seconds[from])
		if to-from > 1 {
			out.Seconds = append(out.Seconds, t.Seconds[(from+to)/2])
		}
		for name, values := range t.Lines {
			out.Lines[name] = append(out.Lines[name], extremes(values[from:to])...)
		}
	}
	return out
}

// extremes returns the least and the greatest value in the order in which
// they came; of a single value, that value.
func extremes(values points) points {
	if len(values) < 2 {
		return values
	}
	least, greatest := -1, -1
	for i, v := range values {
		if !finite(v) {
			continue
		}
		if least < 0 || v < values[least] {
			least = i
		}
		if greatest < 0 || v > values[greatest] {
			greatest = i
		}
	}
	if least < 0 {
		return points{math.NaN(), math.NaN()}
	}
	return points{values[min(least, greatest)], values[max(least, greatest)]}
}
