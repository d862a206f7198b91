package document

import (
	"fmt"
	"slices"
	"strings"
)

// Poster is one picture to share: the question, the figures, and the limits of the claim.
type Poster struct {
	Question      string
	Circumstances string   // durability level, rate, size, in a few words
	Systems       []string // in the order of the colours
	Figures       []Figure // the first three are on the picture; the text has them all
	// Faults are counts that a reader must not miss, such as lost messages. The picture and the
	// text have them all.
	Faults []Figure
	Chart  *Chart
	// Grid has the figures as the rows of a table over the whole width, a column for each system,
	// and no chart.
	Grid    bool
	Limits  string // the gravest restriction, as a sentence
	Command string // repeats the measurement
	Source  string // plimsoll's version and the date
}

// Figure is a figure of each system.
type Figure struct {
	Name     string
	Values   []string
	Unranked []bool // the values that must not be ranked with the others; nil: none
}

// notRanked stands beside a value that must not be ranked.
const notRanked = " (not ranked)"

// mark is notRanked, or nothing.
func (f Figure) mark(i int) string {
	if i < len(f.Unranked) && f.Unranked[i] {
		return notRanked
	}
	return ""
}

// The size of a poster, which is that of previews of links.
const (
	posterWidth  = 1200.0
	posterHeight = 630.0

	posterRim    = 44.0
	posterColumn = 400.0 // of the figures
	postedAtMost = 3     // figures on the picture
	namedAtMost  = 4     // systems on the picture
	faultsAtMost = 5     // kinds of faults on the picture
	faultLine    = 24.0  // height of the line of a fault

	bold = 1.16 // how much wider bold words are
)

// posterRules are the sizes of a poster's words.
const posterRules = `.question { font-size: 34px; font-weight: 650; fill: var(--text); }
.long { font-size: 27px; }
.about { font-size: 18px; fill: var(--soft); }
.label { font-size: 16px; fill: var(--soft); }
.big { font-size: 40px; font-weight: 650; fill: var(--text); }
.value { font-size: 20px; font-weight: 600; fill: var(--text); }
.name { font-size: 16px; fill: var(--text); }
.fault { font-size: 17px; font-weight: 650; fill: var(--bad); }
.limit { font-size: 16px; fill: var(--text); }
.command { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: 15px; fill: var(--text); }
.right { text-anchor: end; }
.accent { stroke: var(--accent); stroke-width: 2.2; fill: none; }
.notice { fill: var(--warn); }
.field { fill: var(--shade); }
`

// SVG is the poster as a picture of 1,200 by 630.
func (p *Poster) SVG() string {
	d := &pen{width: posterWidth, height: posterHeight}
	top := p.head(d)
	bottom := p.foot(d)
	if p.Grid {
		p.grid(d, top, bottom)
	} else {
		p.figures(d, top, bottom)
	}
	if p.Chart != nil {
		left := posterRim + posterColumn
		d.words("name", left+24, top+8, shortenTo(p.Chart.Title, 16, posterWidth-left-2*posterRim))
		// The words of a chart are for a page; on a preview they would be too small.
		const larger = 1.2
		d.put(`<g transform="translate(%s %s) scale(%s)">`, number(left), number(top+18),
			number(larger))
		p.Chart.picture(d, 0, 0, (posterWidth-left-posterRim)/larger+pictureRight,
			(bottom-top-26)/larger)
		d.put("</g>")
	}
	return alone(posterWidth, posterHeight, p.Question, "<style>\n"+posterRules+"</style>\n"+
		d.String())
}

// head writes the question and the circumstances, and returns the y at which they end.
func (p *Poster) head(d *pen) (bottom float64) {
	const line, first = 42.0, 66.0
	d.put(`<g class="accent" transform="translate(%s 30)"><circle cx="13" cy="13" r="9"/>`+
		`<path d="M0 13h26"/></g>`, number(posterWidth-posterRim-26))
	const large, small, lines, width = 34, 27, 2, posterWidth - 2*posterRim - 60
	size, class, y := float64(large), "question", first
	if len(wrapTo(p.Question, large*bold, width, lines+1)) > lines {
		size, class = small, "question long"
	}
	for _, words := range wrapTo(p.Question, size*bold, width, lines) {
		d.words(class, posterRim, y, words)
		y += line
	}
	y -= line - 30
	d.words("about", posterRim, y, shortenTo(p.Circumstances, 18, posterWidth-2*posterRim))
	return y + 34
}

// figures writes the faults, and the first figures: large for one system, a row for each of
// several.
func (p *Poster) figures(d *pen, top, bottom float64) {
	const gap, more, block, leastRow, mostRow = 30.0, 16.0, 98.0, 21.0, 25.0
	var faults []string
	for _, f := range p.Faults[:min(len(p.Faults), faultsAtMost)] {
		faults = append(faults, wrapTo(p.faulty(f), 17*bold, posterColumn-20, 2)...)
	}
	room := bottom - top - faultLine*float64(len(faults))
	named := float64(max(min(len(p.Systems), namedAtMost), 1))
	// What must not be missed leaves less room for figures.
	posted := postedAtMost
	row := func() float64 { return (room-more)/float64(posted)/named - gap/named }
	for posted > 0 && row() < leastRow {
		posted--
	}
	y := top + 8
	for _, words := range faults {
		d.words("fault", posterRim, y, words)
		y += faultLine
	}
	for _, f := range p.Figures[:min(len(p.Figures), posted)] {
		d.words("label", posterRim, y, shortenTo(f.Name, 16, posterColumn))
		if len(f.Values) == 1 {
			d.words("big", posterRim, y+44, shortenTo(f.Values[0], 40*bold, posterColumn-20))
			y += min(block, room/postedAtMost)
			continue
		}
		for i := range min(len(f.Values), len(p.Systems), namedAtMost) {
			y += min(row(), mostRow)
			value := shortenTo(f.Values[i], 20*bold, 180)
			left := posterColumn - 76 - textWidth(value)*20*bold/fontSize -
				textWidth(f.mark(i))*16/fontSize
			d.put(`<g class="dot %s"><circle cx="%s" cy="%s" r="5"/></g>`, colorClass(i),
				number(posterRim+6), number(y-5))
			d.words("name", posterRim+22, y, shortenTo(p.Systems[i], 16, left)+f.mark(i))
			d.words("value right", posterRim+posterColumn-44, y, value)
		}
		y += gap
	}
	if left := len(p.Systems) - namedAtMost; left > 0 && posted > 0 {
		d.words("label", posterRim, y-12, fmt.Sprintf("and %d more", left))
	}
}

// faulty names a fault with the count of the only system, or with those of systems that have any.
func (p *Poster) faulty(f Figure) string {
	if len(f.Values) == 1 {
		return f.Name + " " + f.Values[0]
	}
	return f.Name + ": " + p.faultyFrom(f, 0)
}

// faultyFrom returns the counts of the systems from a column on that have any.
func (p *Poster) faultyFrom(f Figure, first int) string {
	var out []string
	for i := first; i < min(len(f.Values), len(p.Systems)); i++ {
		if v := f.Values[i]; v != "0" && v != None {
			out = append(out, p.Systems[i]+" "+v)
		}
	}
	return strings.Join(out, ", ")
}

// foot writes the limits of the claim, the command and the source, and returns the y at which they
// begin.
func (p *Poster) foot(d *pen) (top float64) {
	const line = 22.0
	wide := posterWidth - 2*posterRim
	command := posterHeight - 66.0
	limits := wrapTo(p.Limits, 16, wide-20, 2)
	top = command - 16 - line*float64(len(limits))
	if len(limits) > 0 {
		d.put(`<rect class="notice" x="%s" y="%s" width="4" height="%s"/>`, number(posterRim),
			number(top), number(line*float64(len(limits))-4))
	}
	for i, words := range limits {
		d.words("limit", posterRim+16, top+15+line*float64(i), words)
	}
	if p.Command != "" {
		d.put(`<rect class="field" x="%s" y="%s" width="%s" height="30" rx="5"/>`, number(posterRim),
			number(command), number(wide))
		d.words("command", posterRim+12, command+20, shortenTo(p.Command, 18, wide-24))
	}
	d.words("label right", posterWidth-posterRim, posterHeight-14, shortenTo(p.Source, 16, wide))
	return top
}

// shortenTo cuts words of a font size to a width.
func shortenTo(s string, size, width float64) string { return shorten(s, width*fontSize/size) }

// wrapTo breaks words of a font size into lines of a width, and cuts the rest.
func wrapTo(s string, size, width float64, most int) []string {
	width *= fontSize / size
	var lines []string
	line := ""
	words := strings.Fields(s)
	for i, word := range words {
		longer := strings.TrimSpace(line + " " + word)
		switch {
		case textWidth(longer) <= width || line == "":
			line = longer
		case len(lines) == most-1:
			return append(lines, shorten(line+" "+strings.Join(words[i:], " "), width))
		default:
			lines, line = append(lines, line), word
		}
	}
	if line == "" {
		return lines
	}
	return append(lines, shorten(line, width))
}

// postLength bounds a post, in bytes.
const postLength = 1500

// Post is the poster as a short Markdown text: the question, a table of faults and figures, the
// limits, and the command. It is shorter than 1,500 bytes: figures that do not fit are left out.
func (p *Poster) Post() string {
	const words, systems, figures = 180, 6, 12
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n%s\n\n", plain(p.Question, words), plain(p.Circumstances, words))
	shown := min(len(p.Systems), systems)
	b.WriteString("| |")
	for _, s := range p.Systems[:shown] {
		b.WriteString(" " + plain(s, 24) + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", shown) + "\n")
	tail := p.further(shown)
	if p.Limits != "" {
		tail += "\nWhat limits this: " + plain(p.Limits, words) + "\n"
	}
	if p.Command != "" {
		fence := strings.ReplaceAll(cutTo(Clean(p.Command), words), "```", "'''")
		tail += "\n```\n" + fence + "\n```\n"
	}
	tail += plain(p.Source, 80) + "\n"
	all := slices.Concat(p.Faults, p.Figures)
	for _, f := range all[:min(len(all), figures)] {
		row := "| " + plain(f.Name, 40) + " |"
		for i, v := range f.Values[:min(len(f.Values), shown)] {
			row += " " + plain(v, 24) + f.mark(i) + " |"
		}
		if b.Len()+len(row)+1+len(tail) >= postLength {
			break
		}
		b.WriteString(row + "\n")
	}
	return b.String() + tail
}

// further has the faults of systems that have no column in a post.
func (p *Poster) further(shown int) string {
	var out []string
	for _, f := range p.Faults {
		if words := p.faultyFrom(f, shown); words != "" {
			out = append(out, f.Name+": "+words)
		}
	}
	if len(out) == 0 || len(p.Systems) <= shown {
		return ""
	}
	return "\n" + plain("Further systems. "+strings.Join(out, "; "), 140) + "\n"
}

// plain makes text safe within a line of Markdown, and cuts it to a length in bytes.
func plain(s string, most int) string {
	var b strings.Builder
	for _, r := range Clean(s) {
		b.WriteString(markdownSpecial.Replace(string(r)))
		if b.Len() >= most {
			return b.String() + "…"
		}
	}
	return b.String()
}

// cutTo cuts text to a length in bytes.
func cutTo(s string, most int) string {
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}

// GriddedAtMost bounds the rows of a poster's table; the text has the others.
const GriddedAtMost = 12

// grid writes the figures as a table: a row for each, and a column for each system.
func (p *Poster) grid(d *pen, top, bottom float64) {
	rows := append(slices.Clone(p.Faults),
		p.Figures[:min(len(p.Figures), GriddedAtMost-len(p.Faults))]...)
	const highest = 34.0
	row := min(highest, (bottom-top)/float64(len(rows)+1))
	name, wide := p.columns(rows)
	right, x := make([]float64, len(wide)), posterRim+name
	for i, w := range wide {
		x += w
		right[i] = x
	}
	y := top + row/2
	for i, s := range p.Systems {
		d.words("label right", right[i], y, shortenTo(s, 16, wide[i]-12))
	}
	for k, f := range rows {
		y += row
		class := "value right"
		if k < len(p.Faults) {
			class = "fault right"
		}
		d.words("name", posterRim, y, shortenTo(f.Name, 16, name-4))
		for i, v := range f.Values[:min(len(f.Values), len(p.Systems))] {
			d.words(class, right[i], y, shortenTo(v, 20*bold, wide[i]-12))
		}
	}
}

// The least width of the names of rows, and the greatest unless the columns have room left.
const (
	gridName     = 210.0
	gridNameMost = 460.0
)

// columns returns the width of the names of rows, and those of the columns, which share the rest
// evenly. Longer names get what the columns do not need.
func (p *Poster) columns(rows []Figure) (name float64, wide []float64) {
	const whole = posterWidth - 2*posterRim
	longest := gridName
	wide = make([]float64, len(p.Systems))
	for _, f := range rows {
		longest = max(longest, textWidth(f.Name)*16/fontSize+12)
		for i, v := range f.Values[:min(len(f.Values), len(wide))] {
			wide[i] = max(wide[i], textWidth(v)*20*bold/fontSize+24)
		}
	}
	name = min(longest, gridNameMost)
	even, spare := (whole-name)/float64(max(len(wide), 1)), 0.0
	for i, s := range p.Systems {
		wide[i] = max(wide[i], textWidth(s)*16/fontSize+24)
		spare += max(0, even-wide[i])
	}
	given := min(spare, longest-name)
	for i := range wide {
		wide[i] = even - given/max(spare, 1)*max(0, even-wide[i])
	}
	return name + given, wide
}
