package compare

import (
	"fmt"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// sequential reports whether some of the runs belong to a set whose rounds ended when its figures
// were known. A set that ends at a favourable moment needs wider intervals than one of a fixed
// number of rounds: see stats.Sequential.
func sequential(runs []*result.Saved) bool {
	return slices.ContainsFunc(runs, func(s *result.Saved) bool {
		return s.Run.Trial != nil && s.Run.Trial.Until > 0
	})
}

// whole leaves out the runs of sequential sets without a partner in the same round of the same set,
// if the others are enough for pairs, and says so. Rounds go on until figures are known, so the
// last one may lack targets.
func (c *Comparison) whole(a, b *Side) {
	all := slices.Concat(a.Runs, b.Runs)
	if slices.ContainsFunc(all, func(s *result.Saved) bool { return s.Run.Trial == nil }) {
		return
	}
	of := map[string]*result.Saved{}
	for _, s := range b.Runs {
		of[roundOf(s)] = s
	}
	var ofA, ofB []*result.Saved
	for _, s := range a.Runs {
		if partner := of[roundOf(s)]; partner != nil {
			ofA, ofB = append(ofA, s), append(ofB, partner)
		}
	}
	if len(ofA) < fewestPairs || len(ofA) == len(a.Runs) && len(ofB) == len(b.Runs) {
		return
	}
	c.Hints = append(c.Hints, fmt.Sprintf("runs without a partner in the same round are left out: "+
		"%d of %d", len(all)-2*len(ofA), len(all)))
	*a, *b = Side{Name: a.Name, Runs: ofA}, Side{Name: b.Name, Runs: ofB}
}

// sure returns the geometric mean of values and its uncertainty: with rounds set, that of values
// which were looked at after each new one. One value says nothing about it.
func sure(values []float64, rounds bool) (mean float64, w Within) {
	n, logs := float64(len(values)), logarithms(values)
	w = Within{dof: n - 1, greatest: math.Inf(1), sequential: rounds}
	if n > 1 {
		w.se = math.Hypot(moremath.StdDev(logs)/math.Sqrt(n), resolution/2)
	}
	return math.Exp(moremath.Mean(logs)), w
}

// logarithms returns the logarithms of values above 0.
func logarithms(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// reach returns how far the interval of the logarithm reaches to each side.
func (w Within) reach(tail float64) float64 {
	switch {
	case w.sides != nil:
		return w.sides[0].reach(tail/2) + w.sides[1].reach(tail/2)
	case w.dof < 1:
		return math.Inf(1)
	case w.sequential:
		return w.se * stats.Sequential(w.dof, tail)
	}
	return w.se * stats.Student(w.dof, tail)
}

// p returns the p of a ratio. A latency that nothing bounds is never shown to be the shorter one.
func (w Within) p(ratio float64) float64 {
	open := w.openBelow
	if ratio < 1 {
		open = w.open
	}
	return min(1, max(w.closed(ratio), 2*open))
}

// closed returns the p of a ratio whose sides are bounded.
func (w Within) closed(ratio float64) float64 {
	off := math.Abs(math.Log(ratio))
	switch {
	case w.sides != nil:
		// The least level whose interval leaves 1 out.
		low, high := math.Log(leastP), 0.0
		for range 60 {
			if middle := (low + high) / 2; off > w.reach(math.Exp(middle)/2) {
				high = middle
			} else {
				low = middle
			}
		}
		return math.Exp(high)
	case w.dof < 1:
		return 1
	case w.sequential:
		return stats.SequentialP(off/w.se, w.dof)
	}
	return stats.StudentP(off/w.se, w.dof)
}

// leastP bounds the search for the p of two sides.
const leastP = 1e-12

// sequentialCenter returns the geometric mean of values that were looked at after each new one,
// with its interval and its uncertainty.
func sequentialCenter(values []float64) (Center, Within) {
	mean, w := sure(values, true)
	c := Center{Median: figure.Exactly(mean), Values: len(values)}
	c.within(w)
	return c, w
}

// centerOfSide returns the middle of a side's values: of a sequential set the geometric mean,
// without an interval if some values are only bounds.
func centerOfSide(s Side, values spans) Center {
	c := center(values)
	switch is := sequential(s.Runs); {
	case is && values.exact():
		c, _ = sequentialCenter(values.least())
	case is:
		c.Low, c.High, c.Confidence = 0, math.Inf(1), confidence
	}
	return c
}
