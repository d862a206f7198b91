package document

import (
	"math"
)

// points draws the points of a series, and the words of its marks.
func (d *drawing) points(s *Series) {
	if !s.Dots && !s.Alone && len(s.Marks) == 0 {
		return
	}
	marks := s.marked()
	for _, v := range d.vertices(s) {
		m, ok := marks[v.index]
		if v.missing || !ok && !s.Dots && !s.Alone {
			continue
		}
		class := "dot " + colorClass(s.Color)
		if m.Tone != "" {
			class = "dot " + m.Tone.class()
		}
		if s.Faint || m.Hollow {
			class += " hollow"
		}
		y := d.py(v.y)
		end := d.spot(class, v.x, y)
		if m.Tip != "" {
			d.put("<title>%s</title>", escape(m.Tip))
		}
		if v.low <= v.high && (s.Dots || s.Alone) {
			low, high := d.py(v.low)-y, d.py(v.high)-y
			d.put(`<path class="whisker" d="M0 %sV%sM-4 %[1]sh8M-4 %[2]sh8"/>`, number(low),
				number(high))
		}
		if m.Cross {
			d.put(`<path class="cross" d="M-4.5 -4.5l9 9m0 -9l-9 9"/>`)
		} else {
			d.put(`<circle r="%s"/>`, number(d.radius(s, ok)))
		}
		if m.Above {
			d.put(`<path class="whisker" d="M0 -5v-13m-4 4l4 -4l4 4"/>`)
		}
		d.WriteString(end)
	}
}

// radius of a point: that of a trial, of a cell, or of a joint of a line.
func (d *drawing) radius(s *Series, marked bool) float64 {
	switch {
	case d.chart.Small:
		return 3
	case marked || s.Alone:
		return 4.5
	}
	return 3.2
}

// marked are the marks of a series by the index of their point.
func (s *Series) marked() map[int]Mark {
	out := make(map[int]Mark, len(s.Marks))
	for _, m := range s.Marks {
		out[m.At] = m
	}
	return out
}

// markWords writes the words of marks above their points, where there is room beside the words
// of others and of levels.
func (d *drawing) markWords(t tier, levels []float64) {
	type spot struct{ x, y, width float64 }
	var taken []spot
	for _, y := range levels {
		taken = append(taken, spot{t.width - 60, y, 120})
	}
	for _, s := range d.series {
		if len(s.Marks) == 0 {
			continue
		}
		marks := s.marked()
		for _, v := range d.vertices(s) {
			m, ok := marks[v.index]
			if !ok || m.Words == "" || v.missing {
				continue
			}
			above := 9.0
			if m.Above {
				above = 22
			}
			x, y, width := v.x*t.width, d.py(v.y)-above, textWidth(m.Words)
			free := x-width/2 > -20 && x+width/2 < t.width+14 && y > 0
			for _, o := range taken {
				free = free && (math.Abs(o.x-x) > (o.width+width)/2 || math.Abs(o.y-y) > fontSize)
			}
			if free {
				taken = append(taken, spot{x, y, width})
				d.text("number", v.x, y, m.Words)
			}
		}
	}
}
