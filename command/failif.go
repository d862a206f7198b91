package command

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/report/versus"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// failIf are the gates of runs by themselves.
type failIf struct {
	FailIf []string `sep:"none" placeholder:"CONDITION" help:"Exit with 1 when the condition holds of a run, or is not decided: 'publish.p99 > 20ms', 'lost > 0', 'unknown > 0', 'rate < 9k/s'; may be repeated. The objectives of a workload are such conditions too. With either, a run also fails that did not reach the offered rate, that was cold or drifting, or that plimsoll limited. Of a search, the run at its peak is judged."`
}

// gates reads the conditions.
func (f *failIf) gates() ([]compare.Gate, error) {
	return readGates("--fail-if", f.FailIf, func(text string) (compare.Gate, error) {
		g, err := compare.ParseGate(text)
		if err == nil {
			err = g.Absolute()
		}
		return g, err
	})
}

// objectivesOf returns the gates of a workload's objectives.
func objectivesOf(w *workload.Workload) ([]compare.Gate, error) {
	return readGates("objectives of workload "+w.Name, w.Objectives,
		func(text string) (compare.Gate, error) {
			g, err := compare.ParseObjective(text)
			if class := g.Figure.Class; err == nil && class != "" && !w.HasClass(class) {
				err = fmt.Errorf("%s: the workload has no class %s", g.Text, strict.Shorten(class))
			}
			return g, err
		})
}

// passes judges the gates and the objectives of the runs' workload over finished runs, and prints
// the rulings. Without gates and objectives everything passes.
func passes(con console, gates []compare.Gate, w *workload.Workload, runs []*result.Saved,
	asJSON bool) (bool, error) {
	objectives, err := objectivesOf(w)
	if err != nil {
		return false, err
	}
	gates = slices.Concat(gates, objectives)
	if len(gates) == 0 || len(runs) == 0 {
		return true, nil
	}
	out := con.out
	if asJSON {
		out = con.err
	}
	rulings := compare.RuleRuns(gates, runs)
	if err := showFacts(out, versus.GateFacts(rulings)); err != nil {
		return false, err
	}
	return !slices.ContainsFunc(rulings, fails), nil
}

// atPeaks returns the run of each search at its highest stable rate. A search without one fails by
// itself.
func atPeaks(found []*peak.Saved) (runs []*result.Saved, _ error) {
	for _, s := range found {
		stable, _ := s.Ends()
		if stable == nil {
			continue
		}
		run, err := verdict.Read(filepath.Join(s.Dir, stable.Dir))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}
