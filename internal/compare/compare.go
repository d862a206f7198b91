package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Of the false alarms that a comparison may raise, 5 in 100 in all, the primary
// figure has 4 and the others together 1.
const (
	level        = 0.05
	primaryShare = 0.8
)

// Side is one of the two sets of runs.
type Side struct {
	Name string
	Runs []*result.Saved
}

// Comparison is what two sets of runs say of one another.
type Comparison struct {
	A, B Side
	// Within is set when a side has a single run: then all intervals are of the
	// variation within runs.
	Within  bool
	Primary string
	Figures []Effect // the primary one first
	// Hints say what the runs cannot show, and what would.
	Hints []string
}

// Effect is how one figure differs between the sets.
type Effect struct {
	Figure Figure
	A, B   Center
	// Ratio is how many times B's figure is A's, with its interval. Low is 0 and
	// High infinite where the runs are too few for one.
	Ratio, Low, High float64
	P                float64 // NaN: not tested
	Shown            bool    // the difference is shown, with all figures together held to the level
}

// Tested reports whether there was enough to test the figure by.
func (e Effect) Tested() bool { return !math.IsNaN(e.P) }

// Detectable is about the least difference that these runs could have shown, as
// a share: half of the interval, and false where that is open.
func (e Effect) Detectable() (float64, bool) {
	if e.Low <= 0 || math.IsInf(e.High, 1) {
		return 0, false
	}
	return math.Sqrt(e.High/e.Low) - 1, true
}

// New compares two sets of runs, neither of which is empty. Values of a run are
// left as they are: whether the sets may be compared is for Objections.
func New(a, b Side, primary Figure) (*Comparison, error) {
	if len(a.Runs) == 0 || len(b.Runs) == 0 {
		return nil, errors.New("one of the two sets has no run")
	}
	c := &Comparison{A: a, B: b, Within: min(len(a.Runs), len(b.Runs)) == 1, Primary: primary.Name}
	names := slices.DeleteFunc(slices.Clone(compared), func(name string) bool { return name == primary.Name })
	for _, name := range append([]string{primary.Name}, names...) {
		f, err := Find(name)
		if err != nil {
			return nil, err
		}
		if e, ok := c.effect(f); ok {
			c.Figures = append(c.Figures, e)
		} else if name == primary.Name {
			c.Hints = append(c.Hints, fmt.Sprintf("%s is not known of every run, so it decides nothing: measure longer, or name another figure by --primary", name))
		}
	}
	c.decide()
	c.hint()
	return c, nil
}

// Medians are the figures of one set of runs that every run has, with their
// centres.
func Medians(runs []*result.Saved) (figures []Figure, centers []Center) {
	for _, name := range compared {
		f, err := Find(name)
		if err != nil {
			continue
		}
		if v, ok := values(runs, f); ok && len(v) > 0 {
			figures, centers = append(figures, f), append(centers, center(v))
		}
	}
	return figures, centers
}

// values are a figure of every run; ok is false when one has none.
func values(runs []*result.Saved, f Figure) (out []float64, ok bool) {
	for _, s := range runs {
		v, known := f.Value(&s.Run)
		if !known || v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// effect compares one figure; ok is false when a run does not have it.
func (c *Comparison) effect(f Figure) (Effect, bool) {
	a, okA := values(c.A.Runs, f)
	b, okB := values(c.B.Runs, f)
	if !okA || !okB {
		return Effect{}, false
	}
	e := Effect{Figure: f, A: center(a), B: center(b), P: math.NaN()}
	if !c.Within {
		e.Ratio, e.Low, e.High = rankRatio(a, b, (1-confidence)/2)
		e.P = rankP(a, b)
		return e, true
	}
	e.Ratio, e.High = e.B.Median/e.A.Median, math.Inf(1)
	ofA, okA := together(c.A.Runs, f)
	ofB, okB := together(c.B.Runs, f)
	if !okA || !okB {
		return e, true
	}
	for _, side := range []struct {
		center *Center
		within Within
	}{{&e.A, ofA}, {&e.B, ofB}} {
		side.center.Low, side.center.High = side.within.Interval(side.center.Median, (1-confidence)/2)
		side.center.Confidence = confidence
	}
	both := join(ofA, ofB)
	e.Low, e.High = both.Interval(e.Ratio, (1-confidence)/2)
	e.P = math.Min(1, 2*(1-stats.TDist{V: both.dof}.CDF(math.Abs(math.Log(e.Ratio))/both.se)))
	return e, true
}

// together is how sure the median of a side's runs is by what varied within
// them.
func together(runs []*result.Saved, f Figure) (Within, bool) {
	out := Within{least: math.Inf(1)}
	variance := 0.0
	for _, s := range runs {
		w, ok := Of(s, f)
		if !ok {
			return out, false
		}
		variance += w.se * w.se
		out.dof += w.dof
		out.least, out.greatest = min(out.least, w.least), max(out.greatest, w.greatest)
	}
	n := float64(len(runs))
	out.se = math.Sqrt(variance) / n
	if n > 2 {
		out.se *= math.Sqrt(math.Pi / 2) // of a median, beside that of a mean
	}
	return out, true
}

// join is how sure the ratio of two figures is; the degrees of freedom are
// those of Welch ("The Generalization of Student's Problem", 1947).
func join(a, b Within) Within {
	va, vb := a.se*a.se, b.se*b.se
	return Within{se: math.Sqrt(va + vb), dof: (va + vb) * (va + vb) / (va*va/a.dof + vb*vb/b.dof), greatest: math.Inf(1)}
}

// decide says of each figure whether a difference is shown, so that in at most
// level of the comparisons of equals any is. The primary figure has its share
// of the level, the others what is left, among them by Holm ("A Simple
// Sequentially Rejective Multiple Test Procedure", 1979). Who has shown a
// difference passes the share on (Bretz, Maurer, Brannath and Posch, "A Graphical
// Approach to Sequentially Rejective Multiple Test Procedures", 2009).
func (c *Comparison) decide() {
	var first *Effect
	var others []*Effect
	for i := range c.Figures {
		if e := &c.Figures[i]; e.Figure.Name == c.Primary {
			first = e
		} else if e.Tested() {
			others = append(others, e)
		}
	}
	if first == nil || !first.Tested() {
		holm(others, level)
		return
	}
	if first.P <= level*primaryShare {
		first.show()
		holm(others, level)
		return
	}
	if holm(others, level*(1-primaryShare)) && first.P <= level {
		first.show()
	}
}

// show marks a difference as shown that is one at all.
func (e *Effect) show() { e.Shown = math.Abs(e.Ratio-1) >= resolution }

// holm marks which of several differences are shown with all of them held to
// alpha, and reports whether all are.
func holm(effects []*Effect, alpha float64) bool {
	slices.SortStableFunc(effects, func(a, b *Effect) int { return cmp.Compare(a.P, b.P) })
	for i, e := range effects {
		if e.P > alpha/float64(len(effects)-i) {
			return false
		}
		e.show()
	}
	return true
}

// hint says what runs so few cannot show.
func (c *Comparison) hint() {
	a, b := len(c.A.Runs), len(c.B.Runs)
	if c.Within {
		c.Hints = append(c.Hints, "a side has a single run, so the intervals are of the variation within a run and not between runs: a second run may differ by more; take five of each (plimsoll run --trials 5)")
		if len(c.Figures) > 0 && !c.Figures[0].Tested() {
			c.Hints = append(c.Hints, fmt.Sprintf("the runs are too short to tell even that: a measured window needs %d intervals of a second", fewestIntervals))
		}
		return
	}
	least := leastP(a, b)
	others := max(1, len(c.Figures)-1)
	switch {
	case least > level*primaryShare:
		c.Hints = append(c.Hints, fmt.Sprintf("%d runs against %d can show no difference at all, however large: the least p that they can reach is %.2g, and %.2g is needed: take at least %d of each",
			a, b, least, level*primaryShare, evenly(level*primaryShare)))
	case least > level/float64(others):
		c.Hints = append(c.Hints, fmt.Sprintf("%d runs against %d can show a difference of %s only, however large others are: take at least %d of each", a, b, c.Primary, evenly(level/float64(others))))
	}
}

// Objections say why two sets must not be compared: they were not asked for the
// same, they gave different guarantees, or plimsoll itself was the limit.
func Objections(a, b Side) []string {
	var out []string
	var runs []*result.Run
	limited := 0
	for _, s := range slices.Concat(a.Runs, b.Runs) {
		runs = append(runs, &s.Run)
		if s.Run.Summary.Generator.Limited {
			limited++
		}
	}
	for _, w := range verdict.Comparable(runs) {
		out = append(out, w.Sentence)
	}
	if limited > 0 {
		out = append(out, fmt.Sprintf("of these %d runs %d were limited by plimsoll itself: their figures are not the system's", len(runs), limited))
	}
	return out
}
