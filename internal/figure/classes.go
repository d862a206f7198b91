package figure

import (
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// ofClass returns a figure of one class of messages by its name: order.publish.p99, order.e2e.max,
// order.rate or order.lost. All does not list them, because the classes are the workload's.
func ofClass(name string) (f Figure, ok bool) {
	class, rest, _ := strings.Cut(name, ".")
	if class == "" || strings.Trim(class, "abcdefghijklmnopqrstuvwxyz") != "" {
		return f, false
	}
	switch rest {
	case Rate:
		f = Figure{Title: "acknowledged", Unit: PerSecond, More: true,
			of: func(r *result.Run) (Span, bool) {
				c := r.Class(class)
				return Exactly(c.AckedRate), c.Name != ""
			}}
	case Lost:
		f = Figure{Title: "acknowledged messages that were lost", Unit: Messages, Zero: true,
			of: func(r *result.Run) (Span, bool) {
				c := r.Class(class)
				return Span{float64(c.Lost), float64(c.Lost + c.Unread)},
					c.Name != "" && r.Accounted() && (c.Unread == 0 || c.Lost > 0)
			}}
	default:
		all := latencies()
		at := slices.IndexFunc(all, func(one Figure) bool {
			return one.Name == rest && one.Series != result.Send
		})
		if at < 0 {
			return f, false
		}
		f = all[at]
		f.Series = result.OfClass(f.Series, class)
		f.of = latencySpan(f.Series, f.Percentile)
	}
	f.Name, f.Class, f.Title = name, class, f.Title+" of "+class
	f.Means = "of the messages of a class"
	return f, true
}

// latencySpan returns a percentile of a series, or its greatest value.
func latencySpan(series result.Series, percentile float64) func(*result.Run) (Span, bool) {
	return func(r *result.Run) (Span, bool) {
		l := r.Latency(series)
		if percentile > 0 {
			point, ok := l.Point(percentile)
			return SpanOf(point), ok
		}
		ns, bound := l.Worst()
		return SpanOf(result.Percentile{LatencyNs: ns, Bound: bound}), l.Count+l.Missing.Total() > 0
	}
}
