package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// defaultWidth is the terminal width when nobody says otherwise.
const defaultWidth = 80

// form is one way to write runs.
type form struct {
	name  string
	about string
	write func(io.Writer, []*result.Saved) error
}

var forms = []form{
	{"table", "tables for people, 80 columns", func(w io.Writer, runs []*result.Saved) error {
		return Terminal(w, runs, defaultWidth, false)
	}},
	{"html", "one page with charts that works offline", HTML},
	{"md", "tables for a pull request or a wiki", Markdown},
	{"csv", "one row per run and latency series", CSV},
	{"intervals", "CSV, one row per run and interval", IntervalsCSV},
	{"json", "each run's run.json, in one array", JSON},
	{"benchfmt", "the Go benchmark format, for benchstat", Benchfmt},
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
	names := Formats()
	if near := strict.Nearest(format, names); near != "" {
		return fmt.Errorf("there is no report format %q, did you mean %s? (formats: %s)", format, near, strings.Join(names, ", "))
	}
	return fmt.Errorf("there is no report format %q (formats: %s)", format, strings.Join(names, ", "))
}
