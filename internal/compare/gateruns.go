package compare

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Absolute refuses a gate with a multiple of another side's figure, which a run by itself lacks.
func (g Gate) Absolute() error {
	if g.Relative {
		return fmt.Errorf("%q is a multiple of another run's figure: write a value like 20ms, or "+
			"compare two sets (plimsoll compare A B --fail-if)", strict.Shorten(g.Text))
	}
	return nil
}

// RuleRuns judges gates with absolute bounds over runs by themselves: each run must pass, by its
// own figures. It also fails a run that broke a promise, and one whose figures may not all be
// ranked: it did not finish or reach the offered rate, or plimsoll limited it.
func RuleRuns(gates []Gate, runs []*result.Saved) (out []Ruling) {
	for _, g := range gates {
		out = append(out, g.each(runs))
	}
	out = append(out, BrokenPromises(gates, runs)...)
	for _, s := range runs {
		ranked, why := verdict.RankingByMeasurement(&s.Run) // promises have rulings of their own
		if ranked == verdict.Ranked {
			continue
		}
		v := result.Verdict{Name: why.Code, Sentence: why.Sentence}
		at := slices.IndexFunc(s.Run.Verdicts,
			func(v result.Verdict) bool { return v.Name == why.Code })
		if at >= 0 {
			v = s.Run.Verdicts[at]
		}
		out = append(out, failing(v, s))
	}
	return out
}

// BrokenPromises returns a failed ruling for each promise that runs broke, beside the rulings of
// their gates: a loss fails a gate, whatever else it asks. A gate of lost messages decides by
// itself how many may be lost.
func BrokenPromises(gates []Gate, runs []*result.Saved) (out []Ruling) {
	counts := slices.ContainsFunc(gates, func(g Gate) bool { return g.Figure.Name == figure.Lost })
	for _, s := range runs {
		for _, v := range verdict.BrokenPromises(&s.Run) {
			damaged := s.Run.Ledger.Total().Corrupt > 0
			if v.Name != verdict.Loss || !counts || damaged {
				out = append(out, failing(v, s))
			}
		}
	}
	return out
}

// FailedRuns returns a failed ruling for each run that could not go on.
func (s Side) FailedRuns() (out []Ruling) {
	for _, r := range s.Failed {
		out = append(out, Gate{Text: "runs of " + s.Name}.fails(
			fmt.Sprintf("%s could not go on: %s", runName(r), r.Run.StateReason)))
	}
	return out
}

// failing returns the ruling of a broken verdict.
func failing(v result.Verdict, s *result.Saved) Ruling {
	return Gate{Text: v.Name}.fails(v.Sentence + ", in " + runName(s))
}

// Counts judges the gates of counts, which need no comparison: a count is exact.
func (c *Comparison) Counts(gates []Gate) (out []Ruling) {
	for _, g := range gates {
		if g.Figure.Unit != figure.Messages {
			continue
		}
		if r, err := g.count(c.B.Runs); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// count judges a count in each run, because a count is exact. The error names a run without it. A
// run that left messages unread fails a gate of lost messages, because they may be lost.
func (g Gate) count(runs []*result.Saved) (Ruling, error) {
	for _, s := range runs {
		if _, ok := g.Figure.Span(&s.Run); !ok && !g.unread(s) {
			return Ruling{}, fmt.Errorf("%s: run %s has no account: leave it out, or measure again",
				g.Text, s.Run.ID)
		}
	}
	return g.each(runs), nil
}

// unread reports whether messages that a run left unread keep its number of lost messages unknown.
func (g Gate) unread(s *result.Saved) bool {
	l := s.Run.Ledger
	return g.Figure.Name == figure.Lost && l.Accounted && l.Total().Unread > 0
}

// each judges a figure in each run. A run that does not decide fails the gate.
func (g Gate) each(runs []*result.Saved) Ruling {
	var worst figure.Span
	var at *result.Saved
	for _, s := range runs {
		v, known := g.Figure.Span(&s.Run)
		switch {
		case !known && g.unread(s):
			return g.fails(fmt.Sprintf("%s is not known in %s, which left %s messages unread",
				g.Figure.Name, runName(s), quantity.Count(s.Run.Ledger.Total().Unread)))
		case !known:
			return g.fails(g.Figure.Name + " is not known in " + runName(s))
		}
		if at == nil || g.Above && v.Most > worst.Most || !g.Above && v.Least < worst.Least {
			worst, at = v, s
		}
	}
	surely, may := g.past(worst.Least), g.past(worst.Most)
	if !g.Above {
		surely, may = may, surely
	}
	found := g.Figure.Name + " is " + g.span(worst) + " in " + runName(at) + g.leftOut(at)
	switch {
	case surely:
		return g.fails(found)
	case may:
		return g.fails("not decided: " + found)
	}
	return Ruling{Gate: g.Text, Sentence: "passes: " + found}
}

// past reports whether a value fails the gate.
func (g Gate) past(v float64) bool {
	return v == g.Bound && g.Reaching || v != g.Bound && (v > g.Bound) == g.Above
}

// span prints what is known of a run's figure.
func (g Gate) span(v figure.Span) string {
	switch {
	case v.NotReached():
		return "not reached"
	case !v.Exact():
		return "≥ " + g.print(v.Least)
	}
	return g.print(v.Least)
}

// leftOut says what the count of failed messages leaves out.
func (g Gate) leftOut(s *result.Saved) string {
	c := s.Run.Counters
	if g.Figure.Name != figure.Failed || c.Unknown+c.Unsent == 0 {
		return ""
	}
	return fmt.Sprintf(", which leaves out %s messages that were never answered (unknown) and %s "+
		"that were never sent (unsent)", quantity.Count(c.Unknown), quantity.Count(c.Unsent))
}

func runName(s *result.Saved) string { return "run " + s.Run.ID }
