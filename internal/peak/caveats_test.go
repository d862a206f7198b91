package peak_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/peak"
	"github.com/plimsoll-bench/plimsoll/result"
)

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
