package bench_test

import (
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A subscription without consumers for 10 s at 250/s, which then gets 750/s, has 2,500 messages to
// read and catches up in 5 s. Another subscription of the same topic reads as before, and its
// latency stands by itself.
func TestTruthConsumersThatComeBackCatchUp(t *testing.T) {
	const away = 10 * time.Second
	w := load(published, 40*time.Second)
	w.Subscriptions, w.Consumers = 2, 2
	w.Scaling = []workload.GroupSize{{At: 10 * time.Second, Subscription: 1},
		{At: 10*time.Second + away, Consumers: 2, Subscription: 1}}
	s, _ := onSim(t, w, map[string]string{"drain_rate": "750/s", "delivery_delay": "1ms"})
	verdict.JudgeSaved(s)
	r := &s.Run
	if len(r.Scaling) != 3 || r.Scaling[2].Return == nil || r.Scaling[1].Return != nil {
		t.Fatalf("%+v", r.Scaling)
	}
	back := r.Scaling[2].Return
	within(t, "unread", float64(back.UnreadMessages), published*away.Seconds(), 0.01)
	within(t, "time to catch up", float64(back.CaughtUpNs), 5e9, 0.03)
	within(t, "rate of catching up", back.Rate(), 750, 0.02)
	if back.LeftMessages > 50 {
		t.Errorf("%d messages are left", back.LeftMessages)
	}
	states := []result.AbsenceState{result.BeforeAbsence, result.Away, result.CatchingUp,
		result.Back}
	if len(r.Absences) != len(states) {
		t.Fatalf("%+v", r.Absences)
	}
	for i, a := range r.Absences {
		if a.State != states[i] {
			t.Errorf("part %d is %q, want %q", i, a.State, states[i])
		}
		if p99, ok := a.EndToEnd.At(99); !ok || p99 > 3e6 {
			t.Errorf("%s: end-to-end p99 of those that kept reading is %d ns", a.State, p99)
		}
		if n := a.CatchUp.Count; (n > 50) != (a.State == result.CatchingUp) {
			t.Errorf("%s: %d messages were read to catch up", a.State, n)
		}
	}
	// The messages waited between 10 s, the first, and nothing, the last.
	caught := r.Absences[2].CatchUp
	within(t, "messages read to catch up", float64(caught.Count), 3750, 0.03)
	p50, _ := caught.At(50)
	within(t, "half of their latencies", float64(p50), 5e9, 0.05)
	within(t, "the longest of their latencies", float64(caught.MaxNs), 10e9, 0.01)
	if e2e := r.Summary.Series(result.EndToEnd); e2e.MaxNs > 1e9 || e2e.Missing.Total() > 0 {
		t.Errorf("end-to-end latency includes what waited: %+v", e2e)
	}
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken || v.Name == verdict.Receiving && v.Outcome != result.Holds {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	for _, l := range r.Ledger.Subscriptions {
		if l.Lost+l.Duplicate+l.Reordered > 0 || l.Received != r.Counters.Acked+r.Warmup.Acked {
			t.Errorf("%+v", l)
		}
	}
}

// Consumers that are too slow to catch up by the end of the window are told, and lose nothing.
func TestConsumersThatDoNotCatchUp(t *testing.T) {
	w := load(published, 20*time.Second)
	w.Consumers, w.Drain = 2, time.Minute
	w.Scaling = []workload.GroupSize{{At: 5 * time.Second}, {At: 15 * time.Second, Consumers: 1}}
	s, _ := onSim(t, w, map[string]string{"drain_rate": "300/s"})
	verdict.JudgeSaved(s)
	back := s.Run.Scaling[2].Return
	if back == nil || back.CaughtUpNs != 0 {
		t.Fatalf("%+v", back)
	}
	within(t, "left unread", float64(back.LeftMessages), 2500-5*(300-published), 0.02)
	for _, v := range s.Run.Verdicts {
		if want := v.Name == verdict.Receiving; want != (v.Outcome == result.Broken) {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
	if lost := s.Run.Ledger.Total().Lost; lost > 0 {
		t.Errorf("%d lost", lost)
	}
}

// A load that pauses offers nothing meanwhile, is measured as it is, and breaks nothing.
func TestTruthLoadPauses(t *testing.T) {
	step := func(rate float64) workload.Segment {
		return workload.Segment{From: rate, To: rate, For: 5 * time.Second}
	}
	w := load(published, 20*time.Second)
	w.Warmup = 2 * time.Second
	w.Load.Segments = []workload.Segment{step(0), step(published), step(0), step(2 * published)}
	s, _ := onSim(t, w, nil)
	verdict.JudgeSaved(s)
	r := &s.Run
	if c := r.Counters; c.Scheduled != 15*published || c.Acked != c.Scheduled ||
		r.Warmup.Scheduled != 0 {
		t.Errorf("%+v, warm-up %+v", c, r.Warmup)
	}
	within(t, "offered", r.Summary.OfferedRate, 15*published/20.0, 1e-9)
	within(t, "acknowledged", r.Summary.AchievedRate, 15*published/20.0, 0.001)
	from := r.Phases[slices.IndexFunc(r.Phases,
		func(p result.Phase) bool { return p.Name == result.PhaseMeasure })].StartNs
	for _, i := range s.Intervals {
		at := (i.StartNs + i.EndNs) / 2
		if paused := at < from+5e9 || at > from+10e9 && at < from+15e9; paused && i.Phase ==
			result.PhaseMeasure && (i.Scheduled > 0 || i.Acked > 0) {
			t.Errorf("in the pause, at %d s: %+v", (at-from)/1e9, i)
		}
	}
	if p99, ok := r.Summary.Series(result.Publish).At(99); !ok || p99 > 300_000 {
		t.Errorf("publish p99 %d ns, want the service time of 200us", p99)
	}
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken {
			t.Errorf("%s is %s: %s", v.Name, v.Outcome, v.Sentence)
		}
	}
}
