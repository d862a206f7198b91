package form

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Report is the report on saved experiments of one kind: a document for people, and formats for
// machines.
type Report struct {
	Document func() document.Document
	Measured []*result.Saved // the runs of a report on runs
	LeftOut  []string        // a sentence for each run that the report lacks

	Kind    string   // "a verification"
	Parts   string   // "each of its rounds": they are runs
	OfParts []string // the formats of those runs
	Forms   []Form
}

// Form is one way to write experiments for machines.
type Form struct {
	Name  string
	Write func(io.Writer) error
}

// forPeople are the formats of every report.
var forPeople = []string{"table", "html", "md"}

// Formats are the names that Write takes.
func (r Report) Formats() []string {
	names := slices.Clone(forPeople)
	for _, f := range r.Forms {
		names = append(names, f.Name)
	}
	return names
}

// Write writes a report in the named format.
func (r Report) Write(w io.Writer, format string, l document.Layout) error {
	for _, f := range r.Forms {
		if f.Name == format {
			return f.Write(w)
		}
	}
	if slices.Contains(forPeople, format) {
		return document.Write(w, format, r.Document(), l)
	}
	if slices.Contains(r.OfParts, format) {
		return fmt.Errorf("%s is written as %s, not as %s: %s is a run directory that can be",
			r.Kind, strict.List("or", r.Formats()...), format, r.Parts)
	}
	return errors.New(strict.Unknown("report format", format, r.Formats()))
}

// Page writes a report as one page.
func (r Report) Page(w io.Writer) error { return document.HTML(w, r.Document()) }

// JSON is the format json of a value.
func JSON(v any) Form {
	return Form{"json", func(w io.Writer) error { return document.JSON(w, v) }}
}

// Poster are the forms to share: a picture as SVG and as PNG, and a short text.
func Poster(poster func() *document.Poster) []Form {
	return []Form{
		{"card", func(w io.Writer) error {
			_, err := io.WriteString(w, poster().SVG())
			return err
		}},
		{"card.png", func(w io.Writer) error {
			png, err := poster().PNG(context.Background())
			if err != nil {
				return err
			}
			_, err = w.Write(png)
			return err
		}},
		{"post", func(w io.Writer) error {
			_, err := io.WriteString(w, poster().Post())
			return err
		}},
	}
}
