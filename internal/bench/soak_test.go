package bench_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// sleeper is the clock of a machine that sleeps for a given time at a given age of the run.
type sleeper struct {
	clock.Clock
	beganNs  int64
	at, long time.Duration
}

func (s *sleeper) Slept() (ns int64, known bool) {
	if s.Now()-s.beganNs >= int64(s.at) {
		return int64(s.long), true
	}
	return 0, true
}

// A sleep of the machine is noted with its length, a warning names it, and no latency has it.
func TestASleepOfTheMachineIsNoted(t *testing.T) {
	s := onSimAs(t, load(100, 5*time.Second), nil, func(job *bench.Job, _ *sim.System) {
		job.Clock = &sleeper{clock.Virtual(), clock.Now(), 2500 * time.Millisecond, 2 * time.Hour}
	})
	verdict.JudgeSaved(s)
	sleeps := s.Run.Sleeps
	if len(sleeps) != 1 || sleeps[0].Ns != int64(2*time.Hour) ||
		sleeps[0].ToNs-sleeps[0].FromNs > int64(1100*time.Millisecond) {
		t.Fatalf("sleeps %+v", sleeps)
	}
	if worst := s.Run.Summary.Series(result.Publish).MaxNs; worst > int64(time.Second) {
		t.Errorf("a latency of %v", time.Duration(worst))
	}
	if !slices.ContainsFunc(s.Run.Warnings, func(w result.Warning) bool {
		return w.Code == "sleep" && strings.Contains(w.Sentence, "once, for 2h in all")
	}) {
		t.Errorf("warnings %v", s.Run.Warnings)
	}
	if !slices.ContainsFunc(s.Events, func(e result.Event) bool { return e.Kind == "sleep" }) {
		t.Errorf("events %v", s.Events)
	}
}

// A run records the planted leak and the planted drift of the service time of the simulated
// system. internal/verdict finds them in windows of hours.
func TestTruthALeakAndADriftAreRecorded(t *testing.T) {
	// 1 MB a second, and a service time that doubles in 10 s.
	s, _ := onSim(t, load(100, 10*time.Second), map[string]string{"memory": "1MB", "leak": "3600MB",
		"service_time": "1ms", "service_drift": "360"})
	gauges := s.Run.Observation.Gauges
	if len(gauges) != 1 || gauges[0].Name != "memory" {
		t.Fatalf("gauges %+v", gauges)
	}
	within(t, "growth of the memory", (gauges[0].Last-gauges[0].First)/(1<<20), 9, 0.15)
	first, last := s.Intervals[0], s.Intervals[9]
	at := func(i result.Interval) float64 {
		return float64(result.Summary{Latency: i.Latency}.Series(result.Publish).MaxNs)
	}
	within(t, "growth of the latency", at(last)/at(first), 2/1.1, 0.02)
}
