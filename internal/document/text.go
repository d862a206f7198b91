package document

import (
	"bytes"
	"io"
	"slices"
	"strings"
)

const (
	labelWidth   = 12 // of the labels at the start of lines
	defaultWidth = 80
)

// Layout is the form of a terminal.
type Layout struct {
	Width int // 0: 80; from 40 to 120 are used
	Color bool
	Brief bool // of a document that has a brief form, only that
}

// lines collects the lines of a terminal.
type lines struct {
	bytes.Buffer
	width int
	paint Paint
	last  kind // of the block above
}

// kind is the kind of a block, which decides on the space between two blocks.
type kind int

const (
	nothing kind = iota
	aHeading
	someWords
	someFacts
	someVerdicts
	aTable
)

// Terminal writes a document for a terminal.
func Terminal(w io.Writer, d Document, l Layout) error {
	if l.Width <= 0 {
		l.Width = defaultWidth
	}
	p := &lines{width: min(max(l.Width, 40), 120), paint: Paint(l.Color)}
	blocks := d.Blocks
	if l.Brief && len(d.Brief) > 0 {
		blocks = d.Brief
	}
	p.blocks(shown(blocks, terminal))
	_, err := w.Write(p.Bytes())
	return err
}

// line writes text without spaces at its end.
func (p *lines) line(s string) { p.WriteString(strings.TrimRight(s, " ") + "\n") }

// begin leaves a line free before a block of another kind.
func (p *lines) begin(k kind) {
	more := k == p.last && (k == someFacts || k == someWords)
	if p.last != nothing && !more && (p.last != aHeading || k == aHeading) {
		p.line("")
	}
	p.last = k
}

func (p *lines) blocks(all []Block) {
	for _, b := range all {
		p.block(b)
	}
}

func (p *lines) block(b Block) {
	switch {
	case b.Heading != nil:
		p.heading(*b.Heading)
	case b.Text != nil:
		p.begin(someWords)
		p.words(b.Text.Begin+" "+b.Text.Words, map[TextStyle]string{Note: FaintInk,
			Answer: StrongInk}[b.Text.Style])
	case b.Warnings != nil:
		p.warnings(*b.Warnings)
	case b.Verdicts != nil:
		p.begin(someVerdicts)
		width := labelWidth
		for _, v := range b.Verdicts {
			width = max(width, Columns(v.Outcome)+2)
		}
		for _, v := range b.Verdicts {
			p.said(v.Outcome, width, v.Tone.Ink(), v.Name+": "+v.Sentence)
		}
	case b.Facts != nil:
		p.facts(b.Facts)
	case b.Table != nil:
		p.begin(aTable)
		p.table(*b.Table)
	case b.Code != nil:
		p.begin(aTable)
		if title := Clean(b.Code.Title); title != "" {
			p.line(p.paint.As(FaintInk, title))
		}
		for l := range strings.SplitSeq(cleanLines(b.Code.Words), "\n") {
			p.line(l)
		}
	}
	p.blocks(b.Section)
	p.blocks(b.Row)
}

// heading writes a heading, with the words beside it if both fit.
func (p *lines) heading(h Heading) {
	p.begin(aHeading)
	words, beside := Clean(h.Words), Clean(h.Beside)
	if beside != "" && Columns(words)+2+Columns(beside) <= p.width {
		p.line(p.paint.As(StrongInk, words) + "  " + p.paint.As(FaintInk, beside))
	} else {
		p.words(words, StrongInk)
		if beside != "" {
			p.words(beside, FaintInk)
		}
	}
}

func (p *lines) words(sentence, code string) {
	for _, l := range Wrap(sentence, p.width) {
		p.line(p.paint.As(code, l))
	}
}

func (p *lines) warnings(w Warnings) {
	p.begin(nothing)
	p.last = someWords
	code := YellowInk
	if w.Grave {
		code = RedInk
	}
	for _, sentence := range w.Sentences {
		p.said("warning", labelWidth, code, sentence)
	}
}

// said writes a label with a sentence, wrapped.
func (p *lines) said(label string, width int, code, sentence string) {
	label = Clean(label)
	for i, l := range Wrap(sentence, p.width-width) {
		if i > 0 {
			label = ""
		}
		p.line(p.paint.As(FaintInk, Pad(label, width)) + p.paint.As(code, l))
	}
}

// facts writes facts with their values below one another; a name is not repeated.
func (p *lines) facts(all []Fact) {
	p.begin(someFacts)
	width := labelWidth
	for _, f := range all {
		width = max(width, min(Columns(Clean(f.Name))+2, p.width/3))
	}
	before := ""
	for _, f := range all {
		name := Cut(Clean(f.Name), width-1)
		if name == before {
			name = ""
		} else {
			before = name
		}
		p.said(name, width, f.Tone.Ink(), f.Value)
	}
}

const (
	columnGap  = 2  // between the columns of a table
	leastNames = 20 // the width to which names shrink before columns of figures are dropped
	leastWords = 10 // the width to which a column of words shrinks at most
)

// fitted is a table as a terminal has it.
type fitted struct {
	names  int // the width of the names
	head   []Column
	widths []int
	shown  []int // the places of the columns that fit
	words  bool
}

// wordy reports whether a column holds words, which wrap.
func (g *fitted) wordy(i int) bool { return g.words || g.head[i].Words }

func (g *fitted) total() int {
	out := g.names
	for _, i := range g.shown {
		out += columnGap + g.widths[i]
	}
	return out
}

// newFitted measures the cells of a table.
func newFitted(t Table) *fitted {
	g := &fitted{names: Columns(Clean(t.Corner)), head: t.Head, words: t.Words}
	for i, c := range t.Head {
		g.widths = append(g.widths, Columns(Clean(c.Name)))
		g.shown = append(g.shown, i)
	}
	for _, r := range t.Rows {
		g.names = max(g.names, Columns(Clean(r.Name)))
		for i, v := range r.Values[:min(len(r.Values), len(g.widths))] {
			for l := range strings.SplitSeq(v.Words, "\n") {
				g.widths[i] = max(g.widths[i], Columns(Clean(l)))
			}
		}
	}
	return g
}

// fit narrows long names beside figures, drops columns of figures, the least important first,
// narrows columns of words, and at last drops columns until the table fits.
func (g *fitted) fit(width int) {
	if much := g.total() - width; much > 0 && g.names > leastNames && !g.words {
		g.names = max(g.names-much, leastNames)
	}
	for g.total() > width && g.drop(false) {
	}
	for g.total() > width && g.narrow() {
	}
	for g.total() > width && g.drop(true) {
	}
	g.names = min(g.names, max(width, leastWords))
}

// drop leaves out the least important column; unless any is allowed, only when others are more
// important or it has figures and is not the only one.
func (g *fitted) drop(any bool) bool {
	least, at := 0, -1
	for k, i := range g.shown {
		if !any && g.wordy(i) {
			continue
		}
		if at < 0 || g.head[i].Keep <= least {
			least, at = g.head[i].Keep, k
		}
	}
	if at < 0 || len(g.shown) < 2 {
		return false
	}
	g.shown = slices.Delete(g.shown, at, at+1)
	return true
}

// narrow makes the widest column of words one character narrower.
func (g *fitted) narrow() bool {
	widest := &g.names
	for _, i := range g.shown {
		if g.wordy(i) && g.widths[i] > *widest {
			widest = &g.widths[i]
		}
	}
	if *widest <= leastWords {
		return false
	}
	*widest--
	return true
}

// table writes a table whose columns fit the terminal.
func (p *lines) table(t Table) {
	if title := Clean(t.Title); title != "" && title != Clean(t.Corner) {
		p.words(title, FaintInk)
	}
	if len(t.Rows) == 0 {
		p.words(t.Empty, "")
		return
	}
	g := newFitted(t)
	g.fit(p.width)
	head := Row{Name: t.Corner}
	for _, c := range t.Head {
		head.Values = append(head.Values, Cell{Words: c.Name})
	}
	if t.Corner != "" || slices.ContainsFunc(t.Head, func(c Column) bool { return c.Name != "" }) {
		p.row(g, head, FaintInk)
	}
	for i, r := range t.Rows {
		if section := t.Starts(i); section != "" {
			p.words(section, FaintInk)
		}
		p.row(g, r, "")
	}
}

// row writes a row; a cell of words may take several lines.
func (p *lines) row(g *fitted, r Row, code string) {
	name := Wrap(r.Name, g.names)
	height := len(name)
	cells := make([][]string, len(g.shown))
	for k, i := range g.shown {
		if i >= len(r.Values) {
			continue
		}
		for l := range strings.SplitSeq(r.Values[i].Words, "\n") {
			if g.wordy(i) {
				cells[k] = append(cells[k], Wrap(l, g.widths[i])...)
			} else {
				cells[k] = append(cells[k], Cut(Clean(l), g.widths[i]))
			}
		}
		height = max(height, len(cells[k]))
	}
	for n := range height {
		text := ""
		if n < len(name) {
			text = name[n]
		}
		line := p.paint.As(code, Pad(text, g.names))
		for k, i := range g.shown {
			text, ink := "", code
			if n < len(cells[k]) {
				text = cells[k][n]
			}
			if i < len(r.Values) && code == "" {
				ink = r.Values[i].Tone.Ink()
			}
			wide := g.widths[i]
			if !g.wordy(i) {
				wide = -wide
			}
			padded := Pad(text, wide)
			if k == len(g.shown)-1 {
				padded = strings.TrimRight(padded, " ")
			}
			line += strings.Repeat(" ", columnGap) + p.paint.As(ink, padded)
		}
		p.line(line)
	}
}
