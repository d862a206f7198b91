package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/known"
	"github.com/plimsoll-bench/plimsoll/internal/report/part"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// sidesOf are the targets of runs, each with its trials.
func sidesOf(runs []*result.Saved) []compare.Side {
	called := fact.Names(runs)
	for i, s := range runs {
		if s.Run.Trial != nil {
			called[i] = fact.Name(&s.Run)
		}
	}
	return compare.ByName(runs, called)
}

// ahead names the figures by which an answer orders targets; the first that all have decides.
var ahead = []struct{ name, verb string }{
	{"publish.p50", "publishes"}, {"e2e.p50", "delivers"},
}

// mostCompared bounds the pairs of targets in an answer.
const mostCompared = 4

// Answer says which of several targets is faster, by how much and how surely, and which cannot
// be ranked.
func Answer(runs []*result.Saved) string {
	sides := sidesOf(runs)
	var parts []string
	for _, side := range sides {
		t := ledgerOf(side)
		if t.Lost > 0 {
			parts = append(parts, fmt.Sprintf("%s lost %s", side.Name,
				quantity.Plural(t.Lost, "message", "messages")))
		}
		if t.Corrupt > 0 {
			parts = append(parts, fmt.Sprintf("%s delivered %s", side.Name,
				quantity.Plural(t.Corrupt, "damaged message", "damaged messages")))
		}
	}
	if why := Incomparable(runs); len(why) > 0 {
		if len(parts) == 0 {
			return "Not to be ranked: " + why[0] + "."
		}
		return strings.Join(append(parts, "not to be ranked: "+why[0]), "; ") + "."
	}
	ranked, refused := splitRanked(sides)
	f, verb, sorted := sortedBy(ranked)
	switch {
	case len(sides) == 1:
		parts = append(parts, repeatedAnswer(sides[0]))
	case len(sorted) > 1:
		parts = append(parts, pairsOf(f, verb, sorted)...)
	case len(ranked) == 1:
		parts = append(parts, "only "+ranked[0].Name+" can be ranked")
	case len(ranked) > 1:
		parts = append(parts, "the targets have no latency in common")
	}
	parts = append(parts, refused...)
	out := strings.Join(parts, "; ") + "."
	if at := fact.Shared(runs, offeredAt); at != "" && len(sides) > 1 {
		out = "At " + at + ": " + out
	}
	return out
}

// offeredAt is the level and the load of a run.
func offeredAt(r *result.Run) string {
	load := fact.Load(r)
	if load == "" || r.Durability.Level == 0 {
		return load
	}
	return phrase.Level(r.Durability.Level) + " and " + load
}

// ledgerOf adds up the accounts of a target's runs.
func ledgerOf(side compare.Side) (sum result.SubscriptionLedger) {
	for _, s := range side.Runs {
		t := s.Run.Ledger.Total()
		sum.Lost, sum.Unread, sum.Corrupt = sum.Lost+t.Lost, sum.Unread+t.Unread,
			sum.Corrupt+t.Corrupt
	}
	return sum
}

// lostWords counts the messages that a target's runs lost, if all of them account for theirs.
func lostWords(side compare.Side) string {
	if slices.ContainsFunc(side.Runs, func(s *result.Saved) bool { return !s.Run.Accounted() }) {
		return document.None
	}
	return fact.Lost(ledgerOf(side))
}

// splitRanked separates the targets whose runs may all be ranked from the others, and says why
// those may not.
func splitRanked(sides []compare.Side) (ranked []compare.Side, refused []string) {
	var whys phrase.Grouped[string, string]
	for _, side := range sides {
		at := slices.IndexFunc(side.Runs,
			func(s *result.Saved) bool { return !fact.Rankable(&s.Run) })
		if at < 0 {
			ranked = append(ranked, side)
			continue
		}
		whys.Add(fact.Refusal(&side.Runs[at].Run), side.Name)
	}
	for _, why := range whys.Keys {
		refused = append(refused, fmt.Sprintf("%s not ranked: %s", listedAre(whys.Of[why]), why))
	}
	return ranked, refused
}

// listedAre lists names with their verb.
func listedAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return phrase.List(names) + " are"
}

// sortedBy returns the first figure of ahead that all targets have, and the targets from the
// fastest on; none: they have none in common.
func sortedBy(sides []compare.Side) (f figure.Figure, verb string, sorted []compare.Side) {
	for _, by := range ahead {
		f, middles := figure.Named(by.name), map[string]float64{}
		for _, side := range sides {
			if v, known := middleOf(side, f); known {
				middles[side.Name] = v
			}
		}
		if len(middles) < len(sides) || len(sides) == 0 {
			continue
		}
		sorted = slices.SortedStableFunc(slices.Values(sides), func(a, b compare.Side) int {
			return cmp.Compare(middles[a.Name], middles[b.Name])
		})
		return f, by.verb, sorted
	}
	return f, "", nil
}

// middleOf is the median of a target's runs; unknown if a run lacks the figure.
func middleOf(side compare.Side, f figure.Figure) (v float64, known bool) {
	var all []float64
	for _, s := range side.Runs {
		v, ok := f.Value(&s.Run)
		if !ok {
			return 0, false
		}
		all = append(all, v)
	}
	return stats.Median(all), len(all) > 0
}

// pairsOf compares each target with the next slower one.
func pairsOf(f figure.Figure, verb string, sorted []compare.Side) (out []string) {
	for i, b := range sorted[1:] {
		a := sorted[i]
		if i == mostCompared {
			return append(out, "the table has the others")
		}
		e, tail, why := effectsOf(a, b, f)
		switch {
		case why != "":
			out = append(out, fmt.Sprintf("%s and %s are not compared: %s", a.Name, b.Name, why))
		case !e.Tested():
			out = append(out, fmt.Sprintf("%s and %s were measured too briefly to tell them apart",
				a.Name, b.Name))
		case e.Shown:
			out = append(out, fasterWords(a, b, verb, e))
		default:
			words := fmt.Sprintf("between %s and %s no difference was shown at %s", a.Name, b.Name,
				result.PercentileName(f.Percentile))
			if tail.Shown {
				words += ", but " + fasterWords(a, b, verb, tail)
			}
			out = append(out, words)
		}
	}
	return out
}

// fasterWords say by how much a is faster than b, or slower.
func fasterWords(a, b compare.Side, verb string, e compare.Effect) string {
	ratio, low, high, than := e.Ratio, e.Low, e.High, "faster"
	if ratio < 1 {
		ratio, low, high, than = 1/ratio, 1/high, 1/low, "slower"
	}
	return fmt.Sprintf("%s %s %s %s than %s at %s", a.Name, verb,
		known.Bracketed(factor(ratio), known.Reach(low, high, factor)), than, b.Name,
		result.PercentileName(e.Figure.Percentile))
}

// effectsOf compares two targets by a latency, and by its p99: tail is the zero Effect where a run
// lacks that. why says why the targets are not compared; empty: they are.
func effectsOf(a, b compare.Side, f figure.Figure) (e, tail compare.Effect, why string) {
	if objections := compare.Objects(a, b); len(objections) > 0 {
		return e, tail, document.Clean(objections.Sentences()[0])
	}
	series, _, _ := strings.Cut(f.Name, ".")
	p99 := figure.Named(series + ".p99")
	c, err := compare.New(a, b, f, p99)
	if err != nil {
		return e, tail, err.Error()
	}
	for _, got := range c.Figures {
		switch got.Figure.Name {
		case f.Name:
			e = got
		case p99.Name:
			tail = got
		}
	}
	if e.Figure.Name == "" {
		return e, tail, f.Name + " is not known for every run"
	}
	return e, tail, ""
}

// factor prints a ratio for a sentence.
func factor(v float64) string {
	digits := 0
	switch {
	case v < 2:
		digits = 2
	case v < 10:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + "x"
}

// repeatedAnswer gives the figures of several runs of one target.
func repeatedAnswer(side compare.Side) string {
	out := fmt.Sprintf("%s of %s", phrase.Plural(len(side.Runs), "run", "runs"), side.Name)
	figures, centers := compare.Medians(side.Runs)
	for i, f := range figures {
		if f.Name == "rate" || f.Name == "publish.p99" || f.Name == "e2e.p99" {
			out += fmt.Sprintf("; %s %s", f.Name, known.Bracketed(known.Center(f.Unit, centers[i])))
		}
	}
	if lost := lostWords(side); lost != document.None {
		out += "; lost " + lost
	}
	return out
}

// Brief is the answer of several targets, with a line for each.
func Brief(runs []*result.Saved) []document.Block { return BriefBlocks(runs, Answer(runs)) }

// BriefBlocks are the blocks of Brief, with an answer that is known already.
func BriefBlocks(runs []*result.Saved, answer string) []document.Block {
	sides := sidesOf(runs)
	title := part.Title("", phrase.Plural(len(sides), "target", "targets")+" side by side",
		fact.Shared(runs, fact.BriefLoad))
	return []document.Block{title, part.Paragraph(document.Answer, answer),
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
		values := []string{fact.ShortLevel(first), lostWords(side)}
		printed := map[string]string{}
		figures, centers := compare.Medians(side.Runs)
		for i, f := range figures {
			printed[f.Name], _ = known.Center(f.Unit, centers[i])
		}
		for _, c := range sideColumns {
			values = append(values, cmp.Or(printed[c.Figure], document.None))
		}
		row := document.Row{Name: side.Name, Values: document.Cells(values...)}
		if ledgerOf(side).Lost > 0 {
			row.Values[1].Tone = document.Bad
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Closing returns the last sentence on runs: which did not reach the offered rate, or were limited
// by plimsoll; empty: none.
func Closing(runs []*result.Saved) string {
	var groups phrase.Grouped[string, string]
	for i, n := range fact.Names(runs) {
		r := &runs[i].Run
		v, overloaded := verdict.Overloaded(r)
		switch {
		case r.Summary.Generator.Limited:
			groups.Add("plimsoll itself was the limit, so the figures are not the system's: "+
				strings.TrimPrefix(verdictSentence(r, verdict.Generator),
					"plimsoll itself was the limit: "), n)
		case overloaded && v.Name == verdict.Rate:
			groups.Add("the offered rate was not reached: "+document.Clean(v.Sentence), n)
		case overloaded:
			groups.Add(document.Clean(v.Sentence), n)
		}
	}
	var out []string
	for _, sentence := range groups.Keys {
		if len(runs) > 1 {
			sentence = strings.Join(groups.Of[sentence], ", ") + ": " + sentence
		}
		out = append(out, sentence)
	}
	if len(out) > 1 {
		return fmt.Sprintf("%s; and %s like it", out[0], phrase.Plural(len(out)-1, "more", "more"))
	}
	return strings.Join(out, "")
}

func verdictSentence(r *result.Run, name string) string {
	for _, v := range r.Verdicts {
		if v.Name == name {
			return document.Clean(v.Sentence)
		}
	}
	return ""
}
