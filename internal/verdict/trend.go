package verdict

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

const (
	// fewestForTrend is the least number of intervals that distinguishes a trend from chance.
	fewestForTrend = 10
	// mostForTrend bounds the points, because the time grows with their square: more intervals are
	// replaced by means of neighbours.
	mostForTrend = 600
	// The least change over the window that has a warning, as a share of the median: of a
	// rate, and of a latency, which varies more.
	rateTrend    = 0.02
	latencyTrend = 0.10
)

// trends warns of figures that rose or fell through the measured window. It warns of none
// when the offered rate was not constant, because such a rate causes trends itself.
func trends(all *list, s *result.Saved) {
	if t := s.Run.Trends; t != nil && t.Why == "" {
		return // the verdict on trends reports them
	}
	if s.Run.Backlog != nil || left(&s.Run) {
		return // the reading of a backlog changes the figures on purpose
	}
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
		{"publish p50", latencyTrend, latencyAt(result.Publish, 50), nanoseconds},
		{"publish p99", latencyTrend, latencyAt(result.Publish, 99), nanoseconds},
		{"the received rate", rateTrend, func(i result.Interval) (float64, bool) {
			return float64(i.Received) * 1e9 / float64(i.EndNs-i.StartNs), true
		}, quantity.Rate},
		{"end-to-end p50", latencyTrend, latencyAt(result.EndToEnd, 50), nanoseconds},
		{"end-to-end p99", latencyTrend, latencyAt(result.EndToEnd, 99), nanoseconds},
	} {
		x, y := series(s.Intervals, f.value)
		if len(x) < fewestForTrend {
			continue
		}
		median, low, high := stats.Slope(x, y)
		length, usual := x[len(x)-1]-x[0], stats.Median(y)
		least := math.Min(math.Abs(low), math.Abs(high)) * length
		if low*high <= 0 || usual <= 0 || least < f.bound*usual {
			continue
		}
		word := "rose"
		if median < 0 {
			word = "fell"
		}
		all.warn("trend",
			"no steady state: %s %s by %s over the measured window, at a median of %s (at least "+
				"%.0f%% of it, with 95%% confidence): a longer run would show other figures",
			f.name, word, f.print(math.Abs(median)*length), f.print(usual), math.Floor(
				least/usual*100))
	}
}

func nanoseconds(v float64) string { return quantity.Duration(int64(v)) }

func latencyAt(s result.Series, percentile float64) func(result.Interval) (float64, bool) {
	return func(i result.Interval) (float64, bool) {
		ns, ok := result.Summary{Latency: i.Latency}.Series(s).At(percentile)
		return float64(ns), ok
	}
}

// series returns a figure over the measured window: x in seconds, one y for each whole interval.
// It is empty when an interval lacks the figure.
func series(
	intervals []result.Interval, value func(result.Interval) (float64, bool),
) (x, y []float64) {
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
		x, y = means(x, each), means(y, each)
	}
	return x, y
}

// means returns the means of groups of neighbours.
func means(values []float64, each int) (out []float64) {
	for part := range slices.Chunk(values, each) {
		sum := 0.0
		for _, v := range part {
			sum += v
		}
		out = append(out, sum/float64(len(part)))
	}
	return out
}

// rates returns the rates at the ends of a curve's segments.
func rates(segments []result.Segment) []float64 {
	var out []float64
	for _, s := range segments {
		out = append(out, s.From, s.To)
	}
	return out
}
