package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

const (
	tableRows    = 24 // of the table behind a chart
	tableColumns = 16
)

// Table is the figures behind the chart, for readers who cannot see it. Of many values a row
// shows the least and the greatest of a stretch. It is nil where there is nothing to draw.
func (c *Chart) Table() *Table {
	d := newDrawing(c, pen{width: stretched, height: c.height()}, nil)
	t := &Table{ID: c.ID + "-figures", Title: c.Title, Corner: c.X.heading(), Note: c.spanWords()}
	switch {
	case len(d.series) > 0:
		d.lineRows(t)
	case d.heat != nil:
		d.heatRows(t)
	default:
		return nil
	}
	return t
}

func (a Axis) heading() string {
	switch {
	case a.Title != "":
		return a.Title
	case a.Unit == Seconds:
		return "time"
	}
	return ""
}

// spanWords describes the marked stretches and moments of the chart.
func (c *Chart) spanWords() string {
	const most = 20
	out := ""
	for i, s := range c.Spans {
		if s.Words == "" {
			continue
		}
		if i >= most {
			return out + fmt.Sprintf(" And %s more.", quantity.Count(int64(len(c.Spans)-i)))
		}
		at := c.X.Unit.words(s.From)
		switch {
		case s.Level:
			at = c.Y.Unit.words(s.From)
		case s.From < s.To:
			at += " to " + c.X.Unit.words(s.To)
		}
		if out != "" {
			out += " "
		}
		out += at + ": " + s.Words + "."
	}
	return out
}

// lineRows has a row for each moment of the series, or for stretches where those are many.
func (d *drawing) lineRows(t *Table) {
	series := d.series[:min(len(d.series), tableColumns)]
	var all []float64
	for _, s := range series {
		for i := range min(len(s.X), len(s.Y)) {
			if placed(d.x.form, s.X[i]) {
				all = append(all, s.X[i])
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, s := range series {
		t.Head = append(t.Head, Column{Name: cmp.Or(s.Name, d.chart.Title)})
	}
	size := (len(all) + tableRows - 1) / tableRows
	for part := range slices.Chunk(all, max(size, 1)) {
		from, to := part[0], part[len(part)-1]
		row := Row{Name: spread(d.x.words(from), d.x.words(to))}
		for _, s := range series {
			row.Values = append(row.Values, Cell{Words: s.within(from, to, d.y.unit)})
		}
		t.Rows = append(t.Rows, row)
	}
}

// between prints a stretch, or a value.
func (u Unit) between(from, to float64) string { return spread(u.words(from), u.words(to)) }

// spread joins the printed ends of a stretch.
func spread(a, b string) string {
	if a == b {
		return a
	}
	return a + " to " + b
}

// within prints the values of a series in a stretch; a single value with its interval and the
// words of its mark.
func (s *Series) within(from, to float64, u Unit) string {
	least, most, at, count := math.Inf(1), math.Inf(-1), 0, 0
	for i := range min(len(s.X), len(s.Y)) {
		if y := s.Y[i]; s.X[i] >= from && s.X[i] <= to && placed(Linear, y) {
			least, most, at, count = min(least, y), max(most, y), i, count+1
		}
	}
	switch {
	case count == 0:
		return "–"
	case count > 1:
		return u.between(least, most)
	}
	out := u.words(s.Y[at])
	if at < len(s.Low) && at < len(s.High) && placed(Linear, s.Low[at]) &&
		placed(Linear, s.High[at]) {
		out += " (" + u.between(s.Low[at], s.High[at]) + ")"
	}
	for _, m := range s.Marks {
		if m.At != at {
			continue
		}
		if m.Above {
			out = "> " + out
		}
		if m.Words != "" {
			out += ", " + m.Words
		}
	}
	return out
}

// heatRows has a row for each stretch of the horizontal axis: how many were counted, and where
// the lowest, the most and the highest of them lie.
func (d *drawing) heatRows(t *Table) {
	t.Head = Heads("messages", "lowest", "most frequent", "highest")
	g := d.heat
	size := (len(g.counts) + tableRows - 1) / tableRows
	for i := 0; i < len(g.counts); i += size {
		to := min(i+size, len(g.counts))
		sums := make([]int64, len(g.y)-1)
		first, last, mode, total := -1, 0, 0, 0.0
		for j := range sums {
			for _, column := range g.counts[i:to] {
				sums[j] += column[j]
			}
			if sums[j] <= 0 {
				continue
			}
			total += float64(sums[j])
			if last = j; first < 0 {
				first = j
			}
			if sums[j] > sums[mode] {
				mode = j
			}
		}
		row := Row{Name: d.x.unit.between(g.x[i], g.x[to])}
		if first < 0 {
			row.Values = Cells("0", "–", "–", "–")
		} else {
			u := d.y.unit
			row.Values = Cells(quantity.Count(int64(min(total, mostDrawn))), u.words(g.y[first]),
				u.between(g.y[mode], g.y[mode+1]), u.words(g.y[last+1]))
		}
		t.Rows = append(t.Rows, row)
	}
}
