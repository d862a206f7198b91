package peak_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Only a rate that was stable in one trial and unstable in another is said to have been so, and not
// one whose objective could not be decided.
func TestCaveatOfMixedRates(t *testing.T) {
	trials := func(second verdict.Stability) []peak.Trial {
		return []peak.Trial{{Judged: true, TargetRate: 10, Verdict: verdict.Stability{Stable: true}},
			{Judged: true, TargetRate: 12, Verdict: second},
			{Judged: true, TargetRate: 12, Verdict: verdict.Stability{Stable: true}},
			{Judged: true, TargetRate: 14}}
	}
	for want, second := range map[bool]verdict.Stability{true: {}, false: {Undecided: true}} {
		s := peak.Saved{Bracket: peak.Bracket{StableRate: 10, UnstableRate: 14, MixedRate: 12},
			Trials: trials(second)}
		if said := slices.ContainsFunc(s.Caveats(), func(w result.Warning) bool {
			return strings.Contains(w.Sentence, "stable in one run and unstable in another")
		}); said != want {
			t.Errorf("%+v: %+v", second, s.Caveats())
		}
	}
}

// A search says why it ends with 1, and whether its servers were warm.
func TestCaveatsOfServers(t *testing.T) {
	for want, s := range map[string]peak.Saved{
		"in trial 2 the system broke a promise, or a server ended by itself": {
			Trials: []peak.Trial{{Number: 1}, {Number: 2, Unsound: true}}},
		"may not have been warm: their warm-up was stopped after 4GB": {
			Warming: &result.Warming{Asked: result.WarmedAuto, Why: "stopped after 4GB"}},
	} {
		said := func(s peak.Saved) bool {
			return slices.ContainsFunc(s.Caveats(), func(w result.Warning) bool {
				return strings.Contains(w.Sentence, want)
			})
		}
		if !said(s) || said(peak.Saved{Warming: &result.Warming{Steady: true}}) {
			t.Errorf("%q: %+v", want, s.Caveats())
		}
	}
}
