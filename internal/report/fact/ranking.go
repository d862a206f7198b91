package fact

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
