package runs

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/report/fixture"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// closedLoop is a run of a closed loop. Its minutes go beyond its window, which is short
// because histograms take long.
func closedLoop(t *testing.T, name string) *result.Saved {
	t.Helper()
	sh := fixture.Small
	sh.Name, sh.StallAt, sh.Seconds = name, 0, 20
	s := sh.Load(t)
	l := &s.Run.Load
	l.Model, l.Arrivals, l.TargetRate, l.Segments, l.Workload = result.ClosedLoop, "", 0, nil,
		"mqperf"
	l.Closed = &result.Closed{InFlight: 1, BatchLeast: 1, BatchMost: 10}
	call := s.Run.Summary.Series(result.Publish)
	call.Series = result.SendCall
	s.Run.Summary.Latency = append(s.Run.Summary.Latency, call)
	s.Run.Summary.Minutes = []result.Minute{
		{StartNs: 0, EndNs: 60e9, SendCallP95Ns: 3e6, SendP95Ns: 2e6, EndToEndP95Ns: 4e6},
		{StartNs: 60e9, EndNs: 120e9, SendCallP95Ns: 5e6, SendP95Ns: 4e6},
	}
	s.Run.Summary.Generator.OwnLagMeanNs = 40e3
	fixture.Reconcile(&s.Run)
	verdict.JudgeSaved(s)
	return s
}

// A closed loop beside an open one is marked as such and ranked in no form.
func TestClosedLoopIsNotRankedWithAnOpenOne(t *testing.T) {
	open, loop := fixture.Small.Load(t), closedLoop(t, "loop")
	says(t, "table md html", []*result.Saved{open, loop},
		"their load models differ (open and closed loop)")
	for _, r := range row.Figures([]*result.Saved{open, loop}) {
		if hasBars(r) {
			t.Errorf("%s has bars", r.Name)
		}
	}
	var bars int
	for _, r := range row.Figures([]*result.Saved{loop, closedLoop(t, "loop")}) {
		if r.Section == "A whole send of a closed loop" && hasBars(r) {
			bars++
		}
	}
	if bars != 3 {
		t.Errorf("two closed loops have %d rows of send calls with bars, want 3", bars)
	}
}

func TestClosedLoopPageShowsMinutes(t *testing.T) {
	says(t, "html", []*result.Saved{closedLoop(t, "loop")}, "95th percentile by minute",
		"coordinated omission", "1m to 2m", "1 to 10 messages of 1KB in flight")
}
