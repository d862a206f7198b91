package bench_test

import (
	"context"
	"math"
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// closed returns a workload of producers in a closed loop.
func closed(producers, inFlight, least, most int, length time.Duration) *workload.Workload {
	w := load(1, length)
	w.Load = workload.Load{Closed: &workload.Closed{InFlight: inFlight,
		Batch: workload.Batch{Least: least, Most: most}}}
	w.Producers, w.MaxInFlight = producers, inFlight*most
	return w
}

func within(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A service time of S, P producers, N sends of B messages each in flight: the rate is P x N x B /
// S, and the latency S.
func TestTruthClosedLoopRateAndLatency(t *testing.T) {
	for _, c := range []struct{ producers, inFlight, batch int }{{1, 1, 1}, {3, 1, 10}, {2, 5, 4}} {
		w := closed(c.producers, c.inFlight, c.batch, c.batch, 10*time.Second)
		w.Warmup = time.Second
		s, _ := onSim(t, w, map[string]string{"service_time": "10ms"})
		asked := float64(c.producers * c.inFlight * c.batch)
		within(t, "achieved rate", s.Run.Summary.AchievedRate, asked/0.01, 0.01)
		within(t, "received rate", s.Run.Summary.ReceivedRate, asked/0.01, 0.01)
		for _, series := range []result.Series{result.Publish, result.Send, result.SendCall} {
			within(t, string(series)+" p99", float64(percentile(t, s, series, 99)), 10e6, 0.01)
		}
		within(t, "end-to-end p50", float64(percentile(t, s, result.EndToEnd, 50)), 10.05e6, 0.01)
		within(t, "mean in flight", s.Run.Summary.InFlight, asked, 0.01)
		if s.Run.Counters.Acked != s.Run.Counters.Scheduled ||
			s.Run.Ledger.Subscriptions[0].Lost != 0 ||
			s.Run.Ledger.Subscriptions[0].Reordered != 0 {
			t.Errorf("%+v, %+v", s.Run.Counters, s.Run.Ledger)
		}
		verdict.JudgeSaved(s)
		for _, v := range s.Run.Verdicts {
			if v.Outcome == result.Broken || v.Name == verdict.Counts && v.Outcome != result.Holds {
				t.Errorf("%+v: %s is %s: %s", c, v.Name, v.Outcome, v.Sentence)
			}
		}
	}
}

// A send lasts as long as its slowest message, and the figures of each minute stand beside those
// of the window.
func TestTruthClosedLoopWaitsForTheSlowest(t *testing.T) {
	million(t)
	w := closed(2, 1, 10, 10, 150*time.Second)
	s, _ := onSim(t, w, map[string]string{"service": "exponential", "service_time": "10ms"})
	// The mean of the greatest of ten exponential times is their mean times
	// 1 + 1/2 + ... + 1/10.
	within(t, "mean send call", s.Run.Summary.Series(result.SendCall).MeanNs, 29.29e6, 0.02)
	within(t, "achieved rate", s.Run.Summary.AchievedRate, 20/0.02929, 0.02)
	minutes := s.Run.Summary.Minutes
	if len(minutes) != 2 || minutes[1].StartNs != 60e9 || minutes[1].EndNs != 120e9 {
		t.Fatalf("minutes are %+v", minutes)
	}
	// The greatest of ten is below x with a chance of (1-exp(-x/10ms))^10.
	p95 := -10e6 * math.Log(1-math.Pow(0.95, 0.1))
	for _, m := range minutes {
		within(t, "p95 of a minute's send calls", float64(m.SendCallP95Ns), p95, 0.05)
		within(t, "p95 of a minute's sends", float64(m.SendP95Ns), 10e6*math.Log(20), 0.05)
	}
	// After a crash the minutes are recomputed from the saved data, with the same result.
	s.Run.State = result.Running
	if err := result.Save(s.Dir, &s.Run); err != nil {
		t.Fatal(err)
	}
	crashed, err := result.Read(s.Dir)
	if err != nil || crashed.Run.State != result.Incomplete ||
		!reflect.DeepEqual(crashed.Run.Summary.Minutes, minutes) {
		t.Errorf("%v: a crashed run has the minutes %+v, want %+v", err,
			crashed.Run.Summary.Minutes, minutes)
	}
	if m := closedMinutes(t); len(m) != 1 || m[0].SendCallP95Ns < 1_990_000 ||
		m[0].EndToEndP95Ns == 0 || m[0].EndNs < 5e9 {
		t.Errorf("a short run has the minutes %+v", m)
	}
}

func closedMinutes(t *testing.T) []result.Minute {
	t.Helper()
	s, _ := onSim(t, closed(1, 1, 1, 3, 5*time.Second), map[string]string{"service_time": "2ms"})
	return s.Run.Summary.Minutes
}

// A stall is charged only to the messages in flight, as always in a closed loop, and the run says
// so.
func TestTruthClosedLoopHidesAStall(t *testing.T) {
	skipUnderRace(t)
	s, _ := onSim(t, closed(1, 1, 1, 1, 30*time.Second), map[string]string{
		"service_time": "1ms", "stall_every": "10s", "stall_for": "1s",
	})
	if got := percentile(t, s, result.Publish, 99); got > 2*time.Millisecond {
		t.Errorf("publish p99 is %v", got)
	}
	if got := time.Duration(
		s.Run.Summary.Series(result.Publish).MaxNs); got < 990*time.Millisecond {
		t.Errorf("publish max is %v", got)
	}
	verdict.JudgeSaved(s)
	if len(s.Run.Warnings) == 0 || s.Run.Warnings[0].Code != "closed_loop" {
		t.Errorf("warnings %+v", s.Run.Warnings)
	}
}

// Refused, lost and swapped messages are accounted for as in any run.
func TestTruthClosedLoopAccount(t *testing.T) {
	w := closed(2, 3, 1, 10, 10*time.Second)
	w.Subscriptions, w.Keys = 2, workload.Keys{Kind: workload.KeysRandom, Count: 100}
	s, planted := onSim(t, w, map[string]string{
		"service_time": "5ms", "fail_per_million": "1000", "lose_per_million": "100",
		"duplicate_per_million": "100",
	})
	if planted.Failed == 0 || planted.Lost == 0 || s.Run.Counters.Failed != planted.Failed {
		t.Errorf("planted %+v, counters %+v", planted, s.Run.Counters)
	}
	for _, l := range s.Run.Ledger.Subscriptions {
		if l.Lost != planted.Lost || l.Duplicate != planted.Duplicated || l.Corrupt != 0 ||
			l.Foreign != 0 {
			t.Errorf("planted %+v, found %+v", planted, l)
		}
	}
}

// A run that is cut off while the system still works says what it left out, and a run with late
// answers waits for them in its drain.
func TestTruthClosedLoopDrains(t *testing.T) {
	w := closed(2, 2, 5, 5, 4*time.Second)
	s, _ := onSim(t, w, map[string]string{"service_time": "3s"})
	// Two turns of 20 messages: at 0 s and at 3 s, whose answer comes at 6 s.
	if c := s.Run.Counters; c.Scheduled != 40 || c.Acked != 40 ||
		s.Run.Ledger.Subscriptions[0].Received != 40 {
		t.Errorf("%+v", c)
	}
	w.Drain = time.Second
	s, _ = onSim(t, w, map[string]string{"service_time": "15s"})
	if c := s.Run.Counters; c.Scheduled != 20 || c.Unknown != 20 {
		t.Errorf("%+v", c)
	}
}

// An interrupted run keeps its measurements.
func TestTruthClosedLoopInterrupted(t *testing.T) {
	var dir string
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer cancel()
		var err error
		job := jobOn(t, sim.New(clock.Timers(), nil), t.TempDir(), closed(2, 1, 1, 10, time.Minute),
			map[string]string{"service_time": "2ms"})
		job.Runs = t.TempDir()
		if dir, err = bench.Run(ctx, job, silent{}); err != nil {
			t.Fatal(err)
		}
		s, err := result.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, s)
		if s.Run.State != result.Interrupted || s.Run.Counters.Acked == 0 ||
			s.Run.Counters.Acked != s.Run.Counters.Scheduled ||
			s.Run.Ledger.Subscriptions[0].Lost != 0 {
			t.Errorf("%s: %+v", s.Run.State, s.Run.Counters)
		}
		if m := s.Run.Summary.Minutes; len(m) != 1 || m[0].EndNs > 6e9 {
			t.Errorf("minutes %+v", m)
		}
	})
}

// A gauge finds the capacity of a system, independently of the workload's rate, and leaves nothing
// behind.
func TestTruthGauge(t *testing.T) {
	runs, rate := t.TempDir(), 0.0
	synctest.Test(t, func(t *testing.T) {
		job := jobOn(t, sim.New(clock.Timers(), nil), runs, load(100, 9*time.Second),
			map[string]string{"capacity": "5k/s", "service_time": "0s"})
		var err error
		if rate, err = bench.Gauge(t.Context(), job, 2*time.Second, silent{}); err != nil {
			t.Fatal(err)
		}
		if job.Workload.Load.Closed != nil || job.Runs != runs {
			t.Error("the job has changed")
		}
	})
	within(t, "the gauged rate", rate, 5_000, 0.02)
	if left, err := os.ReadDir(runs); err != nil || len(left) > 0 {
		t.Errorf("%d folders are left, %v", len(left), err)
	}
}
