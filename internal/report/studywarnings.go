package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// studyWarning is a warning of runs and searches below a study.
type studyWarning struct {
	result.Warning
	Of int `json:"of"` // so many runs and searches
}

// warnings are those of the runs and searches below a study, the gravest first, each once with the
// number of those that have it. Sentences that differ in their figures only are one, with the
// figures of the first.
func (r StudyResult) warnings() (all []studyWarning, of int) {
	var sentences grouped[result.Warning, string]
	seen := map[string]bool{}
	for i, m := range r.Measured {
		var own []result.Warning
		switch {
		case m.Run != nil:
			own = warningsOf(m.Run)
		case m.Search != nil:
			own = searchWarnings(m.Search)
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
			if key := withoutFigures(w); !told[key] {
				told[key] = true
				sentences.add(key, w.Sentence)
			}
		}
	}
	verdict.BySeverity(sentences.keys)
	for _, key := range sentences.keys {
		said := sentences.of[key]
		all = append(all, studyWarning{result.Warning{Code: key.Code, Sentence: said[0]},
			len(said)})
	}
	return all, of
}

// warningSentences are the warnings below a study in words.
func (r StudyResult) warningSentences() (out []string) {
	all, of := r.warnings()
	for _, w := range all {
		out = append(out, fmt.Sprintf("%d of %s: %s", w.Of,
			plural(of, "run or search", "runs and searches"), w.Sentence))
	}
	return out
}

// cautions are what comes before the figures of a study: the warnings below it, notes, and what it
// cannot repeat.
func (r StudyResult) cautions(notes ...string) []string {
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

// ownServers are the clusters of the user's that took the place of targets.
func (r StudyResult) ownServers() []document.Fact {
	var words []string
	for _, o := range r.Plan.Own {
		words = append(words, o.String())
	}
	return factsOf("own servers", "", words...)
}
