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

// whole leaves out the runs of sequential sets without a partner in the same round, if those are
// few, and says so.
func (c *Comparison) whole(a, b *Side) {
	ofA, ofB, fewer := partnered(*a, *b)
	if !fewer {
		return
	}
	left := len(a.Runs) + len(b.Runs) - 2*len(ofA.Runs)
	c.Hints = append(c.Hints, fmt.Sprintf("runs without a partner in the same round are left out: "+
		"%d of %d", left, len(a.Runs)+len(b.Runs)))
	*a, *b = ofA, ofB
}

// partnered returns the runs of both sides that have a partner in the same round of the same set,
// in order of the rounds, if they are enough for pairs. Rounds go on until figures are known, so
// the last one may lack targets.
func partnered(a, b Side) (Side, Side, bool) {
	key := func(s *result.Saved) result.Trial {
		return result.Trial{Set: s.Run.Trial.Set, Round: s.Run.Trial.Round}
	}
	of := map[result.Trial]*result.Saved{}
	for _, s := range b.Runs {
		if s.Run.Trial == nil {
			return a, b, false
		}
		of[key(s)] = s
	}
	var ofA, ofB []*result.Saved
	for _, s := range a.Runs {
		if s.Run.Trial == nil {
			return a, b, false
		}
		if partner := of[key(s)]; partner != nil {
			ofA, ofB = append(ofA, s), append(ofB, partner)
		}
	}
	if len(ofA) < fewestPairs || len(ofA) == len(a.Runs) && len(ofB) == len(b.Runs) {
		return a, b, false
	}
	return Side{Name: a.Name, Runs: ofA}, Side{Name: b.Name, Runs: ofB}, true
}

// sure returns the geometric mean of values, given as logarithms, and its uncertainty: with rounds
// set, that of values which were looked at after each new one. One value says nothing about it.
func sure(logs []float64, rounds bool) (mean float64, w Within) {
	n := float64(len(logs))
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

// sequentialCenter returns the geometric mean of the values of a sequential set, and its interval.
// There is no interval if some values are only bounds.
func sequentialCenter(values spans) Center {
	if !values.exact() {
		c := center(values)
		c.Low, c.High, c.Confidence = 0, math.Inf(1), confidence
		return c
	}
	mean, w := sure(logarithms(values.least()), true)
	c := Center{Median: figure.Exactly(mean), Values: len(values), Confidence: confidence}
	c.Low, c.High = w.Interval(mean, (1-confidence)/2)
	return c
}

// centerOfSide returns the middle of a side's values.
func centerOfSide(s Side, values spans) Center {
	if sequential(s.Runs) {
		return sequentialCenter(values)
	}
	return center(values)
}
