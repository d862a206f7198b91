package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/result"
)

// MultiplesRow is a row of small charts. Its cells agree in all axes that have no place within
// a chart.
type MultiplesRow struct {
	Title  string
	Charts []*document.Chart
}

// Sweep are the small charts of a sweep, and how many rows are left out. All charts of a
// figure have one scale, so that rows can be compared.
func Sweep(plan *sweep.Plan, runs []*result.Saved) (rows []MultiplesRow, left int) {
	if len(plan.Axes) == 0 {
		return nil, 0
	}
	at := placesOf(plan.Axes)
	var cells phrase.Grouped[string, int]
	for i, c := range plan.Cells {
		var parts []string
		for _, k := range at.panels {
			parts = append(parts, plan.Axes[k].Key+" "+c.Values[k])
		}
		cells.Add(strings.Join(parts, ", "), i)
	}
	shown := cells.Keys[:min(len(cells.Keys), maxPanels)]
	m := &multiplesPlan{plan: plan, runs: runs, places: at}
	for i, title := range shown {
		row := MultiplesRow{Title: document.Clean(title)}
		for k, f := range SweepFigures {
			c := m.chart(cells.Of[title], f[0], figure.Named(f[1]))
			c.ID = fmt.Sprintf("cells-%d-%d", i, k)
			c.Label = document.Clean(strings.TrimSpace(c.Label + " " + title))
			row.Charts = append(row.Charts, c)
		}
		rows = append(rows, row)
	}
	return rows, len(cells.Keys) - len(shown)
}

// multiplesPlan is a sweep with the places of its axes.
type multiplesPlan struct {
	plan *sweep.Plan
	runs []*result.Saved
	places
}

func (m *multiplesPlan) chart(cells []int, title string, f figure.Figure) *document.Chart {
	along := m.plan.Axes[m.along]
	c := &document.Chart{Title: title, Small: true, Label: title + " by " + along.Key,
		X: document.Axis{Title: document.Clean(along.Key)}, Y: m.upright(f),
		Empty: "No cell of this row has the figure."}
	for _, v := range along.Values {
		c.X.Names = append(c.X.Names, document.Clean(v))
	}
	lines := []string{""}
	if m.line >= 0 {
		lines = m.plan.Axes[m.line].Values
	}
	for color, value := range lines {
		s := document.Series{Color: color, Dots: true}
		if m.line >= 0 {
			s.Name = document.Clean(m.plan.Axes[m.line].Key + " " + value)
		}
		for i, v := range along.Values {
			k := slices.IndexFunc(cells, func(k int) bool {
				of := m.plan.Cells[k]
				return of.Values[m.along] == v && (m.line < 0 || of.Values[m.line] == value)
			})
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, math.NaN())
			if k >= 0 {
				m.cell(&s, cells[k], f)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// drawnAt is the value at which a figure is drawn: itself, or the latency that it exceeds.
func drawnAt(f figure.Figure, r *result.Run) (v float64, above, known bool) {
	if f.Percentile > 0 {
		p, known := r.Summary.Series(f.Series).Point(f.Percentile)
		return float64(p.LatencyNs), p.Bound != result.Exact, known && p.LatencyNs > 0
	}
	v, known = f.Value(r)
	return v, false, known && phrase.Finite(v)
}

// cell sets the last point of a line to the figure of a cell.
func (m *multiplesPlan) cell(s *document.Series, cell int, f figure.Figure) {
	run := m.runs[cell]
	if run == nil {
		return
	}
	v, above, ok := drawnAt(f, &run.Run)
	if !ok {
		return
	}
	at := len(s.Y) - 1
	s.Y[at] = v
	mark := document.Mark{At: at, Above: above,
		Tip: document.Clean(sweep.Label(m.plan.Axes, m.plan.Cells[cell].Values) + ": " +
			phrase.Micro(row.Printed(f.Name)(&run.Run)))}
	if word, wrong := fact.CellMark(m.plan.Cells[cell], run); word != "" {
		mark.Tip += " (" + document.Clean(word) + ")"
		mark.Hollow, mark.Cross = true, wrong
	}
	s.Marks = append(s.Marks, mark)
}

// upright is the axis of a figure: the same for all rows.
func (m *multiplesPlan) upright(f figure.Figure) document.Axis {
	a := document.Axis{Unit: document.PerSecond}
	least, most := math.Inf(1), 0.0
	for _, s := range m.runs {
		if s == nil {
			continue
		}
		if v, _, ok := drawnAt(f, &s.Run); ok && v > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	from, to := 0.0, most*1.08
	if f.IsLatency() {
		a.Unit, a.Scale = document.Nanos, document.Log
		from, to = least/1.25, most*1.25
	}
	if most > 0 {
		a.From, a.To = &from, &to
	}
	return a
}

// maxPanels bounds the panels of a sweep's chart; the table has every cell.
const maxPanels = 24

// SweepFigures are the titles and names of the figures of the small charts, a column each.
var SweepFigures = [][2]string{{"Acknowledged", figure.Rate},
	{"Publish latency, p99", "publish.p99"}, {"End-to-end latency, p99", "e2e.p99"}}

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

// Varied names the axes and their values.
func Varied(axes []sweep.Axis) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		parts[i] = fmt.Sprintf("%s (%s)", a.Key, strings.Join(a.Values, ", "))
	}
	return strings.Join(parts, " × ")
}
