package document

import (
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

// LineGroups is the maximum number of stretches of a long line: the least and the greatest value
// of each are drawn. A screen has no room for more.
const LineGroups = 300

// vertex is a point of a series, placed on the axes; x and y are from 0 to 1.
type vertex struct {
	index     int // in the series
	x, y      float64
	low, high float64 // NaN: no interval
	missing   bool    // nothing is drawn here: a gap
}

// vertices are the points of a series in its order, thinned. A value outside the scale is a gap.
func (d *drawing) vertices(s *Series) []vertex {
	n := min(len(s.X), len(s.Y))
	keep := thin(s, n, d.groups())
	out := make([]vertex, 0, len(keep))
	for _, i := range keep {
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
		out = append(out, v)
	}
	return out
}

// inside keeps a place near the plot: a line may leave the range that an axis was given.
func inside(at float64) float64 {
	if math.IsNaN(at) {
		return at
	}
	return min(max(at, -0.03), 1.03)
}

// groups is the maximum number of stretches of a line of this chart.
func (d *drawing) groups() int {
	most := LineGroups
	if d.chart.Small {
		most = smallLine
	}
	lines := max(1, min(len(d.chart.Series), mostSeries))
	return max(20, min(most, mostPoints/2/lines))
}

// thin returns the indices of the points to draw. It divides many points into groups of
// neighbours and keeps the least and the greatest value of each, and points with a mark: a stall
// of a second stays visible in an hour.
func thin(s *Series, n, groups int) []int {
	var out []int
	if n <= 2*groups {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	marked := map[int]bool{}
	for _, m := range s.Marks[:min(len(s.Marks), groups)] {
		marked[m.At] = true
	}
	size := (n + groups - 1) / groups
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		out = append(out, extremes(s, from, to)...)
		for i := from; i < to && len(marked) > 0; i++ {
			if marked[i] && !slices.Contains(out[max(0, len(out)-3):], i) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return out
}

// extremes are the indices of the least and the greatest value, in order. A stretch without
// any value gives its first index, which is a gap.
func extremes(s *Series, from, to int) []int {
	least, most := -1, -1
	for i := from; i < to; i++ {
		if y := s.Y[i]; !math.IsNaN(y) && !math.IsInf(y, 0) {
			if least < 0 || y < s.Y[least] {
				least = i
			}
			if most < 0 || y > s.Y[most] {
				most = i
			}
		}
	}
	switch {
	case least < 0:
		return []int{from}
	case least == most:
		return []int{least}
	}
	return []int{min(least, most), max(least, most)}
}

// path joins the points of a line; where one is missing the line has a gap.
func (d *drawing) path(points []vertex, steps bool) string {
	var b []byte
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
			// A point with a gap on both sides would otherwise not be seen.
			if i+1 == len(points) || points[i+1].missing {
				b = append(b, "h0"...)
			}
		case steps:
			b = coordinate(append(b, 'H'), x)
			b = coordinate(append(b, 'V'), y)
		case math.Round(x*10) != lastX || math.Round(y*10) != lastY:
			b = pair(append(b, 'L'), x, y)
		}
		open, lastX, lastY = true, math.Round(x*10), math.Round(y*10)
	}
	return string(b)
}

func pair(b []byte, x, y float64) []byte {
	b = coordinate(b, x)
	return coordinate(append(b, ' '), y)
}

// area is the band between the ends of the intervals; where one is missing the band has a gap.
func (d *drawing) area(points []vertex) string {
	var b []byte
	for from := 0; from < len(points); {
		to := from
		for to < len(points) && points[to].between() {
			to++
		}
		for i := from; i < to; i++ {
			command := byte('L')
			if i == from {
				command = 'M'
			}
			b = pair(append(b, command), d.px(points[i].x), d.py(points[i].high))
		}
		for i := to - 1; i >= from; i-- {
			b = pair(append(b, 'L'), d.px(points[i].x), d.py(points[i].low))
		}
		if to > from {
			b = append(b, 'Z')
		}
		from = max(to, from+1)
	}
	return string(b)
}

// between reports whether a point has an interval that can be drawn.
func (v vertex) between() bool {
	return !v.missing && v.low <= v.high
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
