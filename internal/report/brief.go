package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// runBrief is the answer of a run, and what it rests on, for one screen of a terminal.
func runBrief(s *result.Saved, sure within, answer string) []block {
	r := &s.Run
	own := ""
	if i := r.Summary.Instrument; i != nil && counted(i.Publish) {
		own = "p99 " + at(i.Publish, 99)
	}
	if marked(r.Summary) {
		own = strings.TrimPrefix(own+"; "+ownMark+" marks latencies that it determines", "; ")
	}
	limit := limitingWord(r)
	if limit == none {
		limit = ""
	}
	verdicts, broken := briefVerdicts(r)
	more := slices.DeleteFunc(warningsOf(s), func(w result.Warning) bool {
		return w.Sentence == broken || w.Code == verdict.CodeIdle // said above
	})
	facts := slices.Concat(factsOf("own error", "", own), factsOf("limit", "", limit),
		briefClients(r), verdicts, briefWarnings(sentences(more)))
	return []block{
		{Heading: &document.Heading{Level: 1, Words: name(r), Beside: briefLoad(r)}},
		paragraph(document.Answer, cmp.Or(answer, stateSentence(r))),
		tabled(briefTable(r, sure)),
		{Facts: facts},
	}
}

// briefVerdicts are the outcomes of a run's verdicts, with the sentence of the first broken one,
// which is returned too.
func briefVerdicts(r *result.Run) (out []document.Fact, broken string) {
	names := map[string][]string{}
	for _, v := range r.Verdicts {
		word := outcomeWord(v)
		if word == result.Broken && broken == "" {
			broken = clean(v.Sentence)
			out = factsOf("broken", document.Bad,
				document.CutWords(verdictName(v)+": "+broken, briefWords))
			continue
		}
		names[word] = append(names[word], verdictName(v))
	}
	words := []string{fmt.Sprintf("%d hold", len(names[result.Holds]))}
	if more := names[result.Broken]; len(more) > 0 {
		words = append(words, "broken too: "+strings.Join(more, ", "))
	}
	if unknown := names[result.Unknown]; len(unknown) > 0 {
		words = append(words, "unknown: "+strings.Join(unknown, ", "))
	}
	if len(words) > 1 || len(names[result.Holds]) > 0 {
		out = append(out, factsOf("verdicts", "", strings.Join(words, "; "))...)
	}
	return out, broken
}

// briefClients says what a reader of "8 consumers" would not expect: that some received nothing, or
// that clients share connections.
func briefClients(r *result.Run) []document.Fact {
	var words []string
	tone := document.Tone("")
	for _, l := range r.Ledger.Subscriptions {
		if s := l.Sharing; s != nil && s.Idle > 0 {
			tone = document.Unsure
			words = append(words, fmt.Sprintf("%d of %d consumers of %s received nothing", s.Idle,
				s.Consumers, clean(l.Subscription)))
		}
	}
	l := r.Load
	producers, consumers := l.Topics*l.Producers, l.Topics*l.Subscriptions*l.Consumers
	if r.Connections > 0 && r.Connections < int64(producers+consumers) {
		words = append(words, fmt.Sprintf("%s and %s share %s",
			plural(producers, "producer", "producers"),
			plural(consumers, "consumer", "consumers"),
			plural(r.Connections, "connection", "connections")))
	}
	return factsOf("clients", tone, document.CutWords(strings.Join(words, "; "), briefWords))
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
	{"e2e p50", "e2e.p50", 0}, {"e2e p99", "e2e.p99", 3}, {"all CPU/msg", "cpu", 1},
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
