package table

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
	got := strings.Join(FaultSentences(r), "\n")
	want := "rolling-restart n1 after 10s, stopped in 2s, in sync again 9s after the stop began: " +
		"no acknowledgement for 3s; the first again 3s after the heal, 3s after the injection; " +
		"recovered not seen before the next restart or the end of the load"
	if got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// An outage that lasted at the end of the load is printed as a lower bound.
func TestAnOutageOfTheLoadsEndIsALowerBound(t *testing.T) {
	const second = 1_000_000_000
	r := &result.Run{Faults: []result.Fault{{Do: "kill", Target: "leader", StartNs: second,
		InjectedNs: second, HealStartNs: 2 * second, HealedNs: 2 * second,
		Effect: result.Effect{UnavailableNs: 3 * second, UnavailableBound: result.AtLeast,
			ResolutionNs: 1}}}}
	want := "no acknowledgement for at least 3s; the first again not before the end of the load; " +
		"recovered not seen while load was offered"
	if got := FaultSentences(r)[0]; !strings.Contains(got, want) {
		t.Errorf("%s\nlacks\n%s", got, want)
	}
	rows := Faults(r).Rows[0].Values
	if rows[1].Words != "at least 3s" || rows[2].Words != "not before the end of the load" {
		t.Errorf("%+v", rows)
	}
	r.Scaling = []result.ScaleStep{{LongestGapNs: 2 * second, LongestGapBound: result.AtLeast,
		MedianGapNs: second}}
	if got := Scaling(r).Rows[0].Values; got[3].Words != "1s" || got[4].Words != "≥ 2s" {
		t.Errorf("%+v", got)
	}
}
