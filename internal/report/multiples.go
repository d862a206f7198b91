package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// maxPanels bounds the panels of a sweep's chart; the table has every cell.
const maxPanels = 24

// metric is the figure of one column of the small charts.
type metric struct {
	title string
	log   bool // the axis goes in powers of ten
	value func(*result.Run) (float64, bool)
	// text is the figure with its bound, and whether it is a bound.
	text func(*result.Run) (string, bool)
}

var sweepMetrics = []metric{
	{title: "Acknowledged", value: func(r *result.Run) (float64, bool) {
		return r.Summary.AchievedRate, r.Summary.WindowNs > 0
	}, text: func(r *result.Run) (string, bool) { return rate(r.Summary.AchievedRate), false }},
	p99Metric("Publish latency, p99", result.Publish),
	p99Metric("End-to-end latency, p99", result.EndToEnd),
}

func p99Metric(title string, series result.Series) metric {
	return metric{title: title, log: true, value: p99Of(series), text: p99Text(series)}
}

// p99Of is the value at which the 99th percentile is drawn: itself, or the latency that it
// exceeds.
func p99Of(series result.Series) func(*result.Run) (float64, bool) {
	return func(r *result.Run) (float64, bool) {
		ns, ok := r.Summary.Series(series).At(99)
		return float64(ns), ok && ns > 0
	}
}

func p99Text(series result.Series) func(*result.Run) (string, bool) {
	return func(r *result.Run) (string, bool) {
		l := r.Summary.Series(series)
		_, exact := exactAt(l, 99)
		return at(l, 99), !exact
	}
}

// places are the axes by their roles: along a chart, as its lines, and as panels, one for each
// combination. line is -1 when no axis is drawn as lines.
type places struct {
	along, line int
	panels      []int
}

// placesOf puts the longest axis along the charts. The longest remaining axis for which there
// are enough colours becomes the lines.
func placesOf(axes []sweep.Axis) places {
	order := make([]int, len(axes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return len(axes[b].Values) - len(axes[a].Values) })
	p := places{along: order[0], line: -1}
	for _, i := range order[1:] {
		if p.line < 0 && len(axes[i].Values) <= document.Colors {
			p.line = i
			continue
		}
		p.panels = append(p.panels, i)
	}
	slices.Sort(p.panels)
	return p
}

// varied names the axes and their values.
func varied(axes []sweep.Axis) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = fmt.Sprintf("%s (%s)", a.Key, strings.Join(a.Values, ", "))
	}
	return strings.Join(parts, " × ")
}

// panelsLeft says how many panels the chart leaves out.
func panelsLeft(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s more are in the table only.", quantity.Count(int64(n)))
}
