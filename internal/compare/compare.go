package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Of the false alarms that a comparison may raise, 5 in 100 in all, the primary
// figures together have 4 and the others together 1.
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
	Within bool
	// Pairing is set when the runs were compared pair by pair: all figures that are
	// known of every run.
	Pairing Pairing
	Primary []string // names of the figures that decide
	Figures []Effect // the primary ones first
	// Hints say what the runs cannot show, and what would.
	Hints []string

	pairs   []*result.Saved // runs of B in the order of those of A that they belong to
	pairing Pairing         // of pairs, be they too few
}

// Effect is how one figure differs between the sets.
type Effect struct {
	Figure Figure
	A, B   Center
	// Times is how many times B's figure is A's, as far as that is known of figures
	// that are bounds, and Ratio what of it lies nearest to 1.
	Times Span
	Ratio float64
	// Low and High are the interval of Times. Low is 0 and High infinite where the
	// runs are too few for one, and where a bound leaves it open.
	Low, High float64
	P         float64 // NaN: not tested
	Paired    bool    // tested pair by pair
	Shown     bool    // the difference is shown, with all figures together held to the level
	// OwnError is plimsoll's own error in the figure, in ns; 0: not known. Blurred is
	// set when the difference would be shown, were it not so small beside that.
	OwnError float64
	Blurred  bool

	scatter scatter
	alpha   float64 // up to which p a difference is shown, whatever the others show
}

// Tested reports whether there was enough to test the figure by.
func (e Effect) Tested() bool { return !math.IsNaN(e.P) }

// Bounded reports whether a bound leaves open how many times B's figure is A's.
func (e Effect) Bounded() bool {
	return !e.A.Median.Exact() || !e.B.Median.Exact() || !e.Times.Exact()
}

// New compares two sets of runs, neither of which is empty. Values of a run are
// left as they are: whether the sets may be compared is for Objections.
func New(a, b Side, primary ...Figure) (*Comparison, error) {
	if len(a.Runs) == 0 || len(b.Runs) == 0 {
		return nil, errors.New("one of the two sets has no run")
	}
	c := &Comparison{A: a, B: b, Within: min(len(a.Runs), len(b.Runs)) == 1}
	for _, f := range primary {
		c.Primary = append(c.Primary, f.Name)
	}
	c.pairs, c.pairing = pair(a.Runs, b.Runs)
	if len(c.pairs) >= fewestPairs {
		c.Pairing = c.pairing
	}
	names := slices.Clone(c.Primary)
	for _, name := range compared {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		f, err := Find(name)
		if err != nil {
			return nil, err
		}
		if e, ok := c.effect(f); ok {
			c.Figures = append(c.Figures, e)
		} else if c.primary(f) {
			c.lack(f)
		}
	}
	c.decide()
	c.hint()
	return c, nil
}

// lack says that a primary figure decides nothing. A figure that no run has, such as
// the end-to-end latency of a load without consumers, leaves it to those that are
// known.
func (c *Comparison) lack(f Figure) {
	known := func(s *result.Saved) bool { _, ok := f.Span(&s.Run); return ok }
	if len(c.Figures) == 0 || slices.ContainsFunc(slices.Concat(c.A.Runs, c.B.Runs), known) {
		c.Hints = append(c.Hints,
			fmt.Sprintf("%s is not known of every run, so it decides nothing: "+
				"measure longer, or name another figure by --primary", f.Name))
	}
}

// primary reports whether a figure decides.
func (c *Comparison) primary(f Figure) bool { return slices.Contains(c.Primary, f.Name) }

// Medians are the figures of one set of runs that every run has, with their
// centres.
func Medians(runs []*result.Saved) (figures []Figure, centers []Center) {
	for _, name := range compared {
		f, err := Find(name)
		if err != nil {
			continue
		}
		if v, ok := of(runs, f); ok {
			figures, centers = append(figures, f), append(centers, center(v))
		}
	}
	return figures, centers
}

// effect compares one figure; ok is false when a run does not have it.
func (c *Comparison) effect(f Figure) (Effect, bool) {
	a, okA := of(c.A.Runs, f)
	b, okB := of(c.B.Runs, f)
	if !okA || !okB {
		return Effect{}, false
	}
	e := Effect{Figure: f, A: center(a), B: center(b), P: math.NaN(), High: math.Inf(1)}
	e.OwnError = ownError(c.A.Runs, c.B.Runs, f)
	exact := a.exact() && b.exact()
	switch {
	case c.Within:
		e.within(c.A.Runs, c.B.Runs)
	case c.Pairing != "" && exact:
		ordered, _ := of(c.pairs, f)
		e.paired(a, ordered)
	default:
		e.ranked(a, b)
		if exact {
			e.scatter = scatter{sd: spread(a, b), a: len(a), b: len(b)}
		}
	}
	e.Ratio = nearest(e.Times)
	return e, true
}

// nearest is what of a span of ratios lies nearest to 1.
func nearest(s Span) float64 { return min(max(s.Least, 1), s.Most) }

// ranked compares by ranks.
func (e *Effect) ranked(a, b spans) {
	var low, high Span
	e.Times, low, high, _ = rankRatio(a, b, (1-confidence)/2)
	e.Low, e.High = low.Least, high.Most
	e.P = rankTest(a, b, e.Times)
}

// paired compares pair by pair.
func (e *Effect) paired(a, b spans) {
	ratio, w := pairedRatio(a, b)
	e.Times, e.Paired = exactly(ratio), true
	e.student(w)
}

// student fills in what Student's distribution says of an exact ratio.
func (e *Effect) student(w Within) {
	ratio := e.Times.Least
	e.Low, e.High = w.Interval(ratio, (1-confidence)/2)
	e.P = stats.StudentP(math.Log(ratio)/w.se, w.dof)
	e.scatter = scatter{se: w.se, dof: w.dof}
}

// within compares runs by what varied within them.
func (e *Effect) within(a, b []*result.Saved) {
	e.Times = e.B.Median.times(e.A.Median)
	if !e.Times.Exact() {
		return
	}
	ofA, okA := together(a, e.Figure)
	ofB, okB := together(b, e.Figure)
	if !okA || !okB {
		return
	}
	for _, side := range []struct {
		center *Center
		within Within
	}{{&e.A, ofA}, {&e.B, ofB}} {
		side.center.Low, side.center.High = side.within.Interval(side.center.Median.Least,
			(1-confidence)/2)
		side.center.Confidence = confidence
	}
	e.student(join(ofA, ofB))
	// What may be any length is not shown to be the shorter.
	if e.Times.Least < 1 {
		e.P = min(1, max(e.P, 2*ofB.open))
	} else {
		e.P = min(1, max(e.P, 2*ofA.open))
	}
	if ofA.open > (1-confidence)/2 {
		e.Low = 0
	}
	if ofB.open > (1-confidence)/2 {
		e.High = math.Inf(1)
	}
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
		out.open = max(out.open, w.open)
	}
	n := float64(len(runs))
	out.se = math.Sqrt(variance) / n
	if n > 2 {
		out.se *= math.Sqrt(math.Pi / 2) // of a median, beside that of a mean
	}
	return out, true
}

// join is how sure the ratio of two figures is.
func join(a, b Within) Within {
	se, dof := stats.Welch(a.se, a.dof, b.se, b.dof)
	return Within{se: se, dof: dof, greatest: math.Inf(1)}
}
