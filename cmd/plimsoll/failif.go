package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/report"
	"github.com/plimsoll-bench/plimsoll/result"
)

// failIf are the gates of runs by themselves.
type failIf struct {
	FailIf []string `sep:"none" placeholder:"CONDITION" help:"Exit with 1 when the condition holds of a run, or is not decided: 'publish.p99 > 20ms', 'lost > 0', 'unknown > 0', 'rate < 9k/s'; may be repeated. Then a run also fails that did not reach the offered rate, or that plimsoll limited."`
}

// gates reads the conditions.
func (f *failIf) gates() ([]compare.Gate, error) {
	gates, err := parseGates(f.FailIf)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, g := range gates {
		if err := g.Absolute(); err != nil {
			errs = append(errs, fmt.Errorf("--fail-if: %w", err))
		}
	}
	return gates, errors.Join(errs...)
}

// passes judges the gates over finished runs, and prints the rulings and the last sentence on the
// runs. Without gates everything passes.
func passes(con console, gates []compare.Gate, runs []*result.Saved, asJSON bool) (bool, error) {
	if len(runs) == 0 {
		return true, nil
	}
	passed := true
	if len(gates) > 0 {
		out := con.out
		if asJSON {
			out = con.err
		}
		rulings := compare.RuleRuns(gates, runs)
		if err := showFacts(out, report.GateFacts(rulings)); err != nil {
			return false, err
		}
		passed = !slices.ContainsFunc(rulings, fails)
	}
	if last := report.Closing(runs); last != "" {
		fmt.Fprintln(con.err, last)
	}
	return passed, nil
}
