package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// instrumentTimes is the least difference of the sides, as a multiple of plimsoll's own error,
// that counts as a difference.
const instrumentTimes = 3

// ownError returns plimsoll's own error in a latency figure, in ns: the same percentile of the
// twin, on the side where it is larger. It is 0 when the figure is not a latency from the due
// time, or when a side has no run with a twin.
func ownError(a, b []*result.Saved, f figure.Figure) float64 {
	ofA, ofB := twin(a, f), twin(b, f)
	if len(ofA) == 0 || len(ofB) == 0 {
		return 0
	}
	return max(stats.Median(ofA), stats.Median(ofB))
}

// twin returns a percentile of the twin in each run that has a twin. When the twin's few messages
// do not support the percentile, it returns the greatest latency.
func twin(runs []*result.Saved, f figure.Figure) (out []float64) {
	for _, s := range runs {
		i := s.Run.Summary.Instrument
		if i == nil {
			continue
		}
		var l result.Latency
		switch f.Series {
		case result.Publish:
			l = i.Publish
		case result.EndToEnd:
			l = i.EndToEnd
		}
		if p, ok := l.Point(f.Percentile); ok {
			out = append(out, figure.SpanOf(p).Most)
		} else if l.Count > 0 {
			out = append(out, float64(l.MaxNs))
		}
	}
	return out
}

// blurred reports whether plimsoll's own error could explain the difference of the medians.
func (e Effect) blurred() bool {
	return distance(e.A.Median, e.B.Median) < instrumentTimes*e.OwnError
}

// distance returns the least distance of two values; it is infinite if only one is reached.
func distance(a, b figure.Span) float64 {
	switch {
	case a.NotReached() && b.NotReached():
		return 0
	case b.Least > a.Most:
		return b.Least - a.Most
	case a.Least > b.Most:
		return a.Least - b.Most
	}
	return 0
}

// instrumentHints names the differences that are not shown because of plimsoll's own error, and
// counts the runs in which that error is not known.
func (c *Comparison) instrumentHints() (out []string) {
	for _, e := range c.Figures {
		if e.Blurred {
			out = append(out,
				fmt.Sprintf("%s: the medians lie %s apart, less than %d times plimsoll's own "+
					"error of %s (the same percentile of the twin): this shows no difference "+
					"between the systems",
					e.Figure.Name, figure.Nanoseconds.Print(distance(e.A.Median, e.B.Median)),
					instrumentTimes, figure.Nanoseconds.Print(e.OwnError)))
		}
	}
	lacking, all := 0, slices.Concat(c.A.Runs, c.B.Runs)
	for _, s := range all {
		if s.Run.Summary.Instrument == nil {
			lacking++
		}
	}
	if lacking > 0 {
		out = append(out,
			fmt.Sprintf("plimsoll's own error is not known of %d of these %d runs (no twin was "+
				"measured): a shown difference may be as small as that error", lacking, len(all)))
	}
	return out
}

// withInstrument returns the detectable share of a figure, at least the share that plimsoll's own
// error hides.
func (e Effect) withInstrument(share float64) float64 {
	if e.OwnError == 0 || !e.A.Median.Exact() {
		return share
	}
	return math.Max(share, instrumentTimes*e.OwnError/e.A.Median.Least)
}
