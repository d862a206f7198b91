package document

import (
	"slices"
	"strings"
)

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
