package report

import (
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
)

// studyPoster is the poster of a study with rounds: its first table, without the intervals.
func studyPoster(r StudyResult) *document.Poster {
	p := &document.Poster{Question: r.Study.Question, Grid: true,
		Command: commandOf([][]string{r.Plan.Asked.Command}),
		Source:  sourceWords(r.Plan.Plimsoll, moment(r.Plan.StartedAt))}
	if len(r.Outcome.Standings) == 0 {
		return p
	}
	s := r.Outcome.Standings[0]
	p.Circumstances = s.Title + ": " + s.Figure + ", " + plural(r.Study.Rounds, "round", "rounds") +
		", scale " + r.Plan.Scale + hostWords(r)
	p.Systems = s.Columns
	for _, row := range s.Rows {
		f := document.Figure{Name: strings.Join(row.Labels, ", ")}
		measured := false
		for _, place := range row.Places {
			words, _, _ := strings.Cut(standingCell(s, place).Words, "\n")
			f.Values = append(f.Values, words)
			measured = measured || place.Rounds > 0
		}
		if measured {
			p.Figures = append(p.Figures, f)
		}
	}
	p.Limits = gravest(r.Study.Missing)
	return p
}

// hostWords are the machine that a study ran on, as the end of a sentence.
func hostWords(r StudyResult) string {
	e := r.environment()
	if e == nil {
		return ""
	}
	return ", on " + plural(e.Cores, "core", "cores") + " and " +
		quantity.Bytes(e.MemoryBytes)
}

// hasPoster reports whether studies can be shared as a picture: only a single study with tables of
// its own can.
func hasPoster(all []StudyResult) bool { return len(all) == 1 && all[0].Study.Rounds > 0 }
