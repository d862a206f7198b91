package document

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// entry names what a colour or a sign of a chart stands for.
type entry struct{ swatch, words string }

// The size of a swatch in pixels.
const swatchWidth, swatchHeight = 22.0, 12.0

// legend names the series. One line needs no name; a heat grid has its range of counts.
func (d *drawing) legend() []entry {
	var out []entry
	seen := map[string]bool{}
	for _, s := range d.series {
		e := entry{s.swatch(), s.Name}
		if s.Name == "" || seen[e.swatch+e.words] {
			continue
		}
		seen[e.swatch+e.words] = true
		out = append(out, e)
	}
	if d.heat != nil {
		var ramp strings.Builder
		for i := range heatShades {
			ramp.WriteString(`<path class="heat h` + number(float64(i)) + `" d="M` +
				number(float64(i)*swatchWidth/heatShades) + ` 1h` +
				number(swatchWidth/heatShades) + `v10h-` + number(swatchWidth/heatShades) + `z"/>`)
		}
		out = append(out, entry{ramp.String(), "1 to " + quantity.Count(d.heat.most) + " messages"})
	}
	if len(out) == 1 && d.heat == nil && len(d.chart.Series) == 1 {
		return nil
	}
	if left := len(d.chart.Series) - mostSeries; left > 0 {
		out = append(out, entry{"", quantity.Count(int64(left)) + " more are not drawn"})
	}
	return out
}

// swatch is the sign of a series: a stroke, a dot, or the cross and tone that all its marks
// share.
func (s *Series) swatch() string {
	class := "dot " + colorClass(s.Color)
	cross := false
	if len(s.Marks) > 0 {
		first, same, crosses := s.Marks[0].Tone, true, true
		for _, m := range s.Marks {
			same, crosses = same && m.Tone == first, crosses && m.Cross
		}
		if same && first != "" {
			class = "dot " + first.class()
		}
		cross = crosses
	}
	if s.Faint {
		class += " hollow"
	}
	line := `<path class="` + s.class() + `" d="M0 6h22"/>`
	switch {
	case s.Alone && cross:
		return `<g class="` + class + `"><path class="cross" d="M7 2l8 8m0 -8l-8 8"/></g>`
	case s.Alone:
		return `<g class="` + class + `"><circle cx="11" cy="6" r="4"/></g>`
	case s.Dots && ascending(s.X):
		return line + `<g class="` + class + `"><circle cx="11" cy="6" r="3"/></g>`
	}
	return line
}

// legendList is the legend as a list of a page.
func (d *drawing) legendList() string {
	entries := d.legend()
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(`<ul class="keys">`)
	for _, e := range entries {
		b.WriteString("<li>")
		if e.swatch != "" {
			b.WriteString(`<svg class="swatch" width="22" height="12" aria-hidden="true">` +
				e.swatch + `</svg>`)
		}
		b.WriteString(escape(e.words) + "</li>")
	}
	b.WriteString("</ul>")
	return b.String()
}

// legendRows writes the legend into a picture of that width, from y downwards, and returns its
// height.
func (d *drawing) legendRows(out *pen, left, y, width float64) (height float64) {
	const row, gap = 20.0, 18.0
	x, rows := 0.0, 0
	entries := d.legend()
	for _, e := range entries {
		words := shorten(e.words, width-swatchWidth-gap)
		space := swatchWidth + 6 + textWidth(words)
		if x > 0 && x+space > width {
			x, rows = 0, rows+1
		}
		top := y + float64(rows)*row
		out.put(`<g class="key" transform="translate(%s %s)">%s<text class="key" x="%s" `+
			`y="10">%s</text></g>`, number(left+x), number(top), e.swatch,
			number(swatchWidth+6), escape(words))
		x += space + gap
	}
	if len(entries) == 0 {
		return 0
	}
	return float64(rows+1) * row
}
