package part

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Title begins a report, with a few faint words beside its title.
func Title(id, title, beside string) document.Block {
	return document.Block{Heading: &document.Heading{Level: 1, ID: id, Words: title,
		Beside: beside}}
}

// Heading begins a part of a document.
func Heading(level int, words string) document.Block {
	return document.Block{Heading: &document.Heading{Level: level, Words: words}}
}

// Paragraph is a block of text.
func Paragraph(style document.TextStyle, words string) document.Block {
	return document.Block{Text: &document.Text{Style: style, Words: words}}
}

// AddAxis adds an axis to a table of cells: the first names the rows, the others are columns.
func AddAxis(t *document.Table, name string) {
	if t.Corner == "" {
		t.Corner = name
		return
	}
	t.Head = append(t.Head, document.Column{Name: name, Words: true})
}

// Table is a block with a table.
func Table(t document.Table) document.Block { return document.Block{Table: &t} }

// Charts returns a block for each chart.
func Charts(all ...*document.Chart) []document.Block {
	var out []document.Block
	for _, c := range all {
		out = append(out, document.Block{Chart: c})
	}
	return out
}

// Only restricts a block to an audience.
func Only(a document.Audience, b document.Block) document.Block {
	b.For = a
	return b
}

// To is a section for an audience.
func To(a document.Audience, blocks ...document.Block) document.Block {
	return document.Block{For: a, Section: blocks}
}

// Folded is a block that a reader unfolds.
func Folded(summary string, blocks ...document.Block) document.Block {
	return document.Block{Details: &document.Details{Summary: summary, Blocks: blocks}}
}

// Nothing is the document of no experiments.
func Nothing(title, what string) document.Document {
	return document.Document{Title: title, Blocks: []document.Block{Heading(1, "No "+what),
		Paragraph(document.Lead, "There is nothing to report.")}}
}

// Warnings returns the block of warnings before the figures, which are sorted by severity.
func Warnings(sentences []string) document.Block {
	return document.Block{Warnings: &document.Warnings{Title: "Before you read the figures",
		Sentences: sentences, Fold: true}}
}

// Facts returns a fact for each nonempty sentence, under one name.
func Facts(name string, tone document.Tone, sentences ...string) []document.Fact {
	var out []document.Fact
	for _, s := range sentences {
		if s != "" {
			out = append(out, document.Fact{Name: name, Value: s, Tone: tone})
		}
	}
	return out
}

// BadIf returns the bad tone if a condition holds, and else none.
func BadIf(bad bool) document.Tone {
	if bad {
		return document.Bad
	}
	return ""
}

// Tone is the tone of a verdict's outcome.
func Tone(outcome string) document.Tone {
	switch outcome {
	case result.Holds:
		return document.Good
	case result.Broken:
		return document.Bad
	}
	return document.Unsure
}

// Repetition is the end of a page: the command and files of the experiment, to repeat it.
func Repetition(a result.Asked, whole result.Resolved, of result.Build) []document.Block {
	var folded []document.Block
	for _, c := range []document.Code{
		{Title: "Workload, with every default", Words: whole.Workload},
		{Title: "Target, with every default", Words: whole.Target},
		{Title: "Workload, as it was given", Words: a.Workload},
		{Title: "Target, as it was given", Words: a.Target},
		{Title: "How it was read", Words: strings.Join(a.Notes, "\n")},
		{Title: "Targets left out", Words: strings.Join(a.LeftOut, "\n")},
	} {
		if strings.TrimSpace(c.Words) != "" {
			folded = append(folded, document.Block{Code: &c})
		}
	}
	out := []document.Block{Heading(2, "How to repeat it")}
	if version := strings.TrimSpace(of.Version + " " + of.Commit + " " + of.Go); version != "" {
		out = append(out, Paragraph("", "Measured with plimsoll "+version+"."))
	}
	if len(a.Command) > 0 {
		out = append(out,
			document.Block{Code: &document.Code{Words: phrase.CommandLine(a.Command)}})
	}
	if len(folded) > 0 {
		out = append(out, Folded("As it was asked", folded...))
	}
	return []document.Block{To(document.OnPage, out...)}
}

// Misleading is the end of each page: how its figures could mislead. Each text has its
// statement first.
func Misleading(texts ...[2]string) document.Block {
	var all []document.Block
	for _, t := range texts {
		all = append(all, document.Block{Text: &document.Text{Begin: t[0], Words: t[1]}})
	}
	return To(document.OnPage, Heading(2, "How this could mislead"), document.Block{Row: all})
}

// BriefWords bounds a sentence of a brief report, in characters: two lines of a narrow terminal.
const BriefWords = 130

// BriefWarnings is the gravest warning, and the number of the others.
func BriefWarnings(sorted []string) []document.Fact {
	if len(sorted) == 0 {
		return nil
	}
	words := document.CutWords(sorted[0], BriefWords)
	if more := len(sorted) - 1; more > 0 {
		words += fmt.Sprintf(" (and %s)", phrase.Plural(more, "more", "more"))
	}
	return Facts("warning", document.Unsure, words)
}

// Unit splits a printed quantity into its number and its unit.
func Unit(printed string) (string, string) {
	i := strings.IndexFunc(printed,
		func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '-' })
	if i <= 0 {
		return printed, ""
	}
	return printed[:i], phrase.Micro(printed[i:])
}
