package export

import (
	"io"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/omb"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Forms are the formats of runs for machines.
func Forms(runs []*result.Saved) []form.Form {
	var out []form.Form
	for _, f := range []struct {
		name  string
		write func(io.Writer, []*result.Saved) error
	}{{"csv", CSV}, {"intervals", IntervalsCSV}, {"resources", ResourcesCSV}, {"json", JSON},
		{"benchfmt", Benchfmt}, {"omb", omb.Write}} {
		out = append(out, form.Form{Name: f.name,
			Write: func(w io.Writer) error { return f.write(w, runs) }})
	}
	return out
}

// AllForms are the formats of runs for machines, and those to share.
func AllForms(runs []*result.Saved, poster func() *document.Poster) []form.Form {
	return append(Forms(runs), form.Poster(poster)...)
}

// Formats are the formats that runs are written in.
func Formats() []string { return form.Report{Forms: AllForms(nil, nil)}.Formats() }
