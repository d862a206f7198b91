package overview

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/chart"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Blocks sets several runs side by side: the answer, a line for each run, and the settings that
// differ before every figure.
func Blocks(runs []*result.Saved, answer string) document.Block {
	all, many := fact.Names(runs), len(runs) >= ManyRuns
	out := append([]document.Block{comparisonTitle(runs), part.Paragraph(document.Answer, answer)},
		sideBySide(runs)...)
	out = append(out, part.Table(overviewTable(runs)))
	out = append(out, known.Blocks(known.Of(runs))...)
	shared := SharedWarnings(runs)
	if many {
		shared = alike(runs, fact.Warnings, fact.WithoutFigures)
	}
	var contents []document.Contents
	for i, n := range all {
		contents = append(contents, document.Contents{ID: fmt.Sprintf("run-%d", i), Words: n})
	}
	out = append(out, part.Warnings(fact.Sentences(shared)), document.Block{Contents: contents},
		document.Block{For: document.OnTerminal, Facts: overviewFacts(runs)})
	differ := append([]document.Block{part.Table(differTable(runs))}, ownTable(runs)...)
	if many {
		differ = []document.Block{part.Only(document.AtLength,
			document.Block{Details: &document.Details{
				Summary: fmt.Sprintf("What differs (%d)", len(differ[0].Table.Rows)),
				Blocks:  differ}})}
	}
	out = append(append(out, differ...), equalTable(runs),
		part.Only(document.AtLength, part.Table(figureTable(runs))),
		part.Only(document.OnPage, part.Heading(2, "Laid over one another")))
	return document.Block{Section: append(out, part.Charts(chart.Comparison(runs)...)...)}
}

func comparisonTitle(runs []*result.Saved) document.Block {
	h := part.Heading(1, phrase.Plural(len(runs), "run", "runs")+" side by side")
	h.Heading.ID = "comparison"
	return h
}

// sideBySide has the reasons not to rank runs against one another, and the parts that were left
// out.
func sideBySide(runs []*result.Saved) []document.Block {
	return []document.Block{
		{Warnings: &document.Warnings{Title: "Not to be ranked against one another", Grave: true,
			Sentences: Incomparable(runs)}},
		part.Warnings(exceptions(runs))}
}

// differTable has the settings and circumstances in which runs differ.
func differTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "differ", Title: "What differs",
		Head:  document.Heads(fact.Names(runs)...),
		Words: true, Runs: true, Empty: "The runs have the same settings and circumstances."}
	for _, r := range row.Differing(runs) {
		t.Add(r.Name, r.Values...)
	}
	return t
}

// ownTable has the settings that only systems of one kind have. They cannot be compared, and are
// folded if the format can fold.
func ownTable(runs []*result.Saved) []document.Block {
	own := row.OwnSettings(runs)
	if own == nil {
		return nil
	}
	t := document.Table{ID: "own", Head: document.Heads(fact.Names(runs)...), Words: true,
		Runs: true,
		Rows: []document.Row{{Name: "settings", Values: document.Cells(own...)}}}
	return []document.Block{part.Only(document.OnTerminal, part.Table(t)),
		{Details: &document.Details{Blocks: []document.Block{part.Table(t)},
			Summary: "Each system's own settings"}}}
}

// equalTable has the settings that are equal in all runs, folded.
func equalTable(runs []*result.Saved) document.Block {
	t := document.Table{ID: "equal", Head: document.Heads("in all runs"), Words: true}
	for _, r := range row.Equal(runs) {
		t.Add(r.Name, r.Values[0])
	}
	return document.Block{Details: &document.Details{Blocks: []document.Block{part.Table(t)},
		Summary: fmt.Sprintf("What is equal in all runs (%d)", len(t.Rows))}}
}

// figureTable has every figure of the runs.
func figureTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "figures", Title: "Figures", Head: document.Heads(fact.Names(runs)...),
		Runs: true,
		Bars: "The bars of a row compare its runs: the longest bar is the greatest figure, " +
			"which is not always the best."}
	for i, mark := range marks(runs) {
		if mark != "" {
			t.Head[i].Mark = "not ranked: " + mark
		}
	}
	for _, r := range row.Figures(runs) {
		row := document.Row{Section: r.Section, Name: r.Name, Values: document.Cells(r.Values...)}
		for i, bar := range r.Bars {
			row.Values[i].Bar = max(bar, 0)
		}
		t.Rows = append(t.Rows, row)
	}
	if len(Incomparable(runs)) > 0 {
		t.Bars = "There are no bars, because the runs are not comparable."
	}
	return t
}

// Incomparable gives the reasons not to rank runs against one another.
func Incomparable(runs []*result.Saved) []string {
	var out []string
	for _, w := range verdict.Comparable(fact.Runs(runs)) {
		out = append(out, document.Clean(w.Sentence))
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
		out[i] = document.Clean(why.Sentence)
		some = some || out[i] != ""
	}
	if !some {
		return nil
	}
	return out
}

// SideBySide shows the most important figures of runs without a section for each run. It counts
// each run's warnings; their text is in the run's own report.
func SideBySide(runs []*result.Saved) []document.Block {
	out := append([]document.Block{comparisonTitle(runs), part.Paragraph(document.Answer,
		Answer(runs))}, sideBySide(runs)...)
	out = append(out, part.Table(overviewTable(runs)), document.Block{Facts: overviewFacts(runs)})
	return append(out, known.Blocks(known.Of(runs))...)
}
