package compare

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// ratio is B's figure divided by A's, and how surely it is known.
type ratio struct {
	a, b   Center
	times  figure.Span
	paired bool
	// One of the two is set, or none if the uncertainty is not known.
	within *Within // the uncertainty of an exact ratio
	ranks  *rankRatio
}

// ratio compares a figure, whose values in the runs of A and B are a and b.
func (c *Comparison) ratio(f figure.Figure, a, b spans) ratio {
	r := ratio{a: centerOfSide(c.A, a), b: centerOfSide(c.B, b)}
	r.times = r.b.Median.Times(r.a.Median)
	exact := a.exact() && b.exact()
	switch {
	case c.Within:
		r.alone(c.A.Runs, c.B.Runs, f)
	case c.Sequential && !exact:
	case c.Pairing != "" && exact:
		ordered, _ := of(c.pairs, f)
		r.paired = true
		r.mean(pairedRatio(a.least(), ordered.least(), c.Sequential))
	case c.Sequential:
		meanA, ofA := sure(a.least(), sequential(c.A.Runs))
		meanB, ofB := sure(b.least(), sequential(c.B.Runs))
		r.mean(meanB/meanA, Within{sides: &[2]Within{ofA, ofB}, greatest: math.Inf(1)})
	default:
		r.ranks = ranked(a, b)
		r.times = r.ranks.middle()
	}
	return r
}

// mean sets an exact ratio and its uncertainty.
func (r *ratio) mean(times float64, w Within) { r.times, r.within = figure.Exactly(times), &w }

// alone sets the uncertainty of a ratio, and of both sides, by the variation within runs.
func (r *ratio) alone(a, b []*result.Saved, f figure.Figure) {
	if !r.times.Exact() {
		return
	}
	ofA, okA := together(a, f)
	ofB, okB := together(b, f)
	if !okA || !okB {
		return
	}
	r.a.within(ofA)
	r.b.within(ofB)
	r.mean(r.times.Least, join(ofA, ofB))
}

// within sets the interval of an exact median.
func (c *Center) within(w Within) {
	c.Low, c.High = w.Interval(c.Median.Least, (1-confidence)/2)
	c.Confidence = confidence
}

// interval returns the ends of the interval with the probability tail at each of them; sure is
// false if the runs are too few for it. Each end is a span, because bounds may leave it open.
func (r ratio) interval(tail float64) (low, high figure.Span, sure bool) {
	switch {
	case r.ranks != nil:
		return r.ranks.interval(tail)
	case r.within == nil || math.IsInf(r.within.reach(tail), 1):
		return low, high, false
	}
	least, most := r.within.Interval(r.times.Least, tail)
	return figure.Exactly(least), figure.Exactly(most), true
}

// p returns the p of the hypothesis that the ratio is 1; NaN: it is not tested.
func (r ratio) p() float64 {
	switch {
	case r.ranks != nil:
		return r.ranks.p()
	case r.within == nil:
		return math.NaN()
	}
	return r.within.p(r.times.Least)
}

// scatter returns the scatter of the figure, for tests of a fixed number of exact values.
func (r ratio) scatter() scatter {
	switch {
	case r.ranks != nil && r.ranks.a.exact() && r.ranks.b.exact():
		a, b := r.ranks.a, r.ranks.b
		return scatter{sd: spread(a, b), a: len(a), b: len(b)}
	case r.within != nil && !r.within.sequential:
		return scatter{se: r.within.se, dof: r.within.dof}
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
