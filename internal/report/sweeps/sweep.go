package sweeps

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/export"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/form"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/sweep"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// cellColumns are the figures of a cell in the table of a sweep.
var cellColumns = []row.Column{
	{Title: "offered", Figure: "offered", Keep: 3},
	{Title: "acked", Figure: figure.Rate, Keep: 6},
	{Title: "pub p50", Figure: "publish.p50", Keep: 2},
	{Title: "pub p99", Figure: "publish.p99", Keep: 5},
	{Title: "e2e p50", Figure: "e2e.p50", Keep: 1},
	{Title: "e2e p99", Figure: "e2e.p99", Keep: 4},
	{Title: "lost", Figure: figure.Lost, Keep: 7},
}

// cellFigures are the values of a cell's columns.
func cellFigures(s *result.Saved) []string {
	out := make([]string, len(cellColumns))
	for i, c := range cellColumns {
		out[i] = document.None
		if s != nil {
			out[i] = row.Printed(c.Figure)(&s.Run)
		}
	}
	return out
}

// cellReason is a sentence on a cell that is marked; empty when there is none.
func cellReason(c sweep.Cell, s *result.Saved) string {
	mark, _ := fact.CellMark(c, s)
	switch {
	case c.Reason != "":
		return c.Reason
	case mark == "limited":
		return "by plimsoll itself, so it must not be ranked"
	case mark == fact.OverloadedMark:
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
	return fact.MeasuredCells(counts, len(p.Cells))
}

// sweepNote limits the use of a table of cells.
const sweepNote = "each cell has another load: compare cells along one axis only, and do not " +
	"rank them"

// Report reports on a sweep; runs are the judged runs of its cells, and further those of its
// further measurements; nil where there is none.
func Report(plan *sweep.Plan, runs, further []*result.Saved) form.Report {
	measured := slices.DeleteFunc(slices.Concat(runs, further),
		func(s *result.Saved) bool { return s == nil })
	return form.Report{
		Document: func() document.Document {
			d := sweepDocument(plan, runs, measured)
			d.Blocks[0].Section = append(d.Blocks[0].Section, known.Cells(plan, runs, further)...)
			return d
		},
		Forms: export.Forms(measured),
	}
}

// sweepDocument shows a sweep: charts of rate and p99 over the varied settings, and a table of
// every cell.
func sweepDocument(plan *sweep.Plan, runs, measured []*result.Saved) document.Document {
	warnings := append([]string{sweepNote}, sharedBy(measured)...)
	title := part.Title("", "sweep "+plan.Name,
		phrase.Moment(plan.StartedAt)+", "+sweepSentence(plan))
	answer := part.Paragraph(document.Answer, sweepAnswer(plan, runs))
	out := []document.Block{title, answer,
		part.Paragraph(document.Lead, "Varied: "+chart.Varied(plan.Axes)+"."),
		part.Warnings(append(warnings, missingCells(plan, runs)...)),
		part.Only(document.OnPage, part.Heading(2, "By what was varied")),
	}
	rows, left := chart.Sweep(plan, runs)
	out = append(out, part.Only(document.OnPage, part.Paragraph(document.Note,
		"All charts of a figure have one scale. A hollow point or a cross is a cell that is "+
			"marked in the table; a gap is one without figures; an arrow points from a latency "+
			"that the true one exceeds. "+chart.PanelsLeft(left))))
	for _, r := range rows {
		if r.Title != "" {
			out = append(out, part.Only(document.OnPage, part.Heading(3, r.Title)))
		}
		out = append(out, document.Block{Row: part.Charts(r.Charts...)})
	}
	out = append(out, part.Table(cellTable(plan, runs)),
		document.Block{For: document.OnTerminal, Facts: cellReasons(plan, runs)},
		document.Block{Facts: part.Facts("instrument", "", row.Instruments(measured))})
	copies := part.Facts("durability", "", singleCopies(measured))
	brief := []document.Block{title, answer, part.Table(cellTable(plan, runs)), {Facts: slices.
		Concat(cellReasons(plan, runs), copies, part.BriefWarnings(warnings))}}
	return document.Document{Title: "sweep " + plan.Name, Brief: brief, Blocks: []document.Block{
		{Section: append(out, part.Repetition(plan.Asked, plan.Resolved, plan.Plimsoll)...)},
		part.Misleading(
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
		if mark, _ := fact.CellMark(plan.Cells[i], s); s == nil || mark != "" &&
			mark != fact.OverloadedMark {
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
			sweep.Label(plan.Axes, plan.Cells[grown].Values), phrase.Rate(rateAt(grown)))
	case !fact.Overloaded(&runs[most].Run):
		return fmt.Sprintf("most was acknowledged at %s, %s, which was what was offered there.",
			sweep.Label(plan.Axes, plan.Cells[most].Values), phrase.Rate(rateAt(most)))
	}
	return fmt.Sprintf("most was acknowledged at %s: %s.",
		sweep.Label(plan.Axes, plan.Cells[most].Values), phrase.Rate(rateAt(most)))
}

// growth is the least factor by which a rate counts as grown.
const growth = 1.05

// cellTable has a row for each cell, which links to the report of its run.
func cellTable(plan *sweep.Plan, runs []*result.Saved) document.Table {
	t := document.Table{ID: "cells", Title: "Every cell"}
	for _, a := range plan.Axes {
		part.AddAxis(&t, a.Key)
	}
	t.Head = append(append(t.Head, row.Heads(cellColumns)...), document.Column{Keep: 9},
		document.Column{For: document.AtLength, Name: "what to know", Words: true})
	for i, c := range plan.Cells {
		r := document.Row{Name: c.Values[0], Values: document.Cells(c.Values[1:]...)}
		if runs[i] != nil {
			r.Link = c.Run + "/" + result.ReportFile
		}
		r.Values = append(r.Values, document.Cells(cellFigures(runs[i])...)...)
		words, isBad := fact.CellMark(c, runs[i])
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
		for _, sentence := range latency.Missing(runs[i].Run.Summary) {
			out = append(out, sweep.Label(plan.Axes, c.Values)+": "+sentence)
		}
	}
	return out
}

// cellReasons are the reasons for marks, equal ones once.
func cellReasons(plan *sweep.Plan, runs []*result.Saved) []document.Fact {
	var cells phrase.Grouped[document.Fact, string]
	for i, c := range plan.Cells {
		mark, _ := fact.CellMark(c, runs[i])
		f := document.Fact{Name: mark, Value: cellReason(c, runs[i]), Tone: document.Bad}
		if f.Value != "" {
			cells.Add(f, sweep.Label(plan.Axes, c.Values))
		}
	}
	out := slices.Clone(cells.Keys)
	for i, f := range cells.Keys {
		out[i].Value = phrase.CellsSuchAs(cells.Of[f]) + ": " + f.Value
	}
	return out
}

// singleCopies says how many runs kept a single copy of each message; empty if none did.
func singleCopies(runs []*result.Saved) string {
	n := 0
	for _, s := range runs {
		if s.Run.Durability.Single() {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case len(runs):
		return result.SingleCopy + " of each message"
	}
	return fmt.Sprintf("%s of each message in %d of %d runs", result.SingleCopy, n, len(runs))
}

// sharedBy are the kinds of warnings of runs, the gravest first, each with the number of runs: the
// sentences are in the runs' own reports.
func sharedBy(runs []*result.Saved) []string {
	var kinds phrase.Grouped[string, string]
	for _, s := range runs {
		seen := map[string]bool{}
		for _, w := range s.Run.Warnings {
			if !seen[w.Code] {
				kinds.Add(w.Code, w.Sentence)
			}
			seen[w.Code] = true
		}
	}
	slices.SortStableFunc(kinds.Keys, func(a, b string) int {
		return cmp.Compare(verdict.Severity(a), verdict.Severity(b))
	})
	var out []string
	for _, code := range kinds.Keys {
		text := kinds.Of[code][0]
		switch n := len(kinds.Of[code]); {
		case n < len(runs):
			text = fmt.Sprintf("in %d of %d cells, such as: %s", n, len(runs), text)
		case n > 1:
			text = "in every cell, such as: " + text
		}
		out = append(out, text)
	}
	return out
}
