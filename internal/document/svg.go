package document

import (
	"cmp"
	"math"
	"strings"
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
	var out strings.Builder
	class := "drawing"
	if c.Small {
		class += " small"
	}
	out.WriteString(`<div class="` + class + `" tabindex="0" role="group" aria-label="` +
		escape(c.Title) + `">` + d.legendList())
	out.WriteString(`<svg class="` + d.class() + `" width="100%" height="` + number(d.height) +
		`" role="img" aria-label="` + escape(c.Label) + `" data-x="` + d.x.data() +
		`" data-y="` + d.y.data() + `">`)
	d.draw()
	out.WriteString(d.String())
	out.WriteString(`</svg></div>`)
	return out.String()
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
	return strings.ReplaceAll(escape(unit), " ", "_") + " " + form + " " +
		exactNumber(s.place(s.least)) + " " + exactNumber(s.place(s.most)) + " " +
		exactNumber(s.near())
}
