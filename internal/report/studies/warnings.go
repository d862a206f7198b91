package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// studyWarning is a kind of warning of runs and searches below a study, with the first sentence.
type studyWarning struct {
	result.Warning
	Of     int  `json:"of"` // so many runs and searches
	differ bool // their sentences differ
}

// kindOf is the part of a warning that is equal in warnings of one kind. They differ in their
// figures, and those of a window that moved or of a limit also in what shows it.
func kindOf(w result.Warning) result.Warning {
	if w.Code == verdict.Steady || w.Code == verdict.Generator {
		w.Sentence, _, _ = strings.Cut(w.Sentence, ":")
	}
	return fact.WithoutFigures(w)
}

// warnings are those of the runs and searches below a study, the gravest first, each kind once with
// the number of those that have it.
func (r Result) warnings() (all []studyWarning, of int) {
	var sentences phrase.Grouped[result.Warning, string]
	seen := map[string]bool{}
	for i, m := range r.Measured {
		var own []result.Warning
		switch {
		case m.Run != nil:
			own = fact.Warnings(m.Run)
		case m.Search != nil:
			own = trial.SearchWarnings(m.Search)
		default:
			continue
		}
		if run := r.Plan.Cells[i].Run; run != "" {
			if seen[run] {
				continue // a measurement of several cells
			}
			seen[run] = true
		}
		of++
		told := map[result.Warning]bool{}
		for _, w := range own {
			if key := kindOf(w); !told[key] {
				told[key] = true
				sentences.Add(key, w.Sentence)
			}
		}
	}
	verdict.BySeverity(sentences.Keys)
	for _, key := range sentences.Keys {
		said := sentences.Of[key]
		all = append(all, studyWarning{result.Warning{Code: key.Code, Sentence: said[0]},
			len(said), len(slices.Compact(slices.Sorted(slices.Values(said)))) > 1})
	}
	return all, of
}

// warningSentences are the warnings below a study in words.
func (r Result) warningSentences() (out []string) {
	all, of := r.warnings()
	for _, w := range all {
		example := ""
		if w.differ {
			example = ", for example"
		}
		out = append(out, fmt.Sprintf("%d of %s%s: %s", w.Of,
			phrase.Plural(of, "run or search", "runs and searches"), example, w.Sentence))
	}
	return out
}

// cautions are what comes before the figures of a study: the warnings below it, notes, and what it
// cannot repeat.
func (r Result) cautions(notes ...string) []string {
	var own []string
	for _, o := range r.Plan.Own {
		own = append(own, o.Target)
	}
	if len(own) > 0 {
		notes = append(notes, fmt.Sprintf("%s: servers that plimsoll did not start. It read their "+
			"durability level back, and neither set nor read their other settings, nor warmed "+
			"them up. What is said below of servers on this machine is not about them.",
			strings.Join(own, ", ")))
	}
	return slices.Concat(r.warningSentences(), notes, r.Study.Missing)
}
