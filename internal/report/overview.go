package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// manyRuns is the number of runs from which on a terminal shows one table, without a section
// for each run, and a page begins with that table.
const manyRuns = 5

// The first ones fit on the screen of a phone.
var overviewColumns = []figureColumn{
	{"lost", figure.Lost, 8}, {"pub p99", "publish.p99", 7}, {"e2e p99", "e2e.p99", 6},
	{"acked", figure.Rate, 9}, {"level", "level", 5}, {"pub p50", "publish.p50", 4},
	{"e2e p50", "e2e.p50", 0}, {"CPU/msg", "servers_cpu", 3}, {"offered", "offered", 1},
	{"duplicate", "duplicate", 0}, {"limiting", "limiting", 2},
}

// importedColumns are those of runs that other tools measured.
var importedColumns = []figureColumn{
	{"acked", figure.Rate, 7}, {"bytes", "bytes", 0}, {"send p99", "send.p99", 5},
	{"e2e p50", "e2e.p50", 4}, {"e2e p99", "e2e.p99", 6}, {"e2e p99.9", "e2e.p99.9", 3},
	{"e2e max", "e2e.max", 3},
}

// atMost marks the CPU time of servers in plimsoll's process, whose share is not known.
const atMost = "≤"

// overviewNote explains an overview's columns.
const overviewNote = "pub: publish latency; e2e: end-to-end latency; CPU/msg: CPU time of all " +
	"servers per acknowledged message (" + atMost + ": with plimsoll's, in whose process they " +
	"run)"

// overviewTable has a line for each run, with its most important figures.
func overviewTable(runs []*result.Saved) document.Table {
	t := document.Table{ID: "overview", Title: "All runs", Corner: "target",
		Note: upper(overviewNote) + "."}
	columns, some := overviewColumns, inner(runs)
	if !slices.ContainsFunc(some, func(r *result.Run) bool { return !imported(r) }) {
		columns = importedColumns
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c figureColumn) bool {
		return !slices.ContainsFunc(some,
			func(r *result.Run) bool { return printed(c.figure)(r) != none })
	})
	t.Head = append(headOf(columns), document.Column{Name: "warnings", Keep: 2})
	unranked := marks(runs)
	if unranked != nil { // a terminal has sentences instead
		t.Head = append(t.Head,
			document.Column{Name: "not ranked", For: document.AtLength, Words: true})
	}
	for i, n := range names(runs) {
		r := document.Row{Name: n}
		for _, c := range columns {
			r.Values = append(r.Values, document.Cell{Words: printed(c.figure)(some[i])})
		}
		r.Values = append(r.Values, document.Cell{Words: strconv.Itoa(len(warnings(runs[i])))})
		if unranked != nil {
			r.Values = append(r.Values, document.Cell{Words: unranked[i], Tone: document.Bad})
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// shortLevel is the level that was read back from the cluster, or else the level asked for.
func shortLevel(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprint(d.Level) + singleCopy(d)
	case d.Asked > 0:
		return fmt.Sprintf("%d asked", d.Asked)
	}
	return none
}

// overviewFacts say how to read an overview, and list its exceptions.
func overviewFacts(runs []*result.Saved) []document.Fact {
	out := factsOf("columns", "", overviewNote)
	out = append(append(out, waitFacts(runs)...),
		factsOf("instrument", "", instrumentsSentence(runs))...)
	all := names(runs)
	for i, mark := range marks(runs) {
		if mark != "" && mark != verdict.ByAnother { // a warning says that
			out = append(out, factsOf("not ranked", document.Bad, all[i]+" is "+mark)...)
		}
	}
	if len(runs) >= manyRuns {
		out = append(out, factsOf("broken", document.Bad, sentences(alike(runs, brokenVerdicts,
			withoutFigures))...)...)
		out = append(out, factsOf("each run", "", "plimsoll report RUN shows a run by itself; "+
			"the settings that differ are in the page")...)
	}
	return out
}

// brokenVerdicts are the broken verdicts of a run that its warnings do not mention.
func brokenVerdicts(s *result.Saved) []result.Warning {
	var out []result.Warning
	for _, v := range s.Run.Verdicts {
		sentence := clean(v.Sentence)
		if v.Outcome == result.Broken && !slices.Contains(warnings(s), sentence) {
			out = append(out, result.Warning{Code: v.Name,
				Sentence: verdictName(v) + ": " + sentence})
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
		if sentence = clean(sentence); !told[sentence] {
			told[sentence], out = true, append(out, sentence)
		}
	}
	for _, s := range runs {
		for _, left := range s.Run.Asked.LeftOut {
			say("left out: " + left)
		}
	}
	for i, n := range names(runs) {
		if weaker := runs[i].Run.Asked.Weaker; weaker != "" {
			say(n + ": " + weaker)
		}
	}
	return out
}

var digits = regexp.MustCompile(`[0-9][0-9.,]*[a-zµ%]*`)

// withoutFigures is the part of a warning that is equal in warnings that differ in figures only.
func withoutFigures(w result.Warning) result.Warning {
	w.Sentence = digits.ReplaceAllString(w.Sentence, "#")
	return w
}

// sharedWarnings are the warnings of several runs, the gravest first, each once, with the names of
// its runs unless all runs have it.
func sharedWarnings(runs []*result.Saved) []result.Warning {
	return alike(runs, warningsOf, func(w result.Warning) result.Warning { return w })
}

// alike returns warnings of several runs, the gravest first, with the names of their runs unless
// all runs have the warning. Warnings with one key are one, with the figures of its first run.
func alike(runs []*result.Saved, of func(*result.Saved) []result.Warning,
	key func(result.Warning) result.Warning) (out []result.Warning) {
	var told, owners grouped[result.Warning, string]
	for i, n := range names(runs) {
		for _, w := range of(runs[i]) {
			told.add(key(w), w.Sentence)
			owners.add(key(w), n)
		}
	}
	for _, k := range told.keys {
		all, who := told.of[k], slices.Compact(owners.of[k])
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
