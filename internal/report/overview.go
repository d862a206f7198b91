package report

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
)

// manyRuns is the number of runs from which on a terminal shows one table, without a section
// for each run, and a page begins with that table.
const manyRuns = 5

// rowLevel names the figure of an overview that is not among those of a comparison.
const rowLevel = "durability level"

// overviewColumns are the figures of an overview, the most important first: those that do not
// fit a narrow terminal are left out.
var overviewColumns = []column{
	{"level", rowLevel}, {"acked", "acknowledged"}, {"lost", "lost"}, {"pub p50", "publish p50"},
	{"pub p99", "publish p99"}, {"CPU/msg", rowServerCPU}, {"e2e p99", "end-to-end p99"},
	{"warnings", "warnings"},
}

// atMost marks the CPU time of servers in plimsoll's process, whose share is not known.
const atMost = "≤"

// overviewNote explains an overview's columns.
const overviewNote = "pub: publish latency; e2e: end-to-end latency; CPU/msg: CPU time of all " +
	"servers per acknowledged message (" + atMost + ": with plimsoll's, in whose process they " +
	"run)"

// overviewValues returns the printer of an overview's figures.
func overviewValues(runs []*result.Saved) func(figure string, i int) string {
	values := map[string][]string{rowLevel: each(runs, rowLevel, shortLevel).Values}
	for _, r := range figureRows(runs) {
		values[r.Name] = r.Values
	}
	return func(figure string, i int) string {
		switch {
		case values[figure] == nil:
			return none
		case values[figure][i] == insidePlimsoll:
			return atMost + values[rowAllCPU][i]
		}
		// The share of the offered rate has no room here.
		v, _, _ := strings.Cut(values[figure][i], " (")
		return v
	}
}

// shortLevel is the level that was read back from the cluster, or else the level asked for.
func shortLevel(r *result.Run) string {
	switch d := r.Durability; {
	case d.Level > 0:
		return fmt.Sprint(d.Level)
	case d.Asked > 0:
		return fmt.Sprintf("%d asked", d.Asked)
	}
	return none
}

// overview writes many runs: what keeps them from being ranked, their warnings, and a table
// with a line for each run.
func (p *page) overview(runs []*result.Saved) {
	all := names(runs)
	p.line(p.paint.as(strong, plural(int64(len(runs)), "run", "runs")+" side by side"))
	p.line("")
	before := p.Len()
	for _, w := range incomparable(runs) {
		p.said("warning", bad, w)
	}
	for _, w := range exceptions(runs) {
		p.said("warning", warn, w)
	}
	for _, w := range alike(runs, warnings) {
		p.said("warning", warn, w)
	}
	if p.Len() > before {
		p.line("")
	}
	p.runTable("target", overviewColumns, all, overviewValues(runs))
	p.line("")
	p.said("columns", "", overviewNote)
	if sentence := instrumentsSentence(runs); sentence != "" {
		p.said("instrument", "", sentence)
	}
	for i, mark := range marks(runs) {
		if mark != "" && mark != byAnother { // a warning says that
			p.said("not ranked", bad, all[i]+" is "+mark)
		}
	}
	for _, sentence := range alike(runs, brokenVerdicts) {
		p.said("broken", bad, sentence)
	}
	p.said("each run", "", "plimsoll report RUN shows a run by itself; the settings that differ "+
		"are in the page")
}

// brokenVerdicts are the verdicts of a run that are broken, without those that its warnings have.
func brokenVerdicts(s *result.Saved) []string {
	var out []string
	for _, v := range s.Run.Verdicts {
		sentence := clean(v.Sentence)
		if v.Outcome == result.Broken && !slices.Contains(warnings(s), sentence) {
			out = append(out, verdictName(v)+": "+sentence)
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

// alike returns the sentences of all runs, with the names of their runs unless all runs have
// the sentence. Sentences that differ in their figures only are one, with those of its first run.
func alike(runs []*result.Saved, of func(*result.Saved) []string) []string {
	var order []string
	sentence, owners := map[string]string{}, map[string][]string{}
	differ := map[string]bool{}
	for i, n := range names(runs) {
		for _, w := range of(runs[i]) {
			key := digits.ReplaceAllString(w, "#")
			if owners[key] == nil {
				order, sentence[key] = append(order, key), w
			}
			owners[key] = append(owners[key], n)
			differ[key] = differ[key] || sentence[key] != w
		}
	}
	var out []string
	for _, key := range order {
		w := sentence[key]
		if differ[key] {
			w += " (figures of " + owners[key][0] + ")"
		}
		if len(owners[key]) < len(runs) {
			w = strings.Join(owners[key], ", ") + ": " + w
		}
		out = append(out, w)
	}
	return out
}

// overviewTable is the overview on a page.
func overviewTable(runs []*result.Saved) table {
	t := table{ID: "overview", Title: "All runs", Note: "P" + overviewNote[1:] + "."}
	for _, c := range overviewColumns {
		t.Head = append(t.Head, c.title)
	}
	value, unranked := overviewValues(runs), marks(runs)
	for i, n := range names(runs) {
		r := row{Name: n}
		if unranked != nil && unranked[i] != "" {
			r.Name += " (not ranked: " + unranked[i] + ")"
		}
		for _, c := range overviewColumns {
			r.Values = append(r.Values, micro(value(c.figure, i)))
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
