package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// decide decides for each figure whether a difference is shown. In comparisons of equal systems,
// any difference is shown with a probability of at most level. The primary figures have their
// share of the level and the others the rest, each divided by Holm's method ("A Simple
// Sequentially Rejective Multiple Test Procedure", 1979). A family whose figures all show a
// difference passes its share on to the other (Bretz, Maurer, Brannath and Posch, "A Graphical
// Approach to Sequentially Rejective Multiple Test Procedures", 2009; of families: Kordzakhia and
// Dmitrienko, "Superchain Procedures in Clinical Trials with Multiple Objectives", 2013).
func (c *Comparison) decide() {
	primary, others := c.families()
	ofPrimary, ofOthers := shareOf(primary, others)
	for _, family := range []struct {
		effects []*Effect
		alpha   float64
	}{{primary, ofPrimary}, {others, ofOthers}} {
		for _, e := range family.effects {
			e.alpha = family.alpha / float64(len(family.effects))
		}
	}
	if holm(primary, ofPrimary, (*Effect).show) {
		holm(others, level, (*Effect).show)
	} else if holm(others, ofOthers, (*Effect).show) {
		holm(primary, level, (*Effect).show)
	}
}

// families returns the tested figures: the primary ones and the others.
func (c *Comparison) families() (primary, others []*Effect) {
	for i := range c.Figures {
		switch e := &c.Figures[i]; {
		case !e.Tested():
		case c.primary(e.Figure):
			primary = append(primary, e)
		default:
			others = append(others, e)
		}
	}
	return primary, others
}

// shareOf returns the level of each family while the other has shown nothing. A family without
// figures leaves its share to the other.
func shareOf(primary, others []*Effect) (ofPrimary, ofOthers float64) {
	switch {
	case len(primary) == 0:
		return 0, level
	case len(others) == 0:
		return level, 0
	}
	return level * primaryShare, level * (1 - primaryShare)
}

// show marks a difference as shown if it is larger than the figures' resolution and than
// plimsoll's own error.
func (e *Effect) show() {
	if math.Abs(e.Ratio-1) < resolution {
		return
	}
	e.Blurred = e.blurred()
	e.Shown = !e.Blurred
}

// holm finds the significant ones of several differences at a joint level alpha, and reports
// whether all are.
func holm(effects []*Effect, alpha float64, found func(*Effect)) bool {
	ps := make([]float64, len(effects))
	for i, e := range effects {
		ps[i] = e.P
	}
	rejected := stats.Holm(ps, alpha)
	for i, e := range effects {
		if rejected[i] {
			found(e)
		}
	}
	return !slices.Contains(rejected, false)
}

// hint adds the hints: differences that so few runs cannot show, and whatever else a reader must
// know.
func (c *Comparison) hint() {
	if c.Within {
		c.Hints = append(c.Hints, "a side has a single run, so the intervals are of the variation "+
			"within a run and not between runs: a second run may differ by more; take five of "+
			"each (plimsoll run --trials 5)")
		if len(c.Figures) > 0 && c.Figures[0].Times.Exact() && !c.Figures[0].Tested() {
			c.Hints = append(c.Hints,
				fmt.Sprintf("the runs are also too short for intervals within a run: measure for "+
					"%d seconds or more", fewestIntervals))
		}
	} else if c.Pairing == "" && !c.Sequential {
		c.Hints = append(c.Hints, c.tooFew()...)
	}
	_, alike := shares(c.A, c.B)
	c.Hints = append(c.Hints, alike...)
	if sentence, objection := seedsDiffer(c.A, c.B); sentence != "" && !objection {
		c.Hints = append(c.Hints, sentence)
	}
	c.Hints = append(c.Hints, c.instrumentHints()...)
}

// tooFew names the differences that a rank test cannot show from so few runs, however large they
// are, at the thresholds of decide.
func (c *Comparison) tooFew() []string {
	a, b := len(c.A.Runs), len(c.B.Runs)
	primary, others := c.families()
	ofPrimary, ofOthers := shareOf(primary, others)
	least := stats.LeastP(a, b)
	first := ofOthers / float64(max(1, len(others)))
	if len(primary) > 0 {
		first = max(first, ofPrimary/float64(len(primary)))
	}
	names := strings.Join(c.Primary, " and ")
	switch {
	case least > first:
		enough := stats.Evenly(first)
		if c.pairing != "" {
			enough = min(enough, fewestPairs) // then pairs are tested
		}
		return []string{
			fmt.Sprintf("%d runs against %d are too few to show any difference: their least "+
				"possible p is %.2g, and %.2g is needed: take at least %d of each",
				a, b, least, first, enough)}
	case len(others) == 0 || len(primary) == 0:
		return nil
	case least > level/float64(len(others)):
		return []string{fmt.Sprintf("%d runs against %d are too few to show a difference of "+
			"other figures than %s: take at least %d of each", a, b, names, stats.Evenly(
			level/float64(len(others))))}
	case least > ofOthers/float64(len(others)) && !rejected(primary, ofPrimary):
		return []string{
			fmt.Sprintf("%d runs against %d can show differences of other figures only if %s "+
				"differ%s: take at least %d of each to show them by themselves",
				a, b, names, map[bool]string{true: "s"}[len(primary) == 1],
				stats.Evenly(ofOthers/float64(len(others))))}
	}
	return nil
}

// rejected reports whether all of a family's tests reject the hypothesis that there is no
// difference. The difference may still be too small to be shown.
func rejected(effects []*Effect, alpha float64) bool {
	return holm(effects, alpha, func(*Effect) {})
}
