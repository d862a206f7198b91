package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// runBrief is the answer of a run, and what it rests on, for one screen of a terminal.
func runBrief(s *result.Saved, sure within, answer string) []block {
	r := &s.Run
	verdicts := []document.Fact{}
	counts := map[string][]string{}
	for _, v := range r.Verdicts {
		word := outcomeWord(v)
		counts[word] = append(counts[word], verdictName(v))
		if word == result.Broken {
			verdicts = append(verdicts, factsOf("broken", document.Bad,
				document.CutWords(verdictName(v)+": "+clean(v.Sentence), briefWords))...)
		}
	}
	if n := len(counts[result.Holds]); n > 0 || len(counts[result.Unknown]) > 0 {
		words := fmt.Sprintf("%d hold", n)
		if unknown := counts[result.Unknown]; len(unknown) > 0 {
			words += "; unknown: " + strings.Join(unknown, ", ")
		}
		verdicts = append(verdicts, factsOf("verdicts", "", words)...)
	}
	own := ""
	if i := r.Summary.Instrument; i != nil && counted(i.Publish) {
		own = "p99 " + at(i.Publish, 99)
	}
	limit := limitingWord(r)
	if limit == none {
		limit = ""
	}
	facts := append(factsOf("own error", "", own), factsOf("limit", "", limit)...)
	return []block{
		{Heading: &document.Heading{Level: 1, Words: name(r), Beside: briefLoad(r)}},
		paragraph(document.Answer, cmp.Or(answer, stateSentence(r))),
		tabled(briefTable(r, sure)),
		{Facts: append(append(facts, verdicts...), briefWarnings(warnings(s))...)},
	}
}

// briefWords bounds a sentence of a brief report, in characters: two lines of a narrow terminal.
const briefWords = 130

// briefLoad is the level and the load of a run, in a few words.
func briefLoad(r *result.Run) string {
	var parts []string
	if d := r.Durability; d.Level > 0 {
		parts = append(parts, levelRead(d))
	}
	if words := loadWords(r); words != "" {
		parts = append(parts, words)
	}
	if r.Load.WindowSeconds > 0 {
		parts = append(parts, seconds(r.Load.WindowSeconds))
	}
	return strings.Join(parts, ", ")
}

// briefTable has the latencies that matter most; p99 has its interval.
func briefTable(r *result.Run, sure within) document.Table {
	t := document.Table{ID: "brief", Head: heads("p50", "p99", "95% of p99", "p99.9", "max")}
	for _, series := range []result.Series{result.SendCall, publishSeries(r), result.EndToEnd} {
		l := r.Summary.Series(series)
		if !counted(l) {
			continue
		}
		t.Add(seriesTitle(series), at(l, 50), at(l, 99), cmp.Or(sure.words(series, 99), none),
			at(l, 99.9), greatest(l))
	}
	return t
}

// briefWarnings is the gravest warning, and the number of the others.
func briefWarnings(sorted []string) []document.Fact {
	if len(sorted) == 0 {
		return nil
	}
	words := document.CutWords(sorted[0], briefWords)
	if more := len(sorted) - 1; more > 0 {
		words += fmt.Sprintf(" (and %s)", plural(more, "more", "more"))
	}
	return factsOf("warning", document.Unsure, words)
}

// RunsBrief is the answer of several targets, with a line for each.
func RunsBrief(runs []*result.Saved) []document.Block { return runsBrief(runs, runsAnswer(runs)) }

func runsBrief(runs []*result.Saved, answer string) []block {
	sides := sidesOf(runs)
	h := heading(1, plural(len(sides), "target", "targets")+" side by side")
	h.Heading.Beside = sharedWords(runs, briefLoad)
	return []block{h, paragraph(document.Answer, answer), tabled(sidesTable(sides)),
		{Facts: knownFacts(knownOf(runs))},
		{Facts: briefWarnings(append(exceptions(runs),
			sentences(alike(runs, warningsOf, withoutFigures))...))}}
}

// sideColumns are the figures of a target, by their names in gates.
var sideColumns = []figureColumn{
	{"acked", figure.Rate, 4}, {"pub p50", "publish.p50", 2}, {"pub p99", "publish.p99", 3},
	{"e2e p50", "e2e.p50", 0}, {"e2e p99", "e2e.p99", 3}, {"CPU/msg", "cpu", 1},
}

// sidesTable has a line for each target: the medians of its runs.
func sidesTable(sides []compare.Side) document.Table {
	t := document.Table{ID: "targets", Corner: "target", Head: append(
		[]document.Column{{Name: "level", Keep: 2}, {Name: "lost", Keep: 4}},
		headOf(sideColumns)...)}
	for _, side := range sides {
		first := &side.Runs[0].Run
		values := []string{shortLevel(first), none}
		if first.Ledger.Accounted {
			values[1] = quantity.Count(lostIn(side))
		}
		printed := map[string]string{}
		figures, centers := compare.Medians(side.Runs)
		for i, f := range figures {
			printed[f.Name], _ = printCenter(f.Unit, centers[i])
		}
		for _, c := range sideColumns {
			values = append(values, cmp.Or(printed[c.figure], none))
		}
		row := document.Row{Name: side.Name, Values: document.Cells(values...)}
		if values[1] != none && values[1] != "0" {
			row.Values[1].Tone = document.Bad
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
