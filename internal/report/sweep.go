package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// cellColumns are the figures of a cell in the table of a sweep.
var cellColumns = []struct {
	title string
	value func(*result.Run) string
}{
	{"offered", offeredFigure},
	{"acked", measured(func(s result.Summary) string { return rate(s.AchievedRate) })},
	{"pub p50", func(r *result.Run) string { return at(r.Summary.Series(result.Publish), 50) }},
	{"pub p99", func(r *result.Run) string { return at(r.Summary.Series(result.Publish), 99) }},
	{"e2e p50", func(r *result.Run) string { return at(r.Summary.Series(result.EndToEnd), 50) }},
	{"e2e p99", func(r *result.Run) string { return at(r.Summary.Series(result.EndToEnd), 99) }},
	{"lost", accounted(lostOf)},
}

// cellFigures are the values of a cell's columns.
func cellFigures(s *result.Saved) []string {
	out := make([]string, len(cellColumns))
	for i, c := range cellColumns {
		out[i] = none
		if s != nil {
			out[i] = c.value(&s.Run)
		}
	}
	return out
}

// cellMark is the state of a cell's figures, in a word or two; bad is set when the cell has no
// figures.
func cellMark(c sweep.Cell, s *result.Saved) (mark string, bad bool) {
	switch {
	case s == nil && c.State == experiment.Done:
		return "unreadable", true
	case c.State == experiment.Pending && s != nil:
		return stateWord(&s.Run), true
	case c.State != experiment.Done:
		return string(c.State), true
	case s.Run.Summary.Generator.Limited:
		return "limited", false
	case !verdict.Sound(&s.Run):
		return "unsound", false
	}
	return "", false
}

// cellReason is a sentence on a cell that is marked; empty when there is none.
func cellReason(c sweep.Cell, s *result.Saved) string {
	mark, _ := cellMark(c, s)
	switch {
	case c.Reason != "":
		return clean(c.Reason)
	case mark == "limited":
		return "by plimsoll itself, so it must not be ranked"
	case mark == "unsound":
		for _, v := range s.Run.Verdicts {
			if v.Outcome == result.Broken && slices.Contains(
				[]string{verdict.Loss, verdict.Duplicates, verdict.Durability}, v.Name) {
				return clean(v.Sentence)
			}
		}
		return "nothing was acknowledged"
	}
	return ""
}

// sweepSentence counts a sweep's cells by their state.
func sweepSentence(p *sweep.Plan) string {
	counts := map[experiment.CellState]int{}
	for _, c := range p.Cells {
		counts[c.State]++
	}
	out := fmt.Sprintf("%s of %s measured", quantity.Count(int64(counts[experiment.Done])),
		plural(int64(len(p.Cells)), "cell", "cells"))
	for _, more := range []experiment.CellState{experiment.Failed, experiment.Running,
		experiment.Pending} {
		if counts[more] > 0 {
			out += fmt.Sprintf(", %d %s", counts[more], more)
		}
	}
	return out
}

// sweepNote limits the use of a table of cells.
const sweepNote = "each cell has another load: compare cells along one axis only, and do not " +
	"rank them"

// SweepTable writes a sweep's cells as a table for a terminal, then the reasons
// of the marked cells. runs are the judged runs of the cells, nil where a cell has none.
func SweepTable(w io.Writer, plan *sweep.Plan, runs []*result.Saved, width int, color bool) error {
	p := newPage(width, color)
	p.line(p.paint.as(strong, "sweep "+clean(plan.Name)) +
		p.paint.as(faint, "  "+moment(plan.StartedAt)+"  "+sweepSentence(plan)))
	p.line(sweepNote)
	p.line("")
	figure := figureWidth
	for _, s := range runs {
		for _, v := range cellFigures(s) {
			figure = max(figure, columns(v)+1)
		}
	}
	keys := p.cells(plan, figure)
	for i, c := range plan.Cells {
		line := ""
		for k, v := range c.Values {
			line += pad(clean(v), keys[k])
		}
		for _, v := range cellFigures(runs[i]) {
			line += pad(v, -figure)
		}
		mark, isBad := cellMark(c, runs[i])
		code := warn
		if isBad {
			code = bad
		}
		p.line(line + "  " + p.paint.as(code, mark))
	}
	p.reasons(plan, runs)
	for _, sentence := range missingCells(plan, runs) {
		p.said("missing", warn, sentence)
	}
	var measured []*result.Saved
	for _, s := range runs {
		if s != nil {
			measured = append(measured, s)
		}
	}
	if sentence := instrumentsSentence(measured); sentence != "" {
		p.line("")
		p.said("instrument", "", sentence)
	}
	_, err := w.Write(p.Bytes())
	return err
}

// missingCells count the messages without a latency of each cell that has such messages.
func missingCells(plan *sweep.Plan, runs []*result.Saved) []string {
	var out []string
	for i, c := range plan.Cells {
		if runs[i] == nil {
			continue
		}
		for _, sentence := range missingSentences(runs[i].Run.Summary) {
			out = append(out, clean(sweep.Label(plan.Axes, c.Values))+": "+sentence)
		}
	}
	return out
}

// reasons writes the reasons for marks, equal ones once.
func (p *page) reasons(plan *sweep.Plan, runs []*result.Saved) {
	type said struct{ mark, reason string }
	var order []said
	cells := map[said][]string{}
	for i, c := range plan.Cells {
		mark, _ := cellMark(c, runs[i])
		s := said{mark, cellReason(c, runs[i])}
		if s.reason == "" {
			continue
		}
		if cells[s] == nil {
			order = append(order, s)
		}
		cells[s] = append(cells[s], clean(sweep.Label(plan.Axes, c.Values)))
	}
	for i, s := range order {
		if i == 0 {
			p.line("")
		}
		where := cells[s][0]
		if n := len(cells[s]); n > 1 {
			where = fmt.Sprintf("%d cells, such as %s", n, where)
		}
		p.said(s.mark, bad, where+": "+s.reason)
	}
}

// cells writes the heads of the table and returns the width of each axis' values. figure is
// the width of a column of figures.
func (p *page) cells(plan *sweep.Plan, figure int) []int {
	const gap = 2
	head, widths := "", make([]int, len(plan.Axes))
	for k, a := range plan.Axes {
		widths[k] = columns(clean(a.Key)) + gap
		for _, v := range a.Values {
			widths[k] = max(widths[k], columns(clean(v))+gap)
		}
		head += pad(clean(a.Key), widths[k])
	}
	for _, c := range cellColumns {
		head += pad(c.title, -figure)
	}
	p.line(p.paint.as(faint, head))
	return widths
}
