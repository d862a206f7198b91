package document

import (
	"math"
	"slices"
	"strconv"
)

// heatShades is the number of shades of a heat grid; a page gives each a colour.
const heatShades = 10

// draw writes the chart, from the background to the foreground.
func (d *drawing) draw() {
	d.bands(func(s Span) bool { return s.Tone == "" })
	for _, t := range d.y.ticks(d.height, true) {
		d.rule("grid", 0, d.py(t.at), 1, d.py(t.at))
		d.put(`<text class="y" x="-8" y="%s">%s</text>`, number(d.py(t.at)+4), escape(t.words))
	}
	if title := d.chart.Y.Title; title != "" {
		// Above the words of the axis, and above the names of phases.
		shift, above := 56, 12
		if d.chart.Small {
			shift = 44
		}
		if d.hasBands() {
			above = 24
		}
		d.put(`<text class="first" x="-8" dx="-%d" y="%d">%s</text>`, shift, -above, escape(title))
	}
	if title := d.chart.X.Title; title != "" {
		d.text("last", 1, d.height+38, title)
	}
	d.perTier((*drawing).timeMarks)
	if d.heat != nil {
		end := d.paths()
		d.heatPaths()
		d.WriteString(end)
	}
	d.bands(func(s Span) bool { return s.Tone != "" })
	d.lines()
	taken := d.levels()
	d.moments()
	d.perTier((*drawing).spanWords)
	for _, s := range d.series {
		d.points(s)
	}
	d.perTier(func(d *drawing, t tier) { d.markWords(t, taken) })
}

// perTier writes the markup that depends on the width of the plot, once for each range of widths.
// Ranges with equal words share it.
func (d *drawing) perTier(write func(*drawing, tier)) {
	written := make([]string, len(d.tiers))
	for i, t := range d.tiers {
		part := *d
		part.pen = pen{fluid: d.fluid, width: d.width, height: d.height}
		write(&part, t)
		written[i] = part.String()
	}
	for i := 0; i < len(d.tiers); {
		classes, to := d.tiers[i].class, i+1
		for ; to < len(d.tiers) && written[to] == written[i]; to++ {
			classes += " " + d.tiers[to].class
		}
		switch {
		case written[i] == "":
		case to-i == len(d.tiers):
			d.WriteString(written[i])
		default:
			d.put(`<g class="%s">%s</g>`, classes, written[i])
		}
		i = to
	}
}

// hasBands reports whether words stand above the plot.
func (d *drawing) hasBands() bool {
	return !d.chart.Small && slices.ContainsFunc(d.spans, func(s Span) bool {
		return s.band() && s.Tone == "" && s.Words != ""
	})
}

func (s Span) band() bool { return !s.Level && s.From < s.To }

// inside reports whether the words of a span stand within the plot, beside its line.
func (s Span) inside() bool { return !s.Level && s.Words != "" && (!s.band() || s.Tone != "") }

// bands shades stretches of the horizontal axis.
func (d *drawing) bands(wanted func(Span) bool) {
	for _, s := range d.spans {
		if !s.band() || !wanted(s) {
			continue
		}
		from, to := clamp(d.x.at(s.From)), clamp(d.x.at(s.To))
		if math.IsNaN(from) && s.From <= d.x.least {
			from = 0
		}
		if !(from < to) {
			continue
		}
		d.put(`<rect class="band %s" x="%s" y="0" width="%s" height="%s">`, s.Tone.class(),
			d.across(from), d.across(to-from), number(d.height))
		if s.Words != "" {
			d.put("<title>%s</title>", escape(s.Words))
		}
		d.put("</rect>")
	}
}

// class is the style of a tone.
func (t Tone) class() string {
	switch t {
	case Good, Bad, Unsure:
		return string(t)
	}
	return "plain"
}

// clamp keeps a place within the plot; NaN stays NaN.
func clamp(at float64) float64 { return min(max(at, 0), 1) }

// timeMarks are the marks of the horizontal axis, and the names of the stretches above it.
func (d *drawing) timeMarks(t tier) {
	for _, mark := range d.x.ticks(t.width, false) {
		d.rule("grid", mark.at, 0, mark.at, d.height)
		half, class := textWidth(mark.words)/2, "x"
		switch at := mark.at * t.width; {
		case t.width-at < half-12:
			class = "x last"
		case at < half-30:
			class = "x first"
		}
		d.text(class, mark.at, d.height+18, mark.words)
	}
	end := 0.0
	for _, s := range d.spans {
		if !s.band() || s.Tone != "" || s.Words == "" || d.chart.Small {
			continue
		}
		from, to := clamp(d.x.at(s.From)), clamp(d.x.at(s.To))
		if at := from*t.width + 4; to*t.width-at >= textWidth(s.Words) && at >= end {
			d.text("phase", from, -7, s.Words)
			end = at + textWidth(s.Words) + besideGap
		}
	}
}

// heatPaths draws the cells of each shade as one path.
func (d *drawing) heatPaths() {
	paths := make([][]byte, heatShades)
	for i, column := range d.heat.counts {
		x0, x1 := clamp(d.x.at(d.heat.x[i])), clamp(d.x.at(d.heat.x[i+1]))
		for j, n := range column {
			y0, y1 := clamp(d.y.at(d.heat.y[j])), clamp(d.y.at(d.heat.y[j+1]))
			if n <= 0 || !(x1 > x0) || !(y1 > y0) {
				continue
			}
			b := &paths[shadeOf(n, d.heat.most)]
			*b = pair(append(*b, 'M'), d.px(x0), d.py(y1))
			*b = coordinate(append(*b, 'h'), max(d.px(x1)-d.px(x0), 1))
			*b = coordinate(append(*b, 'v'), d.py(y0)-d.py(y1)+0.4) // without a seam
			*b = coordinate(append(*b, 'H'), d.px(x0))
			*b = append(*b, 'Z')
		}
	}
	for shade, b := range paths {
		if len(b) > 0 {
			d.put(`<path class="heat h%d" d="%s"/>`, shade, b)
		}
	}
}

// shadeOf is the shade of a count: equal steps are equal factors.
func shadeOf(n, most int64) int {
	if most <= 1 {
		return heatShades - 1
	}
	part := math.Log(float64(n)) / math.Log(float64(most))
	return min(max(int(part*heatShades), 0), heatShades-1)
}

// lines draws the lines of all series.
func (d *drawing) lines() {
	end := d.paths()
	for _, s := range d.series {
		if s.Alone || s.Dots && !ascending(s.X) {
			continue
		}
		var path, lone string
		class := s.class()
		if d.many(s) {
			path, class = d.band(s), class+" many"
		} else {
			path, lone = d.path(d.vertices(s))
		}
		if path != "" {
			d.put(`<path class="%s" data-n="%s" d="%s"/>`, class, escape(s.Name), path)
		}
		if lone != "" && !s.Dots {
			d.put(`<path class="lone %s" d="%s"/>`, colorClass(s.Color), lone)
		}
	}
	d.WriteString(end)
}

func ascending(xs Values) bool {
	last := math.Inf(-1)
	for _, x := range xs {
		if !math.IsNaN(x) && x < last {
			return false
		}
		last = max(last, x)
	}
	return true
}

// colorClass is the style of the colour of a series.
func colorClass(color int) string {
	if color < 0 {
		return "grey"
	}
	return "c" + strconv.Itoa(color%Colors)
}

func (s *Series) class() string {
	out := "line " + colorClass(s.Color)
	if s.Faint {
		out += " faint"
	}
	if s.Dash > 0 {
		out += " d" + strconv.Itoa((s.Dash-1)%3+1)
	}
	return out
}

// levels draws lines along the plot, and returns where their words stand.
func (d *drawing) levels() (taken []float64) {
	for _, s := range d.spans {
		at := d.y.at(s.From)
		if !s.Level || math.IsNaN(at) || at < 0 || at > 1 {
			continue
		}
		y := d.py(at)
		d.rule("level "+s.Tone.class(), 0, y, 1, y)
		words := y - 5
		if words < 10 {
			words = y + 14
		}
		class, at := "level last", 1.0
		near := func(other float64) bool { return math.Abs(other-words) < fontSize+2 }
		if slices.ContainsFunc(taken, near) {
			class, at = "level first", 0
		}
		if s.Words != "" {
			d.text(class+" "+s.Tone.class(), at, words, s.Words)
			taken = append(taken, words)
		}
	}
	return taken
}

// moments draws lines down the plot.
func (d *drawing) moments() {
	for _, s := range d.spans {
		at := d.x.at(s.From)
		if s.Level || s.From != s.To || math.IsNaN(at) || at < 0 || at > 1 {
			continue
		}
		d.put(`<g class="moment %s">`, s.class())
		if s.Words != "" {
			d.put("<title>%s</title>", escape(s.Words))
		}
		d.rule("moment", at, 0, at, d.height)
		d.put("</g>")
	}
}

// class is the style of a moment: the colour of its series, or its tone.
func (s Span) class() string {
	if s.Color != nil {
		return "of " + colorClass(*s.Color)
	}
	return s.Tone.class()
}

// spanWords writes the words of moments and of shaded stretches with a tone, beside their
// lines: on the side with more room, and in the first row where no others stand.
func (d *drawing) spanWords(t tier) {
	if d.chart.Small {
		return // their titles have the words
	}
	type taken struct{ from, to float64 }
	var rows [][]taken
	for _, s := range d.spans {
		at := d.x.at(s.From)
		if !s.inside() || math.IsNaN(at) || at < 0 || at > 1 {
			continue
		}
		x, right := at*t.width, at <= 0.5
		room := x - 9
		if right {
			room = t.width - x - 9
		}
		words := shorten(s.Words, room)
		from, class, shift := x-6-textWidth(words), "span last", "-6"
		if right {
			from, class, shift = x+6, "span first", "6"
		}
		to, row := from+textWidth(words), 0
		for row < len(rows) && slices.ContainsFunc(rows[row], func(o taken) bool {
			return from < o.to+6 && to > o.from-6
		}) {
			row++
		}
		const rowHeight = 15.0
		y := 11 + rowHeight*float64(row)
		if words == "" || y > d.height/2 {
			continue
		}
		if row == len(rows) {
			rows = append(rows, nil)
		}
		rows[row] = append(rows[row], taken{from, to})
		d.put(`<text class="%s %s" x="%s" dx="%s" y="%s">%s</text>`, class, s.class(),
			d.across(at), shift, number(y), escape(words))
	}
}

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
