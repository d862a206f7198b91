package studies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/trial"
	"github.com/plimsoll-bench/plimsoll/result"
)

// warnings are those of the runs and searches below a study, of how many there are.
func (r Result) warnings() (all []fact.Counted, of int) {
	var each [][]result.Warning
	seen := map[string]bool{}
	for i, m := range r.Measured {
		run := r.Plan.Cells[i].Run
		switch {
		case r.Plan.Cells[i].State == experiment.Pending: // interrupted, and made again
		case seen[run]: // a measurement of several cells
		case m.Run != nil:
			each = append(each, fact.Warnings(m.Run))
		case m.Search != nil:
			each = append(each, trial.SearchWarnings(m.Search))
		}
		seen[run] = run != ""
	}
	return fact.Count(each), len(each)
}

// warningSentences are the warnings below a study in words.
func (r Result) warningSentences() (out []string) {
	all, of := r.warnings()
	for _, w := range all {
		out = append(out, w.Among(of, "run or search", "runs and searches"))
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
