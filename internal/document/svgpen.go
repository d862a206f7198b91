package document

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// pen writes the markup of a plot: the rectangle between the axes.
//
// A fluid plot is as wide as its place on a page. Its lines lie in an inner drawing that is
// stretched, and its words and points stand at a percentage of the width, so that their size
// does not change. A fixed plot has a width in pixels, for pictures that stand alone.
type pen struct {
	strings.Builder
	fluid         bool
	width, height float64 // of the plot in pixels; a fluid plot is stretched from its width
}

// stretched is the width of the inner drawing of a fluid plot.
const stretched = 1000.0

func (p *pen) put(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// across prints a place along the plot, from 0 to 1, as an attribute.
func (p *pen) across(at float64) string {
	if p.fluid {
		return number(at*100) + "%"
	}
	return number(at * p.width)
}

// px and py are a place within a path.
func (p *pen) px(at float64) float64 { return at * p.width }

func (p *pen) py(at float64) float64 { return (1 - at) * p.height }

// paths opens the drawing that holds paths, and returns its closing tag.
func (p *pen) paths() (end string) {
	if !p.fluid {
		p.put("<g>")
		return "</g>"
	}
	p.put(`<svg class="lines" width="100%%" height="%s" viewBox="0 0 %s %[1]s" `+
		`preserveAspectRatio="none">`, number(p.height), number(p.width))
	return "</svg>"
}

// spot opens a drawing whose origin is a point of the plot, and returns its closing tag.
func (p *pen) spot(class string, at, y float64) (end string) {
	if p.fluid {
		p.put(`<svg class="%s" x="%s" y="%s">`, class, p.across(at), number(y))
		return "</svg>"
	}
	p.put(`<g class="%s" transform="translate(%s %s)">`, class, p.across(at), number(y))
	return "</g>"
}

// text writes words at a point of the plot.
func (p *pen) text(class string, at, y float64, words string) {
	p.put(`<text class="%s" x="%s" y="%s">%s</text>`, class, p.across(at), number(y), escape(words))
}

// words writes words at a place in pixels.
func (p *pen) words(class string, x, y float64, words string) {
	p.put(`<text class="%s" x="%s" y="%s">%s</text>`, class, number(x), number(y), escape(words))
}

// rule draws a straight line across the plot or down.
func (p *pen) rule(class string, x0, y0, x1, y1 float64) {
	p.put(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, p.across(x0), number(y0),
		p.across(x1), number(y1))
}

// number prints a coordinate with one digit after the point, or two for a percentage.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0" // no caller has one; a broken drawing would be worse than a misplaced point
	}
	v = math.Round(v*100) / 100
	return strconv.FormatFloat(v+0, 'f', -1, 64)
}

// coordinate is a number of a path: a tenth of a pixel is less than a screen shows.
func coordinate(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.AppendFloat(b, math.Round(v*10)/10+0, 'f', -1, 64)
}

// escape makes any text safe within markup, also as the value of an attribute. Characters that
// XML forbids become spaces.
func escape(s string) string { return html.EscapeString(printable(s, "")) }

// shorten cuts words to a width in pixels, and ends them with an ellipsis.
func shorten(s string, width float64) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	wide, cut, kept := 0.0, 0, 0
	for i, r := range s {
		if wide += runeWidth(r) * fontSize; wide > width {
			if kept < 3 {
				return ""
			}
			return strings.TrimRight(s[:cut], " ") + "…"
		}
		if wide+fontSize <= width {
			cut, kept = i+utf8.RuneLen(r), kept+1
		}
	}
	return s
}
