package chart

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// usageChart is a small chart.
type usageChart struct {
	title, note string
	unit        document.Unit
	top         float64 // of the axis; 0: by the values
	limit       float64 // of the machine, as calibrated
	limitOf     string
	lines       []usageLine
}

type usageLine struct {
	of    resourceLine
	label string
	color int // a place among the colours of runs; -1: plimsoll
	dash  int
}

// Usage are the small charts of the resource use of a run's processes and its machine, and
// the names of the figures without a chart: they stayed at zero, or the kernel did not report
// them.
func Usage(s *result.Saved) (out []*document.Chart, flat, unknown []string) {
	u := newUsage(s)
	if len(u.at) == 0 {
		return nil, nil, nil
	}
	spans := slices.DeleteFunc(runSpans(s), func(s document.Span) bool {
		return s.Tone == document.Unsure // too many for a small chart
	})
	var all []usageChart
	processes := members(s)
	for _, c := range processCharts {
		chart := usageChart{title: c.title, note: c.note, unit: c.unit}
		for _, m := range processes {
			chart.lines = append(chart.lines,
				usageLine{of: summed(m.processes, c.value), label: m.label, color: m.color})
		}
		all = append(all, chart)
	}
	for _, c := range append(all, hostCharts(s)...) {
		d, most := u.drawn(c)
		switch {
		case len(d.Series) == 0:
			unknown = append(unknown, c.title)
		case most == 0:
			flat = append(flat, c.title)
		default:
			d.ID, d.X = "usage-"+phrase.Integer(int64(len(out))), timeAxis(s)
			d.Spans = append(d.Spans, spans...)
			out = append(out, d)
		}
	}
	return out, flat, unknown
}
