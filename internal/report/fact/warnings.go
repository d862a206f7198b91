package fact

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Warnings returns the warnings of the run, its state when it is not complete, and the parts of
// it that could not be read, the gravest first.
func Warnings(s *result.Saved) []result.Warning {
	var out []result.Warning
	told := false
	for _, w := range s.Run.Warnings {
		out = append(out, result.Warning{Code: w.Code, Sentence: document.Clean(w.Sentence)})
		told = told || slices.Contains([]string{"incomplete", verdict.CodeRunning, "interrupted",
			"failed"}, w.Code)
	}
	if s.Run.State != result.Complete && !told {
		out = append(out, result.Warning{Code: string(s.Run.State),
			Sentence: "this run is " + State(&s.Run)})
	}
	out = append(out, Damage(s)...)
	verdict.BySeverity(out)
	return out
}

// Damage returns a warning for each part of the run that could not be read.
func Damage(s *result.Saved) (out []result.Warning) {
	for _, d := range s.Damage {
		out = append(out, result.Warning{Code: string(result.Incomplete),
			Sentence: "part of this run could not be read: " + document.Clean(d)})
	}
	return out
}

// Sentences are those of warnings.
func Sentences(all []result.Warning) (out []string) {
	for _, w := range all {
		out = append(out, w.Sentence)
	}
	return out
}

// WarningSentences are the sentences of Warnings.
func WarningSentences(s *result.Saved) []string { return Sentences(Warnings(s)) }

// Counted is a kind of warning of several results, with the first sentence.
type Counted struct {
	result.Warning
	Of     int  `json:"of"`               // so many results have it
	Differ bool `json:"differ,omitempty"` // their sentences differ
}

// Count counts the results that have warnings of a kind: each kind once, the gravest first.
func Count(results [][]result.Warning) (all []Counted) {
	var sentences phrase.Grouped[result.Warning, string]
	for _, own := range results {
		told := map[result.Warning]bool{}
		for _, w := range own {
			if key := kindOf(w); !told[key] {
				told[key] = true
				sentences.Add(key, w.Sentence)
			}
		}
	}
	verdict.BySeverity(sentences.Keys)
	for _, key := range sentences.Keys {
		said := sentences.Of[key]
		all = append(all, Counted{result.Warning{Code: key.Code, Sentence: said[0]},
			len(said), len(slices.Compact(slices.Sorted(slices.Values(said)))) > 1})
	}
	return all
}

// kindOf is the part of a warning that is equal in warnings of one kind. They differ in their
// figures, and those of a window that moved or of a limit also in what shows it.
func kindOf(w result.Warning) result.Warning {
	if w.Code == verdict.Steady || w.Code == verdict.Generator {
		w.Sentence, _, _ = strings.Cut(w.Sentence, ":")
	}
	return WithoutFigures(w)
}

// Among says how many of the results have the warning, and its sentence.
func (c Counted) Among(results int, one, many string) string {
	example := ""
	if c.Differ {
		example = ", for example"
	}
	return fmt.Sprintf("%d of %s%s: %s", c.Of, phrase.Plural(results, one, many), example,
		c.Sentence)
}

// remedies say what to do about the reasons not to rank a run, by their codes.
var remedies = map[string]string{
	verdict.Generator: "lower the rate, or share the load among workers (--workers)",
	verdict.Steady:    "measure longer (--duration) or warm up longer (--warm 3m)",
	verdict.Rate:      "plimsoll peak finds the rate that it carries",
	verdict.Receiving: "plimsoll peak finds the rate that it carries",
}

// Refusal says why a run is not ranked and what to do next; empty: it is ranked.
func Refusal(r *result.Run) string {
	of, why := verdict.RankingOf(r)
	if of == verdict.Ranked {
		return ""
	}
	out := document.Clean(why.Sentence)
	switch next := remedies[why.Code]; {
	case (why.Code == verdict.Generator || why.Code == verdict.Steady) &&
		slices.ContainsFunc(r.Warnings, func(w result.Warning) bool {
			return w.Code == verdict.NoisyMachine
		}):
		out += "; other programs used the machine: measure again when it is quiet"
	case why.Code == verdict.Generator && r.Load.Closed != nil: // it has no rate to lower
		out += "; share the load among workers (--workers)"
	case next != "":
		out += "; " + next
	}
	return out
}

// RankedBy reports whether a run may be ranked by a figure, which may be a latency.
func RankedBy(r *result.Run, latency bool) bool {
	of, _ := verdict.RankingOf(r)
	return of.Allows(latency)
}

// Rankable reports whether all of a run's figures may be ranked against another's.
func Rankable(r *result.Run) bool { return RankedBy(r, true) }

// Limiting names the limiting resource; none when nothing was observed.
func Limiting(r *result.Run) string {
	l := verdict.Limiting(r)
	switch {
	case l.Resource == verdict.NotKnown:
		return document.None
	case l.Share > 0 && l.Resource != verdict.NoneSeen:
		return fmt.Sprintf("%s, %s", document.Clean(l.Resource), phrase.Share(l.Share, 1))
	}
	return document.Clean(l.Resource)
}
