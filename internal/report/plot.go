package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// plot is a drawing of points over a rate. It is made here, not by the page's script, because
// it has no time line to zoom. Its colours are those of the style sheet.
type plot struct {
	width, height float64
	x, y          scale
	bands         []band
	lines         []ruled
	points        []mark
}

// scale is an axis: its title, its range, its form and its marks.
type scale struct {
	least, most float64
	place       func(v float64) float64 // monotonic; nil: linear
	marks       []float64
	words       func(v float64) string
	title       string
}

// at is where a value lies, from 0 to 1.
func (s scale) at(v float64) float64 {
	place := s.place
	if place == nil {
		place = func(v float64) float64 { return v }
	}
	low, high := place(s.least), place(s.most)
	if !(high > low) {
		return 0
	}
	return (place(v) - low) / (high - low)
}

// band is a stretch of x.
type band struct{ from, to float64 }

// ruled is a line through points.
type ruled struct {
	x, y  []float64
	class string
	words string // at its end
}

// mark is a point, with whiskers where low is below high.
type mark struct {
	x, y, low, high float64
	class           string // its colour
	cross           bool   // a cross in place of a dot
	above           bool   // an arrow: the true value lies above
	number          string
	tip             string
}

// The margins of a plot, for the words of its axes.
const (
	marginLeft   = 74.0
	marginRight  = 18.0
	marginTop    = 26.0
	marginBottom = 50.0
)

func (p *plot) px(x float64) float64 {
	return marginLeft + p.x.at(x)*(p.width-marginLeft-marginRight)
}

func (p *plot) py(y float64) float64 {
	return p.height - marginBottom - p.y.at(y)*(p.height-marginTop-marginBottom)
}

// svg draws the plot. Every word in it is escaped.
func (p *plot) svg() template.HTML {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	esc := template.HTMLEscapeString
	right, bottom := p.width-marginRight, p.height-marginBottom
	put(`<svg class="drawn" viewBox="0 0 %.0f %.0f" aria-hidden="true">`, p.width, p.height)
	for _, s := range p.bands {
		if s.from < p.x.least || s.to > p.x.most || s.to < s.from {
			continue
		}
		put(`<rect class="band" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, p.px(s.from),
			marginTop, max(p.px(s.to)-p.px(s.from), 1), bottom-marginTop)
	}
	for _, v := range p.y.marks {
		put(`<path class="grid" d="M%.1f %.1fH%.1f"/><text class="y" x="%.1f" y="%.1f">%s</text>`,
			marginLeft, p.py(v), right, marginLeft-9, p.py(v)+4, esc(p.y.words(v)))
	}
	last := math.Inf(-1)
	for _, v := range p.x.marks {
		put(`<path class="grid" d="M%.1f %.1fV%.1f"/>`, p.px(v), marginTop, bottom)
		if p.px(v)-last > 56 {
			put(`<text class="x" x="%.1f" y="%.1f">%s</text>`, p.px(v), bottom+18,
				esc(p.x.words(v)))
			last = p.px(v)
		}
	}
	put(`<text class="title" x="%.1f" y="%.1f">%s</text>`, right, p.height-8, esc(p.x.title))
	put(`<text class="title first" x="%.1f" y="%.1f">%s</text>`, 4.0, 14.0, esc(p.y.title))
	for _, l := range p.lines {
		p.line(put, l)
	}
	for _, m := range p.points {
		p.mark(put, m)
	}
	p.numbers(put)
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

func (p *plot) line(put func(string, ...any), l ruled) {
	path := "M"
	for i := range l.x {
		if i > 0 {
			path += "L"
		}
		path += fmt.Sprintf("%.1f %.1f", p.px(l.x[i]), p.py(l.y[i]))
	}
	put(`<path class="ruled %s" d="%s"/>`, l.class, path)
	if n := len(l.x); l.words != "" && n > 0 {
		put(`<text class="end" x="%.1f" y="%.1f">%s</text>`, p.px(l.x[n-1])-6, p.py(l.y[n-1])-6,
			template.HTMLEscapeString(l.words))
	}
}

func (p *plot) mark(put func(string, ...any), m mark) {
	x, y := p.px(m.x), p.py(m.y)
	put(`<g class="mark %s"><title>%s</title>`, m.class, template.HTMLEscapeString(m.tip))
	if m.low < m.high {
		low, high := p.py(max(m.low, p.y.least)), p.py(min(m.high, p.y.most))
		put(`<path class="whisker" d="M%.1f %.1fV%.1fM%.1f %.1fh8M%.1f %.1fh8"/>`, x, low, high,
			x-4, low, x-4, high)
	}
	if m.cross {
		put(`<path class="cross" d="M%.1f %.1fl9 9m0 -9l-9 9"/>`, x-4.5, y-4.5)
	} else {
		put(`<circle cx="%.1f" cy="%.1f" r="4.5"/>`, x, y)
	}
	if m.above {
		put(`<path class="whisker" d="M%.1f %.1fv-14m-4 4l4 -4l4 4"/>`, x, y-5)
	}
	put(`</g>`)
}

// numbers writes the trials' numbers above their points, where there is room.
func (p *plot) numbers(put func(string, ...any)) {
	type spot struct{ x, y float64 }
	var taken []spot
	for _, m := range p.points {
		if m.number == "" {
			continue
		}
		x, y := p.px(m.x), p.py(m.y)-10
		free := true
		for _, s := range taken {
			free = free && (math.Abs(s.x-x) > 13 || math.Abs(s.y-y) > 12)
		}
		if free {
			taken = append(taken, spot{x, y})
			put(`<text class="number" x="%.1f" y="%.1f">%s</text>`, x, y, m.number)
		}
	}
}

// linear is a scale between two values with round marks.
func linear(least, most float64, words func(float64) string) scale {
	if !(most > least) {
		most = least + 1
	}
	step := math.Pow(10, math.Floor(math.Log10((most-least)/4)))
	for _, f := range []float64{1, 2, 5, 10} {
		if (most-least)/(step*f) <= 7 {
			step *= f
			break
		}
	}
	s := scale{least: least, most: most, words: words}
	for v := math.Ceil(least/step-1e-9) * step; v <= most*(1+1e-9); v += step {
		s.marks = append(s.marks, v)
	}
	return s
}

// logarithmic is a scale between two values above 0, with marks at powers of
// ten, and at twice and five times each where those are few.
func logarithmic(least, most float64, words func(float64) string) scale {
	s := scale{least: least, most: most, words: words, place: math.Log}
	steps := []float64{1}
	if most/least < 300 {
		steps = []float64{1, 2, 5}
	}
	for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
		for _, f := range steps {
			if v := f * math.Pow(10, e); v >= least*0.999 && v <= most*1.001 {
				s.marks = append(s.marks, v)
			}
		}
	}
	return s
}
