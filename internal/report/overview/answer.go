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
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
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
		if lost := lostIn(side); lost > 0 {
			parts = append(parts, fmt.Sprintf("%s lost %s", side.Name,
				phrase.Plural(lost, "message", "messages")))
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

func lostIn(side compare.Side) (n int64) {
	for _, s := range side.Runs {
		n += s.Run.Ledger.Total().Lost
	}
	return n
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
				phrase.Percentile(f.Percentile))
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
		phrase.Percentile(e.Figure.Percentile))
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
	if lost := lostIn(side); lost == 0 {
		out += "; lost 0"
	}
	return out
}
