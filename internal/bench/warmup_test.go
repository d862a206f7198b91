package bench_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A warm-up that ends by itself does so on a steady system, at a whole second,
// and the window after it has the requested length.
func TestTruthWarmupEndsWhenSettled(t *testing.T) {
	w := load(500, 5*time.Second)
	w.Warmup, w.Settle = 2*time.Minute, true
	s, _ := onSim(t, w, map[string]string{"service": "lognormal", "service_time": "2ms"})
	settling, warmup := s.Run.Settling, s.Run.Load.WarmupSeconds
	if settling == nil || !settling.Settled || settling.AfterNs < 20e9 || warmup > 60 ||
		warmup != float64(int(warmup)) {
		t.Fatalf("settling %+v, warm-up of %v s", settling, warmup)
	}
	if got := s.Run.Counters.Scheduled; got != 2_500 {
		t.Errorf("%d messages are of the window, want 2,500", got)
	}
	if got := s.Run.Warmup.Scheduled; got != int64(500*warmup) {
		t.Errorf("%d messages are of the warm-up of %v s", got, warmup)
	}
	if got := s.Run.Summary.Series(result.EndToEnd).Count; got != 2_500 {
		t.Errorf("%d end-to-end latencies are of the window", got)
	}
	for _, p := range s.Run.Phases {
		if p.Name == result.PhaseMeasure &&
			time.Duration(p.EndNs-p.StartNs).Round(time.Second) != 5*time.Second {
			t.Errorf("the window is %v", time.Duration(p.EndNs-p.StartNs))
		}
	}
}

// A queue that only grows never settles: the run goes on after the longest
// warm-up, and says so.
func TestTruthWarmupThatNeverSettles(t *testing.T) {
	skipUnderRace(t)
	w := load(500, 3*time.Second)
	w.Warmup, w.Settle, w.Drain = 30*time.Second, true, time.Minute
	s, _ := onSim(t, w, map[string]string{"capacity": "375/s"})
	if g := s.Run.Settling; g == nil || g.Settled || s.Run.Load.WarmupSeconds != 30 {
		t.Fatalf("settling %+v, warm-up of %v s", g, s.Run.Load.WarmupSeconds)
	}
	if got := s.Run.Counters.Scheduled; got != 1500 {
		t.Errorf("%d messages are of the window, want 1,500", got)
	}
}
