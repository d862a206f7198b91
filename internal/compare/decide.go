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
	for _, f := range []family{primary, others} {
		for _, e := range f.effects {
			e.alpha = f.first()
		}
	}
	if primary.holm(primary.alpha, (*Effect).show) {
		others.holm(level, (*Effect).show)
	} else if others.holm(others.alpha, (*Effect).show) {
		primary.holm(level, (*Effect).show)
	}
}

// family is figures that share a level.
type family struct {
	effects []*Effect
	alpha   float64 // the level while the other family has shown nothing
}

// first is the level at which the first of the figures must show a difference.
func (f family) first() float64 { return f.alpha / float64(max(1, len(f.effects))) }

// families returns the tested figures: the primary ones and the others. A family without figures
// leaves its share of the level to the other.
func (c *Comparison) families() (primary, others family) {
	for i := range c.Figures {
		switch e := &c.Figures[i]; {
		case !e.Tested():
		case c.primary(e.Figure):
			primary.effects = append(primary.effects, e)
		default:
			others.effects = append(others.effects, e)
		}
	}
	switch {
	case len(primary.effects) == 0:
		others.alpha = level
	case len(others.effects) == 0:
		primary.alpha = level
	default:
		primary.alpha, others.alpha = level*primaryShare, level*(1-primaryShare)
	}
	return primary, others
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

// holm finds the significant differences of a family at a joint level alpha, and reports whether
// all are.
func (f family) holm(alpha float64, found func(*Effect)) bool {
	ps := make([]float64, len(f.effects))
	for i, e := range f.effects {
		ps[i] = e.P
	}
	rejected := stats.Holm(ps, alpha)
	for i, e := range f.effects {
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
	least, first := stats.LeastP(a, b), max(primary.first(), others.first())
	n := float64(len(others.effects))
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
	case n == 0 || len(primary.effects) == 0:
		return nil
	case least > level/n:
		return []string{fmt.Sprintf("%d runs against %d are too few to show a difference of "+
			"other figures than %s: take at least %d of each", a, b, names, stats.Evenly(level/n))}
	case least > others.first() && !primary.rejected():
		return []string{
			fmt.Sprintf("%d runs against %d can show differences of other figures only if %s "+
				"differ%s: take at least %d of each to show them by themselves",
				a, b, names, map[bool]string{true: "s"}[len(primary.effects) == 1],
				stats.Evenly(others.first()))}
	}
	return nil
}

// rejected reports whether all of a family's tests reject the hypothesis that there is no
// difference. The difference may still be too small to be shown.
func (f family) rejected() bool { return f.holm(f.alpha, func(*Effect) {}) }
