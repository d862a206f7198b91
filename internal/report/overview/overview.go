package overview

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
