package overview

import (
	"cmp"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Brief is the answer of several targets, with a line for each.
func Brief(runs []*result.Saved) []document.Block { return BriefBlocks(runs, Answer(runs)) }

// BriefBlocks are the blocks of Brief, with an answer that is known already.
func BriefBlocks(runs []*result.Saved, answer string) []document.Block {
	sides := sidesOf(runs)
	h := part.Heading(1, phrase.Plural(len(sides), "target", "targets")+" side by side")
	h.Heading.Beside = fact.Shared(runs, fact.BriefLoad)
	return []document.Block{h, part.Paragraph(document.Answer, answer),
		part.Table(sidesTable(sides)),
		{Facts: known.Facts(known.Of(runs))},
		{Facts: part.BriefWarnings(append(exceptions(runs),
			fact.Sentences(alike(runs, fact.Warnings, fact.WithoutFigures))...))}}
}

// sideColumns are the figures of a target, by their names in gates.
var sideColumns = []row.Column{
	{Title: "acked", Figure: figure.Rate, Keep: 4},
	{Title: "pub p50", Figure: "publish.p50", Keep: 2},
	{Title: "pub p99", Figure: "publish.p99", Keep: 3},
	{Title: "e2e p50", Figure: "e2e.p50", Keep: 0},
	{Title: "e2e p99", Figure: "e2e.p99", Keep: 3},
	{Title: "all CPU/msg", Figure: "cpu", Keep: 1},
}

// sidesTable has a line for each target: the medians of its runs.
func sidesTable(sides []compare.Side) document.Table {
	t := document.Table{ID: "targets", Corner: "target", Head: append(
		[]document.Column{{Name: "level", Keep: 2}, {Name: "lost", Keep: 4}},
		row.Heads(sideColumns)...)}
	for _, side := range sides {
		first := &side.Runs[0].Run
		values := []string{fact.ShortLevel(first), document.None}
		if first.Accounted() {
			values[1] = quantity.Count(lostIn(side))
		}
		printed := map[string]string{}
		figures, centers := compare.Medians(side.Runs)
		for i, f := range figures {
			printed[f.Name], _ = known.Center(f.Unit, centers[i])
		}
		for _, c := range sideColumns {
			values = append(values, cmp.Or(printed[c.Figure], document.None))
		}
		row := document.Row{Name: side.Name, Values: document.Cells(values...)}
		if values[1] != document.None && values[1] != "0" {
			row.Values[1].Tone = document.Bad
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
