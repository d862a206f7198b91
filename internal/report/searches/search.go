package searches

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Report reports on searches for a peak.
func Report(all []*peak.Saved) form.Report { return ReportUntil(all, nil) }

// ReportUntil is Report for peaks that were searched for until they are known; peaks says how
// well they are.
func ReportUntil(all []*peak.Saved, peaks *compare.Known) form.Report {
	type of struct {
		*peak.Saved
		Known *known.JSON `json:"known,omitempty"`
	}
	forJSON := make([]of, len(all))
	for i, s := range all {
		forJSON[i].Saved = s
	}
	if len(all) > 0 {
		forJSON[len(all)-1].Known = known.NewJSON(peaks)
	}
	return form.Report{
		Document: func() document.Document {
			d := searchDocument(all)
			if peaks != nil {
				d.Brief = append(d.Brief, known.Blocks(peaks)...)
				d.Blocks = append([]document.Block{{Section: append([]document.Block{
					part.Heading(1, "Peaks of all rounds")}, known.Blocks(peaks)...)}}, d.Blocks...)
			}
			return d
		},
		Kind: "a search for a peak", Parts: "each of its trials", OfParts: export.Formats(),
		Forms: append([]form.Form{form.JSON(forJSON)},
			form.Poster(func() *document.Poster { return Poster(all) })...),
	}
}

// missingTrials count the messages without a latency of each trial that has such messages.
func missingTrials(s *peak.Saved) []string {
	var out []string
	for i := range s.Trials {
		p := &s.Trials[i]
		for _, sentence := range latency.Missing(result.Summary{Latency: p.Latency}) {
			out = append(out, fmt.Sprintf("trial %d, %s", p.Number, sentence))
		}
	}
	return out
}
