package report

import (
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
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

// usageCharts are the small charts of the resource use of a run's processes and its machine, and
// the names of the figures without a chart: they stayed at zero, or the kernel did not report
// them.
func usageCharts(s *result.Saved) (out []*document.Chart, flat, unknown []string) {
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
			d.ID, d.X = "usage-"+integer(int64(len(out))), timeAxis(s)
			d.Spans = append(d.Spans, spans...)
			out = append(out, d)
		}
	}
	return out, flat, unknown
}

// drawn is a chart with the lines that have values, and the greatest of them.
func (u *usage) drawn(c usageChart) (d *document.Chart, most float64) {
	d = &document.Chart{Small: true, Title: c.title, Note: c.note, Y: document.Axis{Unit: c.unit}}
	if c.top > 0 {
		d.Y.To = &c.top
	}
	var labels []string
	for _, l := range c.lines {
		s := document.Series{Name: l.label, Color: l.color, Dash: l.dash, X: u.at,
			Y: u.values(l.of)}
		if s.Y == nil {
			continue
		}
		if l.color >= document.Colors {
			s.Color, s.Dash = l.color%document.Colors, l.color/document.Colors%document.Dashes
		}
		for _, v := range s.Y {
			if finite(v) {
				most = max(most, v)
			}
		}
		labels, d.Series = append(labels, l.label), append(d.Series, s)
	}
	d.Label = c.title + " over time: " + strings.Join(labels, ", ") + "."
	if c.limit > 0 {
		d.Note = strings.TrimSpace(c.note + " Limit of " + c.limitOf + ": " +
			bytesPerSecond(c.limit) + ".")
	}
	// The limit is drawn only if the values come near enough for both to be seen.
	const near = 0.3
	if c.limit > 0 && most > near*c.limit {
		d.Spans = []document.Span{{Level: true, From: c.limit, Words: "limit",
			Tone: document.Unsure}}
	}
	return d, most
}
