package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The size of one small chart and of the room around its plot, in the units of
// its drawing.
const (
	multipleWidth, multipleHeight = 340.0, 220.0
	plotLeft, plotRight           = 58.0, 10.0
	plotTop, plotBottom           = 12.0, 40.0
)

// maxPanels bounds the panels of a sweep's chart; the table has every cell.
const maxPanels = 24

// metric is the figure of one column of the small charts.
type metric struct {
	title string
	log   bool // the axis goes in powers of ten
	value func(*result.Run) (float64, bool)
	print func(float64) string
	// text is the figure with its bound, and whether it is a bound.
	text func(*result.Run) (string, bool)
}

var sweepMetrics = []metric{
	{title: "Acknowledged", print: rate, value: func(r *result.Run) (float64, bool) {
		return r.Summary.AchievedRate, r.Summary.WindowNs > 0
	}, text: func(r *result.Run) (string, bool) { return rate(r.Summary.AchievedRate), false }},
	p99Metric("Publish latency, p99", result.Publish),
	p99Metric("End-to-end latency, p99", result.EndToEnd),
}

func p99Metric(title string, series result.Series) metric {
	return metric{title: title, log: true, print: nanoseconds,
		value: p99Of(series), text: p99Text(series)}
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

// panel is a row of small charts. Its cells agree in all axes that have no place within a
// chart.
type panel struct {
	Title  string
	Lines  []string // the meaning of each colour; empty when there is one line
	Charts []multiple
}

// multiple is one small chart.
type multiple struct {
	Title, Label string
	X            string // the key of the axis below
	XTicks       []tick
	YTicks       []tick
	Lines        []multipleLine
	Empty        bool
}

type tick struct {
	At   float64
	Text string
}

type multipleLine struct {
	Color  int
	Path   string
	Points []multiplePoint
}

// multiplePoint is a cell. It is hollow when its figures are marked, and has an
// arrow when the true figure lies above it.
type multiplePoint struct {
	X, Y          float64
	Hollow, Above bool
	Text          string
}

// places are the axes by their places: along a chart, as its lines, and as panels, one for each
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
		if p.line < 0 && len(axes[i].Values) <= runColors {
			p.line = i
			continue
		}
		p.panels = append(p.panels, i)
	}
	slices.Sort(p.panels)
	return p
}

// multiples are the small charts of a sweep. All charts of a figure have one
// scale, so that panels can be compared.
func multiples(plan *sweep.Plan, runs []*result.Saved) (panels []panel, left int) {
	if len(plan.Axes) == 0 {
		return nil, 0
	}
	at := placesOf(plan.Axes)
	var order []string
	cells := map[string][]int{}
	for i, c := range plan.Cells {
		var parts []string
		for _, k := range at.panels {
			parts = append(parts, plan.Axes[k].Key+" "+c.Values[k])
		}
		title := strings.Join(parts, ", ")
		if cells[title] == nil {
			order = append(order, title)
		}
		cells[title] = append(cells[title], i)
	}
	if left = len(order) - maxPanels; left > 0 {
		order = order[:maxPanels]
	}
	for _, title := range order {
		p := panel{Title: clean(title)}
		if at.line >= 0 {
			for _, v := range plan.Axes[at.line].Values {
				p.Lines = append(p.Lines, clean(plan.Axes[at.line].Key+" "+v))
			}
		}
		for _, m := range sweepMetrics {
			p.Charts = append(p.Charts, newMultiple(plan, runs, at, cells[title], m, title))
		}
		panels = append(panels, p)
	}
	return panels, max(left, 0)
}

func newMultiple(plan *sweep.Plan, runs []*result.Saved, at places, cells []int, m metric,
	title string) multiple {
	axis, along := uprightOf(runs, m), plan.Axes[at.along]
	out := multiple{Title: m.title, X: clean(along.Key), YTicks: axis.ticks(m.print)}
	x := func(i int) float64 {
		return plotLeft +
			(multipleWidth-plotLeft-plotRight)*(float64(i)+0.5)/float64(len(along.Values))
	}
	for i, v := range along.Values {
		out.XTicks = append(out.XTicks, tick{x(i), cut(clean(v), max(3, 40/len(along.Values)))})
	}
	lines := 1
	if at.line >= 0 {
		lines = len(plan.Axes[at.line].Values)
	}
	out.Empty = true
	out.Label = clean(strings.TrimSpace(m.title + " by " + along.Key + " " + title))
	for color := range lines {
		l := multipleLine{Color: color}
		for i, v := range along.Values {
			k := slices.IndexFunc(cells, func(k int) bool {
				c := plan.Cells[k]
				return c.Values[at.along] == v &&
					(at.line < 0 || c.Values[at.line] == plan.Axes[at.line].Values[color])
			})
			l.add(plan, runs, cells, k, x(i), axis, m)
		}
		out.Lines = append(out.Lines, l)
		out.Empty = out.Empty && len(l.Points) == 0
		for _, p := range l.Points {
			out.Label += "; " + p.Text
		}
	}
	return out
}

// add draws the line on to a cell; where it has no figure the line is broken.
func (l *multipleLine) add(plan *sweep.Plan, runs []*result.Saved, cells []int, k int, x float64,
	axis upright, m metric) {
	if k < 0 || runs[cells[k]] == nil {
		l.Path += " "
		return
	}
	c, run := plan.Cells[cells[k]], runs[cells[k]]
	v, ok := m.value(&run.Run)
	if !ok || !finite(v) {
		l.Path += " "
		return
	}
	y := axis.y(v)
	move := "L"
	if l.Path == "" || strings.HasSuffix(l.Path, " ") {
		move = "M"
	}
	l.Path += fmt.Sprintf("%s%.1f %.1f", move, x, y)
	mark, _ := cellMark(c, run)
	figure, above := m.text(&run.Run)
	text := sweep.Label(plan.Axes, c.Values) + ": " + micro(figure)
	if mark != "" {
		text += " (" + mark + ")"
	}
	l.Points = append(l.Points, multiplePoint{X: round1(x), Y: round1(y), Hollow: mark != "",
		Above: above, Text: clean(text)})
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// upright is the upright axis of a figure.
type upright struct {
	from, to float64
	log      bool
}

// uprightOf holds every cell: from zero, or in powers of ten with some room.
func uprightOf(runs []*result.Saved, m metric) upright {
	least, most := math.Inf(1), 0.0
	for _, s := range runs {
		if s == nil {
			continue
		}
		if v, ok := m.value(&s.Run); ok && finite(v) && v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	if most == 0 {
		least, most = 1, 10
	}
	if m.log {
		return upright{least / 1.25, most * 1.25, true}
	}
	return upright{0, most * 1.08, false}
}

// y is where a value stands in the drawing.
func (s upright) y(v float64) float64 {
	part := (v - s.from) / (s.to - s.from)
	if s.log {
		part = math.Log(max(v, s.from)/s.from) / math.Log(s.to/s.from)
	}
	return multipleHeight - plotBottom - part*(multipleHeight-plotTop-plotBottom)
}

// ticks are round values within the scale, from three to seven or so.
func (s upright) ticks(print func(float64) string) []tick {
	var out []tick
	add := func(v float64) {
		if v >= s.from && v <= s.to {
			out = append(out, tick{round1(s.y(v)), micro(print(v))})
		}
	}
	if !s.log {
		step := math.Pow(10, math.Floor(math.Log10(s.to/3)))
		for _, more := range []float64{5, 2} {
			if s.to/(step*more) >= 3 {
				step *= more
				break
			}
		}
		for i := range 8 {
			add(float64(i) * step)
		}
		return out
	}
	steps := []float64{1}
	switch ratio := s.to / s.from; {
	case ratio < 2:
		steps = []float64{1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9}
	case ratio < 8:
		steps = []float64{1, 1.5, 2, 3, 5, 7}
	case ratio < 100:
		steps = []float64{1, 2, 5}
	}
	for power := math.Pow(10, math.Floor(math.Log10(s.from))); power <= s.to; power *= 10 {
		for _, m := range steps {
			add(power * m)
		}
	}
	return out
}

// cellRow is a cell in the table of the page.
type cellRow struct {
	Values, Figures []string
	Mark, Reason    string
	Bad             bool
	Link            string // to the report of its run
}

func cellRows(plan *sweep.Plan, runs []*result.Saved) []cellRow {
	var out []cellRow
	for i, c := range plan.Cells {
		r := cellRow{Reason: cellReason(c, runs[i])}
		for _, v := range c.Values {
			r.Values = append(r.Values, clean(v))
		}
		for _, v := range cellFigures(runs[i]) {
			r.Figures = append(r.Figures, micro(v))
		}
		r.Mark, r.Bad = cellMark(c, runs[i])
		if runs[i] != nil {
			r.Link = c.Run + "/" + result.ReportFile
		}
		out = append(out, r)
	}
	return out
}

// varied names the axes and their values.
func varied(axes []sweep.Axis) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = fmt.Sprintf("%s (%s)", clean(a.Key), clean(strings.Join(a.Values, ", ")))
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
