package document

import (
	_ "embed" // the colours of charts
	"fmt"
	"strings"
)

var (
	//go:embed assets/chart.css
	chartRules string
	//go:embed assets/chart-light.css
	lightColors string
	//go:embed assets/chart-dark.css
	darkColors string
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

// ChartJS shows the values of a chart below the pointer and to the keyboard. It serves all
// charts of a page, also those that are added later.
func ChartJS() string { return chartScript }

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
