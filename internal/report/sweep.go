package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// cellColumns are the figures of a cell in the table of a sweep.
var cellColumns = []figureColumn{
	{"offered", "offered", 3}, {"acked", figure.Rate, 6},
	{"pub p50", "publish.p50", 2}, {"pub p99", "publish.p99", 5},
	{"e2e p50", "e2e.p50", 1}, {"e2e p99", "e2e.p99", 4}, {"lost", figure.Lost, 7},
}

// cellFigures are the values of a cell's columns.
func cellFigures(s *result.Saved) []string {
	out := make([]string, len(cellColumns))
	for i, c := range cellColumns {
		out[i] = none
		if s != nil {
			out[i] = printed(c.figure)(&s.Run)
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
	case !verdict.Sound(&s.Run):
		return "unsound", false
	case s.Run.Summary.Generator.Limited:
		return "limited", false
	case overloaded(&s.Run):
		return overloadedMark, false
	}
	return "", false
}

const overloadedMark = "overloaded"

// cellReason is a sentence on a cell that is marked; empty when there is none.
func cellReason(c sweep.Cell, s *result.Saved) string {
	mark, _ := cellMark(c, s)
	switch {
	case c.Reason != "":
		return c.Reason
	case mark == "limited":
		return "by plimsoll itself, so it must not be ranked"
	case mark == overloadedMark:
		v, _ := verdict.Overloaded(&s.Run)
		return "only its rates may be ranked: " + v.Sentence
	case mark == "unsound":
		return verdict.BrokenPromises(&s.Run)[0].Sentence
	}
	return ""
}

// sweepSentence counts a sweep's cells by their state.
func sweepSentence(p *sweep.Plan) string {
	counts := map[experiment.CellState]int{}
	for _, c := range p.Cells {
		counts[c.State]++
	}
	return measuredCells(counts, len(p.Cells))
}

// measuredCells counts cells by their state.
func measuredCells(counts map[experiment.CellState]int, all int) string {
	out := fmt.Sprintf("%s of %s measured", quantity.Count(int64(counts[experiment.Done])),
		plural(all, "cell", "cells"))
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

// Sweep reports on a sweep; runs are the judged runs of its cells, and further those of its further
// measurements; nil where there is none.
func Sweep(plan *sweep.Plan, runs, further []*result.Saved) Report {
	measured := slices.DeleteFunc(slices.Concat(runs, further),
		func(s *result.Saved) bool { return s == nil })
	return Report{
		Document: func() document.Document {
			d := sweepDocument(plan, runs, measured)
			d.Blocks[0].Section = append(d.Blocks[0].Section, cellsKnown(plan, runs, further)...)
			return d
		},
		forms: runForms(measured),
	}
}

// sweepDocument shows a sweep: charts of rate and p99 over the varied settings, and a table of
// every cell.
func sweepDocument(plan *sweep.Plan, runs, measured []*result.Saved) document.Document {
	warnings := append([]string{sweepNote}, sharedBy(measured)...)
	title := titled("", "sweep "+plan.Name, moment(plan.StartedAt)+", "+sweepSentence(plan))
	answer := paragraph(document.Answer, sweepAnswer(plan, runs))
	out := []block{title, answer,
		paragraph(document.Lead, "Varied: "+varied(plan.Axes)+"."),
		warned(append(warnings, missingCells(plan, runs)...)),
		only(document.OnPage, heading(2, "By what was varied")),
	}
	rows, left := sweepCharts(plan, runs)
	out = append(out, only(document.OnPage, paragraph(document.Note, "All charts of a figure "+
		"have one scale. A hollow point or a cross is a cell that is marked in the table; a gap "+
		"is one without figures; an arrow points from a latency that the true one exceeds. "+
		panelsLeft(left))))
	for _, r := range rows {
		if r.title != "" {
			out = append(out, only(document.OnPage, heading(3, r.title)))
		}
		out = append(out, block{Row: charted(r.charts...)})
	}
	out = append(out, tabled(cellTable(plan, runs)),
		block{For: document.OnTerminal, Facts: cellReasons(plan, runs)},
		block{Facts: factsOf("instrument", "", instrumentsSentence(measured))})
	brief := []block{title, answer, tabled(cellTable(plan, runs)),
		{Facts: append(cellReasons(plan, runs), briefWarnings(warnings)...)}}
	return document.Document{Title: "sweep " + plan.Name, Brief: brief, Blocks: []block{
		{Section: append(out, repetition(plan.Asked, plan.Resolved, plan.Plimsoll)...)},
		misleading(
			[2]string{"Each cell has another load:", "compare cells along one axis only, and do " +
				"not rank them."},
			[2]string{"One run of a cell is one run.", "Cells ran one after the other; a " +
				"difference between neighbours may be the machine's. Repeat the cells that you " +
				"build on."},
			[2]string{"A marked cell", "failed, lost messages, or was limited by plimsoll " +
				"itself. Its figures say little about the system."}),
	}}
}

// sweepAnswer says along a single axis where the acknowledged rate stops growing, and otherwise
// which cell acknowledged most.
func sweepAnswer(plan *sweep.Plan, runs []*result.Saved) string {
	most, grown := -1, -1
	rateAt := func(i int) float64 { return runs[i].Run.Summary.AchievedRate }
	for i, s := range runs {
		if mark, _ := cellMark(plan.Cells[i], s); s == nil || mark != "" && mark != overloadedMark {
			continue
		}
		if most < 0 || rateAt(i) > rateAt(most) {
			most = i
		}
		if grown < 0 || rateAt(i) > growth*rateAt(grown) {
			grown = i
		}
	}
	if most < 0 {
		return "no cell has a rate that can be compared."
	}
	last := len(runs) - 1
	switch {
	case len(plan.Axes) == 1 && grown < last && runs[last] != nil && grown > 0:
		return fmt.Sprintf("throughput stops growing at %s, where %s were acknowledged.",
			sweep.Label(plan.Axes, plan.Cells[grown].Values), rate(rateAt(grown)))
	case !overloaded(&runs[most].Run):
		return fmt.Sprintf("most was acknowledged at %s, %s, which was what was offered there.",
			sweep.Label(plan.Axes, plan.Cells[most].Values), rate(rateAt(most)))
	}
	return fmt.Sprintf("most was acknowledged at %s: %s.",
		sweep.Label(plan.Axes, plan.Cells[most].Values), rate(rateAt(most)))
}

// growth is the least factor by which a rate counts as grown.
const growth = 1.05

// overloaded reports whether more was offered in a run than was carried.
func overloaded(r *result.Run) bool {
	_, is := verdict.Overloaded(r)
	return is
}

// cellTable has a row for each cell, which links to the report of its run.
func cellTable(plan *sweep.Plan, runs []*result.Saved) document.Table {
	t := document.Table{ID: "cells", Title: "Every cell"}
	for _, a := range plan.Axes {
		addAxis(&t, a.Key)
	}
	t.Head = append(append(t.Head, headOf(cellColumns)...), document.Column{Keep: 9},
		document.Column{For: document.AtLength, Name: "what to know", Words: true})
	for i, c := range plan.Cells {
		r := document.Row{Name: c.Values[0], Values: values(c.Values[1:]...)}
		if runs[i] != nil {
			r.Link = c.Run + "/" + result.ReportFile
		}
		r.Values = append(r.Values, values(cellFigures(runs[i])...)...)
		words, isBad := cellMark(c, runs[i])
		mark := document.Cell{Words: words, Tone: document.Unsure}
		if isBad {
			mark.Tone = document.Bad
		}
		r.Values = append(r.Values, mark, document.Cell{Words: cellReason(c, runs[i])})
		t.Rows = append(t.Rows, r)
	}
	return t
}

// missingCells count the messages without a latency of each cell that has such messages.
func missingCells(plan *sweep.Plan, runs []*result.Saved) []string {
	var out []string
	for i, c := range plan.Cells {
		if runs[i] == nil {
			continue
		}
		for _, sentence := range missingSentences(runs[i].Run.Summary) {
			out = append(out, sweep.Label(plan.Axes, c.Values)+": "+sentence)
		}
	}
	return out
}

// cellReasons are the reasons for marks, equal ones once.
func cellReasons(plan *sweep.Plan, runs []*result.Saved) []document.Fact {
	var cells grouped[document.Fact, string]
	for i, c := range plan.Cells {
		mark, _ := cellMark(c, runs[i])
		f := document.Fact{Name: mark, Value: cellReason(c, runs[i]), Tone: document.Bad}
		if f.Value != "" {
			cells.add(f, sweep.Label(plan.Axes, c.Values))
		}
	}
	out := slices.Clone(cells.keys)
	for i, f := range cells.keys {
		out[i].Value = cellsSuchAs(cells.of[f]) + ": " + f.Value
	}
	return out
}

// sharedBy are the kinds of warnings of runs, the gravest first, each with the number of runs: the
// sentences are in the runs' own reports.
func sharedBy(runs []*result.Saved) []string {
	var kinds grouped[string, string]
	for _, s := range runs {
		seen := map[string]bool{}
		for _, w := range s.Run.Warnings {
			if !seen[w.Code] {
				kinds.add(w.Code, w.Sentence)
			}
			seen[w.Code] = true
		}
	}
	slices.SortStableFunc(kinds.keys, func(a, b string) int {
		return cmp.Compare(verdict.Severity(a), verdict.Severity(b))
	})
	var out []string
	for _, code := range kinds.keys {
		text := kinds.of[code][0]
		switch n := len(kinds.of[code]); {
		case n < len(runs):
			text = fmt.Sprintf("in %d of %d cells, such as: %s", n, len(runs), text)
		case n > 1:
			text = "in every cell, such as: " + text
		}
		out = append(out, text)
	}
	return out
}
