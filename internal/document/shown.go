package document

import "slices"

// medium is where a document is shown.
type medium int

const (
	terminal medium = iota
	page
	markdown
)

// reaches reports whether a block for an audience is shown on a medium.
func (a Audience) reaches(m medium) bool {
	switch a {
	case OnTerminal:
		return m == terminal
	case OnPage:
		return m == page
	case AtLength:
		return m != terminal
	case InText:
		return m != page
	case InMarkdown:
		return m == markdown
	}
	return true
}

// shown are the blocks that a medium shows: without those for others, empty ones, and headings
// that nothing follows. Only a page has room for cards, links to headings and drawings; a
// terminal folds nothing, so it leaves out what a reader would have to unfold.
func shown(blocks []Block, m medium) []Block {
	var out []Block
	for _, b := range blocks {
		if !b.For.reaches(m) {
			continue
		}
		switch {
		case b.Details != nil:
			d := *b.Details
			d.Blocks = shown(d.Blocks, m)
			b.Details = &d
			if m == terminal || len(d.Blocks) == 0 {
				continue
			}
		case b.Table != nil:
			t := b.Table.shown(m)
			if b.Table = &t; len(t.Rows) == 0 && t.Empty == "" {
				continue
			}
		}
		b.Section, b.Row = shown(b.Section, m), shown(b.Row, m)
		if m != page {
			b.Cards, b.Contents, b.Chart = nil, nil, nil
		}
		if !b.Empty() {
			out = append(out, b)
		}
	}
	return withoutBareHeadings(out)
}

// Empty reports whether a block holds nothing.
func (b Block) Empty() bool {
	return b.Heading == nil && (b.Text == nil || b.Text.Words == "") &&
		(b.Warnings == nil || len(b.Warnings.Sentences) == 0) && b.Table == nil &&
		b.Chart == nil && (b.Code == nil || b.Code.Words == "") && b.Details == nil &&
		len(b.Verdicts)+len(b.Cards)+len(b.Facts)+len(b.Section)+len(b.Row)+len(b.Contents) == 0
}

// withoutBareHeadings drops headings below the first level with nothing before the next
// heading of their level.
func withoutBareHeadings(blocks []Block) []Block {
	var out []Block
	for _, b := range slices.Backward(blocks) {
		if h := b.Heading; h != nil && h.Level > 1 &&
			(len(out) == 0 || out[len(out)-1].Heading != nil &&
				out[len(out)-1].Heading.Level <= h.Level) {
			continue
		}
		out = append(out, b)
	}
	slices.Reverse(out)
	return out
}

// shown is the table without columns for other media.
func (t Table) shown(m medium) Table {
	if !slices.ContainsFunc(t.Head, func(c Column) bool { return !c.For.reaches(m) }) {
		return t
	}
	out := t
	out.Rows = nil
	out.Head = slices.DeleteFunc(slices.Clone(t.Head),
		func(c Column) bool { return !c.For.reaches(m) })
	for _, r := range t.Rows {
		var values []Cell
		for i, v := range r.Values {
			if i >= len(t.Head) || t.Head[i].For.reaches(m) {
				values = append(values, v)
			}
		}
		r.Values = values
		out.Rows = append(out.Rows, r)
	}
	return out
}
