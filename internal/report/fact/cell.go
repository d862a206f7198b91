package fact

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// CellMark is the state of a cell's figures, in a word or two; bad is set when the cell has no
// figures.
func CellMark(c sweep.Cell, s *result.Saved) (mark string, bad bool) {
	switch {
	case s == nil && c.State == experiment.Done:
		return "unreadable", true
	case c.State == experiment.Pending && s != nil:
		return StateWord(&s.Run), true
	case c.State != experiment.Done:
		return string(c.State), true
	case !verdict.Sound(&s.Run):
		return "unsound", false
	case s.Run.Summary.Generator.Limited:
		return "limited", false
	case Overloaded(&s.Run):
		return OverloadedMark, false
	}
	return unsteady(&s.Run), false
}

// unsteady is the word for a run whose servers were still changing, so that it is not ranked; empty
// for others.
func unsteady(r *result.Run) string {
	if _, why := verdict.RankingOf(r); why.Code == verdict.Steady {
		return why.Sentence
	}
	return ""
}

// OverloadedMark is the mark of a cell that was offered more than it carried.
const OverloadedMark = "overloaded"

// MeasuredCells counts cells by their state.
func MeasuredCells[C any](
	cells []C, of func(C) (state experiment.CellState, absent bool),
) string {
	counts, without := map[experiment.CellState]int{}, 0
	for _, c := range cells {
		if state, absent := of(c); absent {
			without++
		} else {
			counts[state]++
		}
	}
	out := fmt.Sprintf("%s of %s measured", quantity.Count(int64(counts[experiment.Done])),
		phrase.Plural(len(cells), "cell", "cells"))
	for _, more := range []experiment.CellState{experiment.Failed, experiment.Running,
		experiment.Pending} {
		if counts[more] > 0 {
			out += fmt.Sprintf(", %d %s", counts[more], more)
		}
	}
	if without > 0 {
		out += fmt.Sprintf(", %d not possible here or left out", without)
	}
	return out
}

// Overloaded reports whether more was offered in a run than was carried.
func Overloaded(r *result.Run) bool {
	_, is := verdict.Overloaded(r)
	return is
}
