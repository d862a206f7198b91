package report

import (
	"errors"
	"io"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// defaultWidth is the terminal width when none is given.
const defaultWidth = 80

// runForm is one way to write runs.
type runForm struct {
	name  string
	write func(io.Writer, []*result.Saved) error
}

var forms = []runForm{
	{"table", func(w io.Writer, runs []*result.Saved) error {
		return Terminal(w, runs, defaultWidth, false)
	}},
	{"html", HTML},
	{"md", Markdown},
	{"csv", CSV},
	{"intervals", IntervalsCSV},
	{"resources", ResourcesCSV},
	{"json", JSON},
	{"benchfmt", Benchfmt},
	{"omb", omb.Write},
	{"card", posterForm("card")},
	{"card.png", posterForm("card.png")},
	{"post", posterForm("post")},
}

// posterForm writes the poster of runs in one of its forms.
func posterForm(name string) func(io.Writer, []*result.Saved) error {
	return func(w io.Writer, runs []*result.Saved) error {
		all := posterForms(func() *document.Poster { return RunsPoster(runs) })
		i := slices.IndexFunc(all, func(f form) bool { return f.name == name })
		return all[i].write(w)
	}
}

// Formats lists the names that Render takes.
func Formats() []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.name
	}
	return names
}

// Render writes the runs in the named format.
func Render(w io.Writer, format string, runs []*result.Saved) error {
	for _, f := range forms {
		if f.name == format {
			return f.write(w, runs)
		}
	}
	return errors.New(strict.Unknown("report format", format, Formats()))
}
