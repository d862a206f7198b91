package report

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// comparison sets several runs side by side: the answer, a line for each run, and the settings that
// differ before every figure.
func comparison(runs []*result.Saved, answer string) block {
	all, many := names(runs), len(runs) >= manyRuns
	out := append([]block{comparisonTitle(runs), paragraph(document.Answer, answer)},
		sideBySide(runs)...)
	out = append(out, tabled(overviewTable(runs)))
	out = append(out, knownBlocks(knownOf(runs))...)
	shared := sharedWarnings(runs)
	if many {
		shared = alike(runs, warningsOf, withoutFigures)
	}
	var contents []document.Contents
	for i, n := range all {
		contents = append(contents, document.Contents{ID: fmt.Sprintf("run-%d", i), Words: n})
	}
	out = append(out, warned(sentences(shared)), block{Contents: contents},
		block{For: document.OnTerminal, Facts: overviewFacts(runs)})
	differ := append([]block{tabled(differTable(runs))}, ownTable(runs)...)
	if many {
		differ = []block{only(document.AtLength, block{Details: &document.Details{
			Summary: fmt.Sprintf("What differs (%d)", len(differ[0].Table.Rows)),
			Blocks:  differ}})}
	}
	out = append(append(out, differ...), equalTable(runs),
		only(document.AtLength, tabled(figureTable(runs))),
		only(document.OnPage, heading(2, "Laid over one another")))
	return block{Section: append(out, charted(comparisonCharts(runs)...)...)}
}

func comparisonTitle(runs []*result.Saved) block {
	h := heading(1, plural(len(runs), "run", "runs")+" side by side")
	h.Heading.ID = "comparison"
	return h
}

// sideBySide has the reasons not to rank runs against one another, and the parts that were left
// out.
func sideBySide(runs []*result.Saved) []block {
	return []block{
		{Warnings: &document.Warnings{Title: "Not to be ranked against one another", Grave: true,
			Sentences: incomparable(runs)}},
		warned(exceptions(runs))}
}

// differTable has the settings and circumstances in which runs differ.
func differTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "differ", Title: "What differs", Head: heads(names(runs)...),
		Words: true, Runs: true, Empty: "The runs have the same settings and circumstances."}
	for _, r := range differing(runs) {
		t.Add(r.Name, r.Values...)
	}
	return t
}

// ownTable has the settings that only systems of one kind have. They cannot be compared, and are
// folded if the format can fold.
func ownTable(runs []*result.Saved) []block {
	own := ownSettings(runs)
	if own == nil {
		return nil
	}
	t := document.Table{ID: "own", Head: heads(names(runs)...), Words: true, Runs: true,
		Rows: []document.Row{{Name: "settings", Values: values(own...)}}}
	return []block{only(document.OnTerminal, tabled(t)),
		{Details: &document.Details{Blocks: []block{tabled(t)},
			Summary: "Each system's own settings"}}}
}

// equalTable has the settings that are equal in all runs, folded.
func equalTable(runs []*result.Saved) block {
	t := document.Table{ID: "equal", Head: heads("in all runs"), Words: true}
	for _, r := range equal(runs) {
		t.Add(r.Name, r.Values[0])
	}
	return block{Details: &document.Details{Blocks: []block{tabled(t)},
		Summary: fmt.Sprintf("What is equal in all runs (%d)", len(t.Rows))}}
}

// figureTable has every figure of the runs.
func figureTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "figures", Title: "Figures", Head: heads(names(runs)...), Runs: true,
		Bars: "The bars of a row compare its runs: the longest bar is the greatest figure, " +
			"which is not always the best."}
	for i, mark := range marks(runs) {
		if mark != "" {
			t.Head[i].Mark = "not ranked: " + mark
		}
	}
	for _, r := range figureRows(runs) {
		row := document.Row{Section: r.Section, Name: r.Name, Values: values(r.Values...)}
		for i, bar := range r.Bars {
			row.Values[i].Bar = max(bar, 0)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(incomparable(runs)) > 0 {
		t.Bars = "There are no bars, because the runs are not comparable."
	}
	return t
}

// incomparable gives the reasons not to rank runs against one another.
func incomparable(runs []*result.Saved) []string {
	var out []string
	for _, w := range verdict.Comparable(inner(runs)) {
		out = append(out, clean(w.Sentence))
	}
	return out
}

// marks gives the reason why each run is not ranked, or not by all figures; it is nil when all runs
// are ranked.
func marks(runs []*result.Saved) []string {
	out := make([]string, len(runs))
	some := false
	for i, s := range runs {
		_, why := verdict.RankingOf(&s.Run)
		out[i] = clean(why.Sentence)
		some = some || out[i] != ""
	}
	if !some {
		return nil
	}
	return out
}
