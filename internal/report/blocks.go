package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// block is a part of a document.
type block = document.Block

var heads, values = document.Heads, document.Cells

// Report is the report on saved experiments of one kind: a document for people, and formats for
// machines.
type Report struct {
	Document func() document.Document
	Measured []*result.Saved // the runs of a report on runs

	kind    string   // "a verification"
	parts   string   // "each of its rounds": they are runs
	ofParts []string // the formats of those runs
	forms   []form
}

// form is one way to write experiments for machines.
type form struct {
	name  string
	write func(io.Writer) error
}

// forPeople are the formats of every report.
var forPeople = []string{"table", "html", "md"}

// Formats are the names that Write takes.
func (r Report) Formats() []string {
	names := slices.Clone(forPeople)
	for _, f := range r.forms {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report in the named format.
func (r Report) Write(w io.Writer, format string, l document.Layout) error {
	for _, f := range r.forms {
		if f.name == format {
			return f.write(w)
		}
	}
	if slices.Contains(forPeople, format) {
		return document.Write(w, format, r.Document(), l)
	}
	if slices.Contains(r.ofParts, format) {
		names := r.Formats()
		last := len(names) - 1
		return fmt.Errorf("%s is written as %s or %s, not as %s: %s is a run directory that can be",
			r.kind, strings.Join(names[:last], ", "), names[last], format, r.parts)
	}
	return errors.New(strict.Unknown("report format", format, r.Formats()))
}

// Page writes a report as one page.
func (r Report) Page(w io.Writer) error { return document.HTML(w, r.Document()) }

// jsonForm is the format json of a value.
func jsonForm(v any) form {
	return form{"json", func(w io.Writer) error { return document.JSON(w, v) }}
}

// titled begins a report, with a few faint words beside its title.
func titled(id, title, beside string) block {
	return block{Heading: &document.Heading{Level: 1, ID: id, Words: title, Beside: beside}}
}

// heading begins a part of a document.
func heading(level int, words string) block {
	return block{Heading: &document.Heading{Level: level, Words: words}}
}

func paragraph(style document.TextStyle, words string) block {
	return block{Text: &document.Text{Style: style, Words: words}}
}

// addAxis adds an axis to a table of cells: the first names the rows, the others are columns.
func addAxis(t *document.Table, name string) {
	if t.Corner == "" {
		t.Corner = name
		return
	}
	t.Head = append(t.Head, document.Column{Name: name, Words: true})
}

func tabled(t document.Table) block { return block{Table: &t} }

// charted returns a block for each chart.
func charted(all ...*document.Chart) []block {
	var out []block
	for _, c := range all {
		out = append(out, block{Chart: c})
	}
	return out
}

// only restricts a block to an audience.
func only(a document.Audience, b block) block {
	b.For = a
	return b
}

// to is a section for an audience.
func to(a document.Audience, blocks ...block) block { return block{For: a, Section: blocks} }

// nothingToReport is the document of no experiments.
func nothingToReport(title, what string) document.Document {
	return document.Document{Title: title, Blocks: []block{heading(1, "No "+what),
		paragraph(document.Lead, "There is nothing to report.")}}
}

// warned returns the block of warnings before the figures, which are sorted by severity.
func warned(sentences []string) block {
	return block{Warnings: &document.Warnings{Title: "Before you read the figures",
		Sentences: sentences, Fold: true}}
}

// factsOf returns a fact for each nonempty sentence, under one name.
func factsOf(name string, tone document.Tone, sentences ...string) []document.Fact {
	var out []document.Fact
	for _, s := range sentences {
		if s != "" {
			out = append(out, document.Fact{Name: name, Value: s, Tone: tone})
		}
	}
	return out
}

// counts print numbers of messages.
func counts(numbers ...int64) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = quantity.Count(n)
	}
	return out
}

// badIf returns the bad tone if a condition holds, and else none.
func badIf(bad bool) document.Tone {
	if bad {
		return document.Bad
	}
	return ""
}

// toneOf is the tone of a verdict's outcome.
func toneOf(outcome string) document.Tone {
	switch outcome {
	case result.Holds:
		return document.Good
	case result.Broken:
		return document.Bad
	}
	return document.Unsure
}

// repetition is the end of a page: the command and files of the experiment, to repeat it.
func repetition(a result.Asked, whole result.Resolved, of result.Build) []block {
	var folded []block
	for _, c := range []document.Code{
		{Title: "Command", Words: CommandLine(a.Command)},
		{Title: "Workload, with every default", Words: whole.Workload},
		{Title: "Target, with every default", Words: whole.Target},
		{Title: "Workload, as it was given", Words: a.Workload},
		{Title: "Target, as it was given", Words: a.Target},
		{Title: "How it was read", Words: strings.Join(a.Notes, "\n")},
		{Title: "Targets left out", Words: strings.Join(a.LeftOut, "\n")},
	} {
		if strings.TrimSpace(c.Words) != "" {
			folded = append(folded, block{Code: &c})
		}
	}
	out := []block{heading(2, "How to repeat it")}
	if version := strings.TrimSpace(of.Version + " " + of.Commit + " " + of.Go); version != "" {
		out = append(out, paragraph("", "Measured with plimsoll "+version+"."))
	}
	if len(a.Command) > 0 {
		out = append(out, block{Code: &document.Code{Words: CommandLine(a.Command)}})
		folded = folded[1:]
	}
	if len(folded) > 0 {
		out = append(out, block{Details: &document.Details{Summary: "As it was asked",
			Blocks: folded}})
	}
	return []block{to(document.OnPage, out...)}
}

// misleading is the end of each page: how its figures could mislead. Each text has its
// statement first.
func misleading(texts ...[2]string) block {
	var all []block
	for _, t := range texts {
		all = append(all, block{Text: &document.Text{Begin: t[0], Words: t[1]}})
	}
	return to(document.OnPage, heading(2, "How this could mislead"), block{Row: all})
}

// CommandLine is a command as a shell reads it.
func CommandLine(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.ContainsFunc(w, quoted) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// quoted reports whether a rune may have a special meaning in a shell.
func quoted(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._/=:,@%+-", r)
}

// lower does the opposite of upper.
func lower(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// upper capitalizes the first letter of a phrase.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
