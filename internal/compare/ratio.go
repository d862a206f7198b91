package compare

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// ratio sets the ratio of a figure and its uncertainty, given its values in the runs of A and B.
func (c *Comparison) ratio(e *Effect, a, b spans) {
	e.Times = e.B.Median.Times(e.A.Median)
	exact := a.exact() && b.exact()
	switch {
	case c.Within:
		e.alone(c.A.Runs, c.B.Runs)
	case c.Sequential && !exact:
	case c.Pairing != "" && exact:
		ordered, _ := of(c.pairs, e.Figure)
		e.Paired = true
		e.mean(pairedRatio(a.least(), ordered.least(), c.Sequential))
	case c.Sequential:
		meanA, ofA := sure(a.least(), sequential(c.A.Runs))
		meanB, ofB := sure(b.least(), sequential(c.B.Runs))
		e.mean(meanB/meanA, Within{sides: &[2]Within{ofA, ofB}, greatest: math.Inf(1)})
	default:
		e.ranks = ranked(a, b)
		e.Times = e.ranks.middle()
	}
}

// mean sets an exact ratio and its uncertainty.
func (e *Effect) mean(times float64, w Within) { e.Times, e.within = figure.Exactly(times), &w }

// alone sets the uncertainty of a ratio, and of both sides, by the variation within runs.
func (e *Effect) alone(a, b []*result.Saved) {
	if !e.Times.Exact() {
		return
	}
	ofA, okA := together(a, e.Figure)
	ofB, okB := together(b, e.Figure)
	if !okA || !okB {
		return
	}
	e.A.within(ofA)
	e.B.within(ofB)
	e.mean(e.Times.Least, join(ofA, ofB))
}

// within sets the interval of an exact median.
func (c *Center) within(w Within) {
	c.Low, c.High = w.Interval(c.Median.Least, (1-confidence)/2)
	c.Confidence = confidence
}

// interval returns the ends of the interval with the probability tail at each of them; sure is
// false if the runs are too few for it. Each end is a span, because bounds may leave it open.
func (e *Effect) interval(tail float64) (low, high figure.Span, sure bool) {
	switch {
	case e.ranks != nil:
		return e.ranks.interval(tail)
	case e.within == nil || math.IsInf(e.within.reach(tail), 1):
		return low, high, false
	}
	least, most := e.within.Interval(e.Times.Least, tail)
	return figure.Exactly(least), figure.Exactly(most), true
}

// p returns the p of the hypothesis that the ratio is 1; NaN: it is not tested.
func (e *Effect) p() float64 {
	switch {
	case e.ranks != nil:
		return e.ranks.p()
	case e.within == nil:
		return math.NaN()
	}
	return e.within.p(e.Times.Least)
}

// scattered returns the scatter of the figure, for tests of a fixed number of exact values.
func (e *Effect) scattered() scatter {
	switch {
	case e.ranks != nil && e.ranks.a.exact() && e.ranks.b.exact():
		a, b := e.ranks.a, e.ranks.b
		return scatter{sd: spread(a, b), a: len(a), b: len(b)}
	case e.within != nil && !e.within.sequential:
		return scatter{se: e.within.se, dof: e.within.dof}
	}
	return scatter{}
}

// together returns the uncertainty of the median of a side's runs, from the variation within
// them.
func together(runs []*result.Saved, f figure.Figure) (Within, bool) {
	if len(runs) == 1 {
		return Of(runs[0], f)
	}
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
		out.se *= math.Sqrt(math.Pi / 2) // of a median, relative to that of a mean
	}
	return out, true
}

// join returns the uncertainty of the ratio of two figures, b to a.
func join(a, b Within) Within {
	se, dof := stats.Welch(a.se, a.dof, b.se, b.dof)
	return Within{se: se, dof: dof, greatest: math.Inf(1), open: b.open, openBelow: a.open}
}
