package document

import (
	"bytes"
	"io"
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
		for _, v := range b.Verdicts {
			p.said(v.Outcome, labelWidth, v.Tone.Ink(), v.Name+": "+v.Sentence)
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
