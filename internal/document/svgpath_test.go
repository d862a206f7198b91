package document

import (
	"math"
	"strings"
	"testing"
)

// A value between two gaps is drawn, also in a line with a pattern, whose ends are cut off.
func TestIsolatedValuesAreDots(t *testing.T) {
	gap := math.NaN()
	xs := Values{0, 1, 2, 3, 4, 5, 6}
	for _, dash := range []int{0, 2} {
		c := &Chart{X: Axis{Unit: Seconds}, Y: Axis{Unit: Count}, Series: []Series{{Dash: dash, X: xs,
			Y: Values{5, gap, 7, gap, 1, 2, gap}}}}
		got := c.SVG()
		_, path, found := strings.Cut(got, `<path class="lone c0" d="`)
		path, _, _ = strings.Cut(path, `"`)
		if !found || strings.Count(path, "M") != 2 {
			t.Errorf("dash %d: 2 of 7 values are isolated, and %q is drawn", dash, path)
		}
	}
	whole := &Chart{Series: []Series{{X: xs, Y: Values{1, 2, 3, 4, 5, 6, 7}}}}
	if got := whole.SVG(); strings.Contains(got, "lone") {
		t.Errorf("a line without gaps has dots: %s", got)
	}
}

// A line of very many values is a band that keeps the extremes of each stretch and all gaps that
// are as long as one, and stays small.
func TestManyValuesAreABandWithItsExtremes(t *testing.T) {
	const n = 10_000
	c := &Chart{X: Axis{Unit: Seconds}, Y: Axis{Unit: Nanos, Scale: Log}}
	for line := range 6 {
		s := Series{Color: line, Dash: line % 3}
		for i := range n {
			y := 1e6 * (2 + math.Sin(float64(i*7919)))
			switch {
			case i == 7_777:
				y = 9e9
			case i == 1_234:
				y = 1_000
			case i >= 4_000 && i < 4_500:
				y = math.NaN()
			}
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, y)
		}
		c.Series = append(c.Series, s)
	}
	svg := c.SVG()
	if most := 80_000; len(svg) > most || strings.Count(svg, `class="line `) != 6 ||
		strings.Count(svg, ` many"`) != 6 {
		t.Fatalf("%d bytes, at most %d:\n%.3000s", len(svg), most, svg)
	}
	d := newDrawing(c, pen{fluid: true, width: stretched, height: plotHeight}, fluidTiers)
	band := d.band(&c.Series[0])
	for _, i := range []int{7_777, 1_234} {
		v := d.vertex(&c.Series[0], i)
		if point := string(pair(nil, d.px(v.x), d.py(v.y))); !strings.Contains(band, point) {
			t.Errorf("the band does not reach value %d at %s", i, point)
		}
	}
	if parts := strings.Count(band, "Z"); parts != 2 {
		t.Errorf("the band has %d parts, beside one gap", parts)
	}
}
