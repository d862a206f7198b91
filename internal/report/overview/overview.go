package overview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
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
	many := len(runs) >= ManyRuns
	out := append(together(runs, answer), known.Blocks(known.Of(runs))...)
	shared := SharedWarnings(runs)
	if many {
		shared = alike(runs, fact.Warnings, fact.WithoutFigures)
	}
	var contents []document.Contents
	for i, n := range fact.Names(runs) {
		contents = append(contents, document.Contents{ID: fmt.Sprintf("run-%d", i), Words: n})
	}
	out = append(out, part.Warnings(fact.Sentences(shared)), document.Block{Contents: contents},
		document.Block{For: document.OnTerminal, Facts: overviewFacts(runs)})
	differ := append([]document.Block{part.Table(differTable(runs))}, ownTable(runs)...)
	if many {
		differ = []document.Block{part.Only(document.AtLength, part.Folded(
			fmt.Sprintf("What differs (%d)", len(differ[0].Table.Rows)), differ...))}
	}
	out = append(append(out, differ...), equalTable(runs),
		part.Only(document.AtLength, part.Table(figureTable(runs))),
		part.Only(document.OnPage, part.Heading(2, "Laid over one another")))
	return document.Block{Section: append(out, part.Charts(chart.Comparison(runs)...)...)}
}

// together has the answer of several runs, the reasons not to rank them against one another, what
// was left out, and a line for each run.
func together(runs []*result.Saved, answer string) []document.Block {
	return []document.Block{
		part.Title("comparison", phrase.Plural(len(runs), "run", "runs")+" side by side", ""),
		part.Paragraph(document.Answer, answer),
		{Warnings: &document.Warnings{Title: "Not to be ranked against one another", Grave: true,
			Sentences: Incomparable(runs)}},
		part.Warnings(exceptions(runs)),
		part.Table(overviewTable(runs)),
	}
}

// differTable has the settings and circumstances in which runs differ.
func differTable(runs []*result.Saved) document.Table {
	return document.Table{ID: "differ", Title: "What differs",
		Head:  document.Heads(fact.Names(runs)...),
		Words: true, Runs: true, Rows: row.Differing(runs),
		Empty: "The runs have the same settings and circumstances."}
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
		part.Folded("Each system's own settings", part.Table(t))}
}

// equalTable has the settings that are equal in all runs, folded.
func equalTable(runs []*result.Saved) document.Block {
	t := document.Table{ID: "equal", Head: document.Heads("in all runs"), Words: true}
	for _, r := range row.Equal(runs) {
		t.Add(r.Name, r.Values[0].Words)
	}
	return part.Folded(fmt.Sprintf("What is equal in all runs (%d)", len(t.Rows)), part.Table(t))
}

// figureTable has every figure of the runs.
func figureTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "figures", Title: "Figures", Head: document.Heads(fact.Names(runs)...),
		Runs: true, Rows: row.Figures(runs),
		Bars: "The bars of a row compare its runs: the longest bar is the greatest figure, " +
			"which is not always the best."}
	for i, mark := range marks(runs) {
		if mark != "" {
			t.Head[i].Mark = "not ranked: " + mark
		}
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
	out := append(together(runs, Answer(runs)), document.Block{Facts: overviewFacts(runs)})
	return append(out, known.Blocks(known.Of(runs))...)
}

// waitFacts say for several runs what the waits of their latencies are.
func waitFacts(runs []*result.Saved) []document.Fact {
	var out []document.Fact
	all := fact.Names(runs)
	for _, series := range []result.Series{result.Publish, result.EndToEnd} {
		var each []string
		for i, s := range runs {
			if words := fact.WaitWords(&s.Run, series); words != "" {
				each = append(each, all[i]+" "+words)
			}
		}
		if len(each) > 0 {
			out = append(out, part.Facts("waits", "", "part of "+phrase.SeriesTitle(series)+
				" latency on purpose: "+strings.Join(each, ", "))...)
		}
	}
	return out
}

// ManyRuns is the number of runs from which on a terminal shows one table, without a section
// for each run, and a page begins with that table.
const ManyRuns = 5

// The first ones fit on the screen of a phone.
var overviewColumns = []row.Column{
	{Title: "lost", Figure: figure.Lost, Keep: 8},
	{Title: "pub p99", Figure: "publish.p99", Keep: 7},
	{Title: "e2e p99", Figure: "e2e.p99", Keep: 6},
	{Title: "acked", Figure: figure.Rate, Keep: 9},
	{Title: "level", Figure: "level", Keep: 5},
	{Title: "pub p50", Figure: "publish.p50", Keep: 4},
	{Title: "e2e p50", Figure: "e2e.p50", Keep: 0},
	{Title: "CPU/msg", Figure: "servers_cpu", Keep: 3},
	{Title: "offered", Figure: "offered", Keep: 1},
	{Title: "duplicate", Figure: "duplicate", Keep: 0},
	{Title: "limiting", Figure: "limiting", Keep: 2},
}

// importedColumns are those of runs that other tools measured.
var importedColumns = []row.Column{
	{Title: "acked", Figure: figure.Rate, Keep: 7},
	{Title: "bytes", Figure: "bytes", Keep: 0},
	{Title: "send p99", Figure: "send.p99", Keep: 5},
	{Title: "e2e p50", Figure: "e2e.p50", Keep: 4},
	{Title: "e2e p99", Figure: "e2e.p99", Keep: 6},
	{Title: "e2e p99.9", Figure: "e2e.p99.9", Keep: 3},
	{Title: "e2e max", Figure: "e2e.max", Keep: 3},
}

// overviewNote explains an overview's columns.
const overviewNote = "pub: publish latency; e2e: end-to-end latency; CPU/msg: CPU time of all " +
	"servers per acknowledged message (" + row.AtMost +
	": with plimsoll's, in whose process they run)"

// overviewTable has a line for each run, with its most important figures.
func overviewTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "overview", Title: "All runs", Corner: "target",
		Note: phrase.Upper(overviewNote) + "."}
	columns, some := overviewColumns, fact.Runs(runs)
	if !slices.ContainsFunc(some, func(r *result.Run) bool { return !fact.Imported(r) }) {
		columns = importedColumns
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c row.Column) bool {
		return !slices.ContainsFunc(some,
			func(r *result.Run) bool { return row.Printed(c.Figure)(r) != document.None })
	})
	t.Head = append(row.Heads(columns), document.Column{Name: "warnings", Keep: 2})
	unranked := marks(runs)
	if unranked != nil { // a terminal has sentences instead
		t.Head = append(t.Head,
			document.Column{Name: "not ranked", For: document.AtLength, Words: true})
	}
	for i, n := range fact.Names(runs) {
		r := document.Row{Name: n}
		for _, c := range columns {
			r.Values = append(r.Values, document.Cell{Words: row.Printed(c.Figure)(some[i])})
		}
		r.Values = append(r.Values,
			document.Cell{Words: strconv.Itoa(len(fact.WarningSentences(runs[i])))})
		if unranked != nil {
			r.Values = append(r.Values, document.Cell{Words: unranked[i], Tone: document.Bad})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// overviewFacts say how to read an overview, and list its exceptions.
func overviewFacts(runs []*result.Saved) []document.Fact {
	out := part.Facts("columns", "", overviewNote)
	out = append(append(out, waitFacts(runs)...),
		part.Facts("instrument", "", row.Instruments(runs))...)
	all := fact.Names(runs)
	for i, mark := range marks(runs) {
		if mark != "" && mark != verdict.ByAnother { // a warning says that
			out = append(out, part.Facts("not ranked", document.Bad, all[i]+" is "+mark)...)
		}
	}
	if len(runs) >= ManyRuns {
		out = append(out, part.Facts("broken", document.Bad, fact.Sentences(alike(runs,
			brokenVerdicts, fact.WithoutFigures))...)...)
		out = append(out, part.Facts("each run", "", "plimsoll report RUN shows a run by itself; "+
			"the settings that differ are in the page")...)
	}
	return out
}

// brokenVerdicts are the broken verdicts of a run that its warnings do not mention.
func brokenVerdicts(s *result.Saved) []result.Warning {
	var out []result.Warning
	for _, v := range s.Run.Verdicts {
		sentence := document.Clean(v.Sentence)
		if v.Outcome == result.Broken && !slices.Contains(fact.WarningSentences(s), sentence) {
			out = append(out, result.Warning{Code: v.Name,
				Sentence: fact.VerdictName(v) + ": " + sentence})
		}
	}
	return out
}

// exceptions are the sentences on targets that were left out, and on runs at a weaker level
// than was asked for.
func exceptions(runs []*result.Saved) []string {
	var out []string
	told := map[string]bool{}
	say := func(sentence string) {
		if sentence = document.Clean(sentence); !told[sentence] {
			told[sentence], out = true, append(out, sentence)
		}
	}
	for _, s := range runs {
		for _, left := range s.Run.Asked.LeftOut {
			say("left out: " + left)
		}
	}
	for i, n := range fact.Names(runs) {
		if weaker := runs[i].Run.Asked.Weaker; weaker != "" {
			say(n + ": " + weaker)
		}
	}
	return out
}

// SharedWarnings are the warnings of several runs, the gravest first, each once, with the names of
// its runs unless all runs have it.
func SharedWarnings(runs []*result.Saved) []result.Warning {
	return alike(runs, fact.Warnings, func(w result.Warning) result.Warning { return w })
}

// alike returns warnings of several runs, the gravest first, with the names of their runs unless
// all runs have the warning. Warnings with one key are one, with the figures of its first run.
func alike(runs []*result.Saved, of func(*result.Saved) []result.Warning,
	key func(result.Warning) result.Warning) (out []result.Warning) {
	var told, owners phrase.Grouped[result.Warning, string]
	for i, n := range fact.Names(runs) {
		for _, w := range of(runs[i]) {
			told.Add(key(w), w.Sentence)
			owners.Add(key(w), n)
		}
	}
	for _, k := range told.Keys {
		all, who := told.Of[k], slices.Compact(owners.Of[k])
		w := result.Warning{Code: k.Code, Sentence: all[0]}
		if len(slices.Compact(all)) > 1 {
			w.Sentence += " (figures of " + who[0] + ")"
		}
		if len(who) < len(runs) {
			w.Sentence = strings.Join(who, ", ") + ": " + w.Sentence
		}
		out = append(out, w)
	}
	verdict.BySeverity(out)
	return out
}
