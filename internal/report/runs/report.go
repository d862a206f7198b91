package runs

import (
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Report reports on runs. The page of a run is bounded: time lines longer than a screen are
// thinned so that the least and the greatest value of each stretch are kept.
func Report(runs []*result.Saved) form.Report {
	return form.Report{Measured: runs,
		Document: func() document.Document { return runDocument(runs) },
		Forms:    export.AllForms(runs, func() *document.Poster { return Poster(runs) })}
}
