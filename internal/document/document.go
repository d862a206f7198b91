package document

import (
	"fmt"
	"io"
	"slices"
)

// Document is one report: a title and its blocks, in the order in which they are read.
type Document struct {
	Title string `json:"title"` // of the window or of the Markdown document
	// Origin says how a file that is kept was written; Markdown begins with title and origin.
	Origin string  `json:"origin,omitempty"`
	Blocks []Block `json:"blocks"`
	// Brief is what a terminal shows instead of Blocks where it is not asked for everything: the
	// answer and what it rests on, on one screen. None: it shows Blocks.
	Brief []Block `json:"brief,omitempty"`
}

// Block is a part of a document. Exactly one of the pointers and slices is set, beside For.
type Block struct {
	For Audience `json:"for,omitempty"`

	Heading  *Heading   `json:"heading,omitempty"`
	Text     *Text      `json:"text,omitempty"`
	Warnings *Warnings  `json:"warnings,omitempty"`
	Verdicts []Verdict  `json:"verdicts,omitempty"`
	Cards    []Card     `json:"cards,omitempty"`
	Facts    []Fact     `json:"facts,omitempty"`
	Table    *Table     `json:"table,omitempty"`
	Chart    *Chart     `json:"-"`
	Code     *Code      `json:"code,omitempty"`
	Details  *Details   `json:"details,omitempty"`
	Section  []Block    `json:"section,omitempty"`
	Row      []Block    `json:"row,omitempty"` // side by side where there is room
	Contents []Contents `json:"contents,omitempty"`
}

// Audience is who a block is for; the zero value is everybody.
type Audience string

// The audiences.
const (
	OnTerminal Audience = "terminal" // not on a page, and not in Markdown
	OnPage     Audience = "page"     // HTML only
	AtLength   Audience = "length"   // HTML and Markdown, and not a terminal
	InText     Audience = "text"     // a terminal and Markdown, and not a page
	InMarkdown Audience = "markdown" // Markdown only
)

// Heading begins a part. Level is 1 to 3.
type Heading struct {
	Level  int    `json:"level"`
	ID     string `json:"id,omitempty"` // the target of links to it
	Words  string `json:"words"`
	Beside string `json:"beside,omitempty"` // a few faint words on the same line
}

// Text is a paragraph.
type Text struct {
	Style TextStyle `json:"style,omitempty"`
	Begin string    `json:"begin,omitempty"` // stands out at its beginning
	Words string    `json:"words"`
}

// TextStyle is how a paragraph stands out; the zero value does not.
type TextStyle string

// The styles of a paragraph.
const (
	Answer TextStyle = "answer" // the sentence that answers the question of the document
	Lead   TextStyle = "lead"   // the sentence below a heading
	Note   TextStyle = "note"   // how to read what stands beside it
)

// Warnings come before the figures that they restrict.
type Warnings struct {
	Title     string   `json:"title"`
	Grave     bool     `json:"grave,omitempty"` // the figures must not be compared
	Sentences []string `json:"sentences"`
	// Fold is set if pages and Markdown show only the first sentences, and fold the others.
	Fold bool `json:"fold,omitempty"`
}

// open is the number of warnings that a page shows.
const open = 3

// Open are the sentences that a page shows.
func (w Warnings) Open() []string {
	if w.Fold {
		return w.Sentences[:min(open, len(w.Sentences))]
	}
	return w.Sentences
}

// Folded are the sentences that a page folds.
func (w Warnings) Folded() []string { return w.Sentences[len(w.Open()):] }

// Tone is what an outcome means for the reader; the zero value means nothing.
type Tone string

// The tones.
const (
	Good   Tone = "good"
	Bad    Tone = "bad"
	Unsure Tone = "unsure"
	Main   Tone = "main" // the main result
)

// Verdict is a judgement, with its outcome in a word.
type Verdict struct {
	Tone     Tone   `json:"tone,omitempty"`
	Outcome  string `json:"outcome"`
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
}

// Card is a headline figure.
type Card struct {
	Label   string `json:"label"`
	Number  string `json:"number"`
	Unit    string `json:"unit,omitempty"`
	Word    bool   `json:"word,omitempty"` // the number is a text, which may wrap
	Tone    Tone   `json:"tone,omitempty"`
	Details []Fact `json:"details,omitempty"`
}

// Add adds a detail.
func (c *Card) Add(name, value string) {
	c.Details = append(c.Details, Fact{Name: name, Value: value})
}

// Fact is a name with its value: a label with a sentence beside it.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Tone  Tone   `json:"tone,omitempty"`
}

// Contents is a link to a heading of the same document.
type Contents struct {
	ID    string `json:"id"`
	Words string `json:"words"`
}

// Details are blocks that a reader unfolds.
type Details struct {
	Summary string  `json:"summary"`
	Blocks  []Block `json:"blocks"`
}

// Code is text as it was written: a command, a file.
type Code struct {
	Title string `json:"title,omitempty"`
	Words string `json:"words"`
}

// Table has a first column of names.
type Table struct {
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Note   string   `json:"note,omitempty"`
	Bars   string   `json:"bars,omitempty"`   // what bars say; shown where bars can be
	Corner string   `json:"corner,omitempty"` // the head of the column of names
	Head   []Column `json:"head"`
	Rows   []Row    `json:"rows"`
	Empty  string   `json:"empty,omitempty"` // why there are no rows
	Words  bool     `json:"words,omitempty"` // all columns hold words rather than figures
	Runs   bool     `json:"runs,omitempty"`  // each column is a run, in its colour of the charts
}

// Column is the head of a column.
type Column struct {
	For   Audience `json:"for,omitempty"`
	Name  string   `json:"name"`
	Mark  string   `json:"mark,omitempty"`  // below the name, such as the reason not to rank it
	Words bool     `json:"words,omitempty"` // words rather than figures
	// Keep is which columns a narrow terminal shows: those with the greatest, all if it can.
	Keep int `json:"keep,omitempty"`
}

// Heads are heads of columns without more than a name.
func Heads(names ...string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

// Add adds a row.
func (t *Table) Add(name string, values ...string) {
	t.Rows = append(t.Rows, Row{Name: name, Values: Cells(values...)})
}

// Row is a row of a table. A section of neighbouring rows has a head of its own.
type Row struct {
	Section string `json:"section,omitempty"`
	Name    string `json:"name"`
	Link    string `json:"link,omitempty"` // of the name, relative to the page
	Values  []Cell `json:"values"`
}

// Cell is a value; lines are parted by \n.
type Cell struct {
	Words string `json:"words"`
	Tone  Tone   `json:"tone,omitempty"`
	Link  string `json:"link,omitempty"` // relative to the page
	// Bar is the length of a bar below the value, 1 to 100; 0: none.
	Bar int `json:"bar,omitempty"`
}

// Cells are cells without more than words.
func Cells(words ...string) []Cell {
	all := make([]Cell, len(words))
	for i, w := range words {
		all[i].Words = w
	}
	return all
}

// Write writes a document in the named format. The layout is that of a table.
func Write(w io.Writer, format string, d Document, l Layout) error {
	switch format {
	case "table":
		return Terminal(w, d, l)
	case "html":
		return HTML(w, d)
	case "md":
		return Markdown(w, d)
	case "json":
		return JSON(w, d)
	}
	return fmt.Errorf("a document is not written as %q: choose table, html, md or json", format)
}

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
