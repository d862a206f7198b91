package report

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// The report of a rolling restart has the times of each machine.
func TestRollingRestartHasTheTimesOfEachMachine(t *testing.T) {
	const second = 1_000_000_000
	r := &result.Run{
		Phases: []result.Phase{{Name: result.PhaseMeasure, StartNs: 5 * second}},
		Faults: []result.Fault{{
			Do: "rolling-restart", Target: "n1", Nodes: []string{"n1"}, StartNs: 15 * second,
			InjectedNs: 17 * second, HealStartNs: 17 * second, HealedNs: 17 * second,
			InSyncNs: 24 * second,
			Effect: result.Effect{UnavailableNs: 3 * second, ResolutionNs: 1,
				AckedAgainNs: 20 * second},
		}},
	}
	got := strings.Join(faultSentences(r), "\n")
	want := "rolling-restart n1 after 10s, stopped in 2s, in sync again 9s after the stop began: " +
		"no acknowledgement for 3s; the first again 3s after the heal, 3s after the injection; " +
		"recovered not seen before the next restart or the end of the load"
	if got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}
