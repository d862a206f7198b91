package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/study"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
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
	p.Circumstances = s.Title + ": " + s.Figure + ", " + plural(r.rounds(), "round", "rounds") +
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
	columns := make([]missed, len(s.Columns))
	limited, of := 0, 0
	for i, c := range r.Plan.Cells {
		at := placeIn(s, c)
		if at < 0 {
			continue
		}
		columns[at].add(missedAt(r.Measured[i]))
		if m := r.Measured[i].Run; m != nil {
			of++
			if !rankable(&m.Run) {
				limited++
			}
		}
	}
	p.Faults = missedRows(", all rounds", columns)
	var warned []result.Warning
	if limited > 0 {
		warned = append(warned, result.Warning{Code: verdict.Generator,
			Sentence: fmt.Sprintf("%d of %s are not ranked", limited, plural(of, "run", "runs"))})
	}
	p.Limits = gravest(studyLimits(r, warned))
	return p
}

// studyLimits adds the warnings below a study, and what it cannot repeat, to those of its picture.
func studyLimits(r StudyResult, warned []result.Warning) []result.Warning {
	below, _ := r.warnings()
	for i, sentence := range r.warningSentences() {
		warned = append(warned, result.Warning{Code: below[i].Code, Sentence: sentence})
	}
	for _, sentence := range r.Study.Missing {
		warned = append(warned, result.Warning{Sentence: sentence})
	}
	return warned
}

// placeIn returns the column of a table in which a cell is; -1: in none.
func placeIn(s study.Standing, c study.Cell) int {
	if c.Table != s.Table {
		return -1
	}
	for _, row := range s.Rows {
		at := slices.IndexFunc(row.Places, func(p study.Stand) bool { return p.At == c.At })
		if at >= 0 {
			return at
		}
	}
	return -1
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
func hasPoster(all []StudyResult) bool { return len(all) == 1 && all[0].Study.Ranks() }
