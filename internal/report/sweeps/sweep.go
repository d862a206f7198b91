package sweeps

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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
	"github.com/plimsoll-bench/plimsoll/system/quantity"
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

// cellReason is a sentence on a cell that is marked; empty when there is none.
func cellReason(c sweep.Cell, s *result.Saved) string {
	mark, bad := fact.CellMark(c, s)
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
	case mark != "" && !bad:
		return unsteady(&s.Run)
	}
	return ""
}

// unsteady says how the servers of a cell were still changing.
func unsteady(r *result.Run) string {
	for _, v := range r.Verdicts {
		if _, how, _ := strings.Cut(v.Sentence, ": "); v.Name == verdict.Steady {
			return "must not be ranked: " + how
		}
	}
	return ""
}

// sweepNote limits the use of a table of cells.
const sweepNote = "each cell has another load: compare cells along one axis only, and do not " +
	"rank them"

// Report reports on a sweep; runs are the judged runs of its cells, and further those of its
// further measurements; nil where there is none.
func Report(plan *sweep.Plan, runs, further []*result.Saved) form.Report {
	measured := slices.DeleteFunc(slices.Concat(runs, further),
		func(s *result.Saved) bool { return !isRun(s) })
	return form.Report{
		Document: func() document.Document {
			d := sweepDocument(plan, runs, measured, countedWarnings(taken(plan, runs, further),
				slices.ContainsFunc(further, isRun)))
			d.Blocks[0].Section = append(d.Blocks[0].Section, known.Cells(plan, runs, further)...)
			return d
		},
		Forms: export.Forms(measured),
	}
}

func isRun(s *result.Saved) bool { return s != nil }

// taken returns the runs of the cells that will not be measured again.
func taken(plan *sweep.Plan, runs, further []*result.Saved) (out []*result.Saved) {
	for i, c := range plan.Cells {
		if runs[i] != nil && c.State != experiment.Pending {
			out = append(out, runs[i])
		}
	}
	for i, c := range plan.Further {
		if further[i] != nil && c.State != experiment.Pending {
			out = append(out, further[i])
		}
	}
	return out
}

// sweepDocument shows a sweep: charts of rate and p99 over the varied settings, and a table of
// every cell.
func sweepDocument(plan *sweep.Plan, runs, measured []*result.Saved,
	counted []string) document.Document {
	warnings := append([]string{sweepNote}, counted...)
	measuredCells := fact.MeasuredCells(plan.Cells,
		func(c sweep.Cell) (experiment.CellState, bool) { return c.State, false })
	title := part.Title("", "sweep "+plan.Name,
		phrase.Moment(plan.StartedAt)+", "+measuredCells)
	answer := part.Paragraph(document.Answer, sweepAnswer(plan, runs))
	out := []document.Block{title, answer,
		part.Paragraph(document.Lead, "Varied: "+chart.Varied(plan.Axes)+"."),
		part.Warnings(append(warnings, missingCells(plan, runs)...)),
		part.Only(document.OnPage, part.Heading(2, "By what was varied")),
	}
	rows, left := chart.Sweep(plan, runs)
	note := "All charts of a figure have one scale. A hollow point or a cross is a cell that is " +
		"marked in the table; a gap is one without figures; an arrow points from a latency that " +
		"the true one exceeds. "
	if left > 0 {
		note += fmt.Sprintf("%s more are in the table only.", quantity.Count(int64(left)))
	}
	out = append(out, part.Only(document.OnPage, part.Paragraph(document.Note, note)))
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
			[2]string{"A marked cell", "failed, lost messages, was measured on servers that were " +
				"still changing, or was limited by plimsoll itself. Its figures say little about " +
				"the system."}),
	}}
}

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
		for _, column := range cellColumns {
			value := document.Cell{Words: document.None}
			if runs[i] != nil {
				value.Words = row.Printed(column.Figure)(&runs[i].Run)
			}
			r.Values = append(r.Values, value)
		}
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
		if runs[i] == nil || c.State == experiment.Pending {
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
		out[i].Value = cells.Where(f) + ": " + f.Value
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

// countedWarnings are those of the measured runs: their sentences are in the runs' own reports.
func countedWarnings(measured []*result.Saved, several bool) (out []string) {
	one, many := "measured cell", "measured cells"
	if several {
		one, many = "run", "runs"
	}
	each := make([][]result.Warning, len(measured))
	for i, s := range measured {
		each[i] = fact.Warnings(s)
	}
	for _, w := range fact.Count(each) {
		out = append(out, w.Among(len(measured), one, many))
	}
	return out
}

// Read reads a sweep's folder and reports on it.
func Read(dir string) (form.Report, error) {
	plan, err := sweep.Folders.Read(dir)
	if err != nil {
		return form.Report{}, err
	}
	runs, further := Runs(dir, plan)
	return Report(plan, runs, further), nil
}

// Runs reads the judged runs of a sweep's cells and of its further measurements; nil for one
// without a readable run.
func Runs(dir string, p *sweep.Plan) (cells, further []*result.Saved) {
	for _, c := range p.Cells {
		cells = append(cells, readable(dir, c.Run))
	}
	for _, c := range p.Further {
		further = append(further, readable(dir, c.Run))
	}
	return cells, further
}

// readable reads a run; nil: there is none, or it cannot be read.
func readable(dir, name string) *result.Saved {
	if name == "" {
		return nil
	}
	saved, _ := verdict.Read(filepath.Join(dir, name))
	return saved
}
