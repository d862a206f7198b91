package bench_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// An outage that lasts at the end of the load is a lower bound up to that end, whether or not
// acknowledgements come again in the drain.
func TestTruthOutageEndsWithTheLoad(t *testing.T) {
	for name, recovery := range map[string]string{"comes back in the drain": "3s",
		"stays away for the whole drain": "20s"} {
		t.Run(name, func(t *testing.T) {
			w := withFault(workload.Fault{Do: workload.FaultKill, Target: workload.TargetLeader,
				At: 7 * time.Second, For: 2 * time.Second})
			s, _ := onSim(t, w, map[string]string{"fault_recovery": recovery})
			verdict.JudgeSaved(s)
			e := s.Run.Faults[0].Effect
			if e.UnavailableBound != result.AtLeast ||
				!near(e.UnavailableNs, 3*time.Second, 5*time.Millisecond) {
				t.Errorf("unavailable for %v (%q), want at least 3s",
					time.Duration(e.UnavailableNs), e.UnavailableBound)
			}
			if e.AckedAgainNs != 0 || e.RecoveredNs != 0 {
				t.Errorf("acknowledged again and recovered after the load: %+v", e)
			}
		})
	}
}

// A partition that stands still at the end of the window has stood still for at least as long as
// until then.
func TestTruthStandstillOfTheWindowsEndIsALowerBound(t *testing.T) {
	w := load(1000, 10*time.Second)
	w.Consumers, w.Drain = 2, 2*time.Minute
	w.Scaling = []workload.GroupSize{{At: 4 * time.Second, Consumers: 1},
		{At: 9 * time.Second, Consumers: 2}}
	s, _ := onSim(t, w, map[string]string{"rebalance_for": "3s"})
	steps := s.Run.Scaling
	if len(steps) != 3 {
		t.Fatalf("%d stretches", len(steps))
	}
	ended, open := steps[1], steps[2]
	if ended.LongestGapBound != result.Exact ||
		!near(ended.LongestGapNs, 3*time.Second, 10*time.Millisecond) {
		t.Errorf("a standstill of 3s: %+v", ended)
	}
	if open.LongestGapBound != result.AtLeast || open.MedianGapBound != result.AtLeast ||
		!near(open.LongestGapNs, time.Second, 10*time.Millisecond) {
		t.Errorf("a standstill that had lasted for 1s: %+v", open)
	}
}
