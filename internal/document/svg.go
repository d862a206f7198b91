package document

import (
	"cmp"
	_ "embed" // the colours of charts
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// The height of a plot in pixels.
const (
	plotHeight  = 220.0
	heatHeight  = 250.0
	smallHeight = 116.0
)

// tier is a range of widths that shares its words: they do not overlap at the least of them.
type tier struct {
	class string
	width float64
}

var (
	fluidTiers = []tier{{"t1", 236}, {"t2", 500}, {"t3", 860}}
	smallTiers = []tier{{"", 190}}
)

// drawing is a chart while it is drawn.
type drawing struct {
	pen
	chart  *Chart
	x, y   scale
	heat   *grid
	series []*Series // those that are drawn
	spans  []Span
	tiers  []tier
}

// SVG is the markup of a chart for a page: its legend and a drawing that is as wide as its place.
// It needs ChartCSS, and works without any script. A chart with nothing to draw is a sentence.
func (c *Chart) SVG() string {
	p := pen{fluid: true, width: stretched, height: c.height()}
	d := newDrawing(c, p, fluidTiers)
	if c.Small {
		d.tiers = smallTiers
	}
	if words := d.nothing(); words != "" {
		return `<p class="nothing">` + escape(words) + `</p>`
	}
	class := "drawing"
	if c.Small {
		class += " small"
	}
	d.draw()
	return fmt.Sprintf(`<div class="%s" tabindex="0" role="group" aria-label="%s">%s`+
		`<svg class="%s" width="100%%" height="%s" role="img" aria-label="%s" data-x="%s" `+
		`data-y="%s">%s</svg></div>`, class, escape(c.Title), d.legendList(), d.class(),
		number(d.height), escape(c.Label), d.x.data(), d.y.data(), d.String())
}

// class is the style of the drawing: which margins it needs.
func (d *drawing) class() string {
	out := "drawn"
	if d.chart.Y.Title != "" {
		out += " titled"
	}
	if d.hasBands() {
		out += " named"
	}
	if d.chart.X.Title != "" {
		out += " below"
	}
	return out
}

func (c *Chart) height() float64 {
	switch {
	case c.Small:
		return smallHeight
	case c.Heat != nil:
		return heatHeight
	}
	return plotHeight
}

// newDrawing lays out a chart: which of its series are drawn, and the ranges of its axes.
func newDrawing(c *Chart, p pen, tiers []tier) *drawing {
	d := &drawing{pen: p, chart: c, heat: newGrid(c.Heat), tiers: tiers}
	x, y := newExtent(c.X.Scale), newExtent(c.Y.Scale)
	dots := false
	for i := range c.Series[:min(len(c.Series), mostSeries)] {
		s := &c.Series[i]
		if s.extend(&x, &y) {
			d.series = append(d.series, s)
			dots = dots || s.Dots || s.Alone
		}
	}
	if d.heat != nil {
		for _, v := range d.heat.x {
			x.see(v)
		}
		for _, v := range d.heat.y {
			y.see(v)
		}
	}
	d.spans = c.Spans[:min(len(c.Spans), mostSpans)]
	words := false // beside a line down the plot
	for _, s := range d.spans {
		if s.Level {
			y.see(s.From)
		}
		words = words || s.inside()
	}
	if words && y.form == Log && !y.empty() {
		const room = 0.1 // of the height, above all points
		y.see(y.most * math.Pow(y.most/y.least, room))
	}
	d.x, d.y = newScale(c.X, x, false, dots), newScale(c.Y, y, d.heat == nil, false)
	return d
}

// extend widens the extents by the points of a series, and reports whether it has any.
func (s *Series) extend(x, y *extent) bool {
	some := false
	for i := range min(len(s.X), len(s.Y)) {
		if !placed(x.form, s.X[i]) || !placed(y.form, s.Y[i]) {
			continue
		}
		some = true
		x.see(s.X[i])
		y.see(s.Y[i])
		if i < len(s.Low) && i < len(s.High) {
			y.see(s.Low[i])
			y.see(s.High[i])
		}
	}
	return some
}

// nothing returns the reason why there is nothing to draw, or "".
func (d *drawing) nothing() string {
	if len(d.series) > 0 || d.heat != nil {
		return ""
	}
	return cmp.Or(d.chart.Empty, "Nothing was recorded that this chart could show.")
}

// data tells the script of the page about an axis.
func (s scale) data() string {
	form := "linear"
	if s.form == Log || s.form == Tail || s.form == Signed {
		form = string(s.form)
	}
	unit := string(s.unit)
	if len(s.names) > 0 {
		unit = "names"
	}
	// The script needs fewer digits than these.
	return fmt.Sprintf("%s %s %.9g %.9g %.9g", strings.ReplaceAll(escape(unit), " ", "_"), form,
		s.place(s.least), s.place(s.most), s.near())
}

var (
	//go:embed assets/chart.css
	chartRules string
	//go:embed assets/chart-light.css
	lightColors string
	//go:embed assets/chart-dark.css
	darkColors string
	// chartScript shows the values of a chart below the pointer and to the keyboard. It serves all
	// charts of a page, also those that are added later.
	//go:embed assets/chart.js
	chartScript string
)

// ChartCSS is the style of charts on a page: their colours in light and in dark, and what they
// look like. A page's attribute data-theme chooses "light" or "dark"; paper is always light.
func ChartCSS() string {
	return ":root {\n" + lightColors + "}\n" + inDark(darkColors) + chartRules
}

// inDark gives rules to pages that are dark: by the theme of the reader's system, or by the
// reader's own choice.
func inDark(rules string) string {
	return "@media screen and (prefers-color-scheme: dark) {\n:root:not([data-theme]) {\n" +
		rules + "}\n}\n@media screen {\n:root[data-theme=\"dark\"] {\n" + rules + "}\n}\n"
}

// The room around the plot of a picture, in pixels.
const (
	pictureLeft   = 70.0
	pictureRight  = 26.0
	pictureBottom = 32.0
)

// sans are the fonts of a picture of its own; a page has others.
const sans = `text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", ` +
	`"Noto Sans", "DejaVu Sans", Arial, sans-serif; }` + "\n"

// alone is a picture with its style.
func alone(width, height float64, label, content string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" `+
		`viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%s">`, number(width), number(height),
		escape(label))
	b.WriteString("\n<style>\n" + sans + "svg {\n" + lightColors + "}\n" +
		"@media (prefers-color-scheme: dark) { svg {\n" + darkColors + "} }\n" + chartRules +
		".key { fill: var(--text); }\n.back { fill: var(--panel); }\n</style>\n")
	fmt.Fprintf(&b, `<rect class="back" width="%s" height="%s"/>`, number(width), number(height))
	b.WriteString(content + "</svg>\n")
	return b.String()
}

// The places of charts in a picture of several.
const (
	drawnWidth  = 600.0 // two stand side by side
	drawnHeight = 360.0
)

// Drawn is a picture of charts, two side by side.
func Drawn(title string, all []*Chart) string {
	p := &pen{}
	for i, c := range all {
		left, top := drawnWidth*float64(i%2), drawnHeight*float64(i/2)
		p.words("key", left+20, top+24, shorten(c.Title, drawnWidth-40))
		c.picture(p, left, top+34, drawnWidth, drawnHeight-44)
	}
	rows := (len(all) + 1) / 2
	return alone(drawnWidth*float64(min(len(all), 2)), drawnHeight*float64(rows), title, p.String())
}

// picture draws legend and plot into a rectangle, and returns the height that it took. A height
// of 0 asks for that of the chart.
func (c *Chart) picture(p *pen, left, top, width, height float64) float64 {
	plotWidth := width - pictureLeft - pictureRight
	d := newDrawing(c, pen{width: plotWidth, height: c.height()}, []tier{{"", plotWidth}})
	if words := d.nothing(); words != "" {
		p.words("key", left+20, top+30, shorten(words, width-40))
		return max(height, 60)
	}
	above := 14.0 + d.legendRows(p, left+pictureLeft, top, plotWidth)
	if c.Y.Title != "" {
		above += 14
	}
	if d.hasBands() {
		above += 14
	}
	below := pictureBottom
	if c.X.Title != "" {
		below += 18
	}
	if height > above+below {
		d.height = height - above - below
	}
	d.draw()
	p.put(`<g class="drawn" transform="translate(%s %s)">`, number(left+pictureLeft),
		number(top+above))
	p.WriteString(d.String())
	p.put("</g>")
	return above + d.height + below
}

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
			fmt.Fprintf(&ramp, `<path class="heat h%d" d="M%s 1h%sv10h-%[3]sz"/>`, i,
				number(float64(i)*swatchWidth/heatShades), number(swatchWidth/heatShades))
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
