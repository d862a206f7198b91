package document

import (
	"iter"
	"math"
	"slices"
)

// The bounds of what is drawn, whatever a chart holds.
const (
	mostSeries = 40
	mostSpans  = 200
	mostPoints = 9000 // in a chart
	smallLine  = 110
	mostCells  = 180 // of a heat grid, in either direction
)

// LineGroups is the maximum number of stretches of a long line, which is drawn as a band from the
// least to the greatest value of each. A screen has no room for more.
const LineGroups = 300

// vertex is a point of a series, placed on the axes; x and y are from 0 to 1.
type vertex struct {
	index     int // in the series
	x, y      float64
	low, high float64 // NaN: no interval
	missing   bool    // nothing is drawn here: a gap
}

// vertices are the points of a series in its order, thinned: of many points the least and the
// greatest of each stretch, and those with a mark.
func (d *drawing) vertices(s *Series) []vertex {
	n := min(len(s.X), len(s.Y))
	var out []vertex
	if n <= 2*d.groups() {
		for i := range n {
			out = append(out, d.vertex(s, i))
		}
		return out
	}
	for least, most := range d.extremes(s) {
		out = append(out, least, most)
	}
	for _, m := range s.Marks[:min(len(s.Marks), d.groups())] {
		if m.At >= 0 && m.At < n {
			out = append(out, d.vertex(s, m.At))
		}
	}
	slices.SortFunc(out, func(a, b vertex) int { return a.index - b.index })
	return slices.CompactFunc(out, func(a, b vertex) bool { return a.index == b.index })
}

// vertex is a point of a series. A value outside the scale is a gap.
func (d *drawing) vertex(s *Series, i int) vertex {
	v := vertex{index: i, x: d.x.at(s.X[i]), y: d.y.at(s.Y[i]), low: math.NaN(),
		high: math.NaN()}
	const rim = 1e-9
	v.missing = math.IsNaN(v.x) || math.IsNaN(v.y) || v.x < -rim || v.x > 1+rim
	v.y = inside(v.y)
	if i < len(s.Low) && i < len(s.High) {
		v.low, v.high = inside(d.y.at(s.Low[i])), inside(d.y.at(s.High[i]))
		// An interval may begin below what a logarithmic axis can show.
		if math.IsNaN(v.low) && s.Low[i] <= 0 {
			v.low = 0
		}
	}
	return v
}

// extremes are the least and the greatest point of each stretch of a series: a stall of a second
// stays visible in an hour. In a stretch without any value both are its first point, a gap.
func (d *drawing) extremes(s *Series) iter.Seq2[vertex, vertex] {
	n := min(len(s.X), len(s.Y))
	size := (n + d.groups() - 1) / d.groups()
	return func(yield func(least, most vertex) bool) {
		for from := 0; from < n; from += size {
			least := d.vertex(s, from)
			most := least
			for i := from + 1; i < min(from+size, n); i++ {
				v := d.vertex(s, i)
				if v.missing {
					continue
				}
				if least.missing || s.Y[i] < s.Y[least.index] {
					least = v
				}
				if most.missing || s.Y[i] > s.Y[most.index] {
					most = v
				}
			}
			if !yield(least, most) {
				return
			}
		}
	}
}

// inside keeps a place near the plot: a line may leave the range that an axis was given. NaN stays
// NaN.
func inside(at float64) float64 { return min(max(at, -0.03), 1.03) }

// groups is the maximum number of stretches of a line of this chart.
func (d *drawing) groups() int {
	most := LineGroups
	if d.chart.Small {
		most = smallLine
	}
	lines := max(1, min(len(d.chart.Series), mostSeries))
	return max(20, min(most, mostPoints/2/lines))
}

// many reports whether a line has more points than can be told apart.
func (d *drawing) many(s *Series) bool {
	return !s.Dots && min(len(s.X), len(s.Y)) > 2*d.groups()
}

// band is a line of many points: along the greatest values of all stretches, and back along the
// least. A stretch without any value is a gap.
func (d *drawing) band(s *Series) string {
	var b []byte
	var above, below []vertex
	end := func() {
		command := byte('M')
		slices.Reverse(below)
		for _, v := range append(above, below...) {
			b = pair(append(b, command), d.px(v.x), d.py(v.y))
			command = 'L'
		}
		if len(above) > 0 {
			b = append(b, 'Z')
		}
		above, below = nil, nil
	}
	for least, most := range d.extremes(s) {
		if least.missing {
			end()
			continue
		}
		above, below = append(above, most), append(below, least)
	}
	end()
	return string(b)
}

// path joins the points of a line; where one is missing the line has a gap. lone are the points
// with a gap on both sides, of which the line shows nothing.
func (d *drawing) path(points []vertex) (line, lone string) {
	var b, dots []byte
	open := false
	lastX, lastY := 0.0, 0.0
	for i, v := range points {
		if v.missing {
			open = false
			continue
		}
		x, y := d.px(v.x), d.py(v.y)
		switch {
		case !open:
			b = pair(append(b, 'M'), x, y)
			if i+1 == len(points) || points[i+1].missing {
				dots = append(pair(append(dots, 'M'), x, y), "h0"...)
			}
		case math.Round(x*10) != lastX || math.Round(y*10) != lastY:
			b = pair(append(b, 'L'), x, y)
		}
		open, lastX, lastY = true, math.Round(x*10), math.Round(y*10)
	}
	return string(b), string(dots)
}

func pair(b []byte, x, y float64) []byte {
	b = coordinate(b, x)
	return coordinate(append(b, ' '), y)
}

// grid is a heat grid of bounded size.
type grid struct {
	x, y   Values
	counts [][]int64
	most   int64
}

// newGrid sums up neighbouring cells of a heat grid that is too fine, and leaves out cells without
// edges. It is nil if no cell is left.
func newGrid(h *Heat) *grid {
	if h == nil || len(h.X) < 2 || len(h.Y) < 2 {
		return nil
	}
	columns, rows := min(len(h.Counts), len(h.X)-1), len(h.Y)-1
	wide, high := (columns+mostCells-1)/mostCells, (rows+mostCells-1)/mostCells
	if columns == 0 {
		return nil
	}
	g := &grid{x: edges(h.X[:columns+1], wide), y: edges(h.Y, high)}
	g.counts = make([][]int64, len(g.x)-1)
	for i := range g.counts {
		g.counts[i] = make([]int64, len(g.y)-1)
	}
	for i, column := range h.Counts[:columns] {
		for j, n := range column[:min(len(column), rows)] {
			if cell := &g.counts[i/wide][j/high]; n > 0 && *cell <= math.MaxInt64-n {
				*cell += n
				g.most = max(g.most, *cell)
			}
		}
	}
	if g.most == 0 {
		return nil
	}
	return g
}

// edges keeps every so many edges, and the last.
func edges(all Values, every int) Values {
	var out Values
	for i := 0; i < len(all)-1; i += every {
		out = append(out, all[i])
	}
	return append(out, all[len(all)-1])
}
