package report

import (
	"io"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Runs reports on runs. The page of a run is bounded: time lines longer than a screen are
// thinned so that the least and the greatest value of each stretch are kept.
func Runs(runs []*result.Saved) Report {
	return Report{Measured: runs,
		Document: func() document.Document { return runDocument(runs) },
		forms:    postedForms(runs, func() *document.Poster { return RunsPoster(runs) })}
}

// runForms are the formats of runs for machines.
func runForms(runs []*result.Saved) []form {
	var out []form
	for _, f := range []struct {
		name  string
		write func(io.Writer, []*result.Saved) error
	}{{"csv", CSV}, {"intervals", IntervalsCSV}, {"resources", ResourcesCSV}, {"json", JSON},
		{"benchfmt", Benchfmt}, {"omb", omb.Write}} {
		out = append(out, form{f.name, func(w io.Writer) error { return f.write(w, runs) }})
	}
	return out
}

// postedForms are the formats of runs for machines, and those to share.
func postedForms(runs []*result.Saved, poster func() *document.Poster) []form {
	return append(runForms(runs), posterForms(poster)...)
}

// Formats are the formats that runs are written in.
func Formats() []string { return Report{forms: postedForms(nil, nil)}.Formats() }
