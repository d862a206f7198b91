package bench_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// rolling is a load with a rolling restart in it.
func rolling(window, limit time.Duration) *workload.Workload {
	w := load(500, window)
	w.Warmup, w.Drain = time.Second, 5*time.Second
	w.Faults = []workload.Fault{{Do: workload.FaultRollingRestart, Target: workload.TargetAll,
		At: 3 * time.Second, For: limit}}
	return w
}

func verdictOf(r *result.Run, name string) result.Verdict {
	i := slices.IndexFunc(r.Verdicts, func(v result.Verdict) bool { return v.Name == name })
	if i < 0 {
		return result.Verdict{}
	}
	return r.Verdicts[i]
}

// Three machines take 400 ms to stop, messages wait 300 ms more after the start, and a machine
// is in sync after 3 s: the figures say exactly that, for each machine and for all.
func TestTruthRollingRestartIsTimed(t *testing.T) {
	skipUnderRace(t)
	s, _ := onSim(t, rolling(30*time.Second, 25*time.Second), map[string]string{
		"fault_stop": "400ms", "fault_recovery": "300ms", "fault_sync": "3s",
	})
	verdict.JudgeSaved(s)
	if s.Run.State != result.Complete || len(s.Run.Faults) != 3 || s.Run.Rolling == nil {
		t.Fatalf("%s, %+v", s.Run.State, s.Run.Faults)
	}
	for i, f := range s.Run.Faults {
		if want := []string{"m1", "m2", "m3"}[i]; f.Target != want || f.Error != "" {
			t.Errorf("%+v, not %s", f, want)
		}
		if !near(f.InjectedNs-f.StartNs, 400*time.Millisecond, time.Millisecond) ||
			!near(f.InSyncNs-f.HealedNs, 3*time.Second, 210*time.Millisecond) {
			t.Errorf("%s: %+v", f.Target, f)
		}
		if !near(f.Effect.UnavailableNs, 700*time.Millisecond, 5*time.Millisecond) ||
			f.Effect.RecoveredNs == 0 {
			t.Errorf("%s: %+v", f.Target, f.Effect)
		}
		if i > 0 && !near(f.StartNs-s.Run.Faults[i-1].InSyncNs, time.Second, 210*time.Millisecond) {
			t.Errorf("%s began before the one before it was in sync for a second", f.Target)
		}
	}
	r := s.Run.Rolling
	if r.Machines != 3 || r.InSync != 3 || r.Refused != 0 ||
		!near(r.UnavailableNs, 2100*time.Millisecond, 15*time.Millisecond) ||
		r.TotalNs != s.Run.Faults[2].InSyncNs-s.Run.Faults[0].StartNs {
		t.Errorf("%+v", r)
	}
	v := verdictOf(&s.Run, verdict.Rolling)
	if v.Outcome != result.Holds || !strings.Contains(v.Sentence, "3 of 3 machines") {
		t.Errorf("%+v", v)
	}
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost != 0 || s.Run.Impact.After.Acked == 0 {
		t.Errorf("%+v, %+v", l, s.Run.Impact.After)
	}
}

// Messages refused while machines stop are in the result: 500 messages a second, for 400 ms, three
// times.
func TestTruthRollingRestartCountsWhatIsRefused(t *testing.T) {
	skipUnderRace(t)
	s, planted := onSim(t, rolling(20*time.Second, 15*time.Second), map[string]string{
		"fault_stop": "400ms", "fault_messages": "refused",
	})
	verdict.JudgeSaved(s)
	if r := s.Run.Rolling; r.Refused != planted.Failed || r.Refused < 590 || r.Refused > 610 {
		t.Errorf("%+v, planted %d", r, planted.Failed)
	}
}

// A machine that never comes back in sync ends the run after the given time, and the others are
// left alone.
func TestRollingRestartGivesUpAMachineThatNeverComesBack(t *testing.T) {
	s, ran := endsOnSim(t, rolling(20*time.Second, 8*time.Second),
		map[string]string{"fault_sync": "10m"}, time.Hour, unchanged)
	if ran == nil || !strings.Contains(ran.Error(),
		"m1 was not in sync again 8s after its start, and the rolling restart is given up after 8s") {
		t.Error(ran)
	}
	if s.Run.State != result.Failed || len(s.Run.Faults) != 1 || s.Run.Faults[0].HealedNs == 0 ||
		s.Run.Rolling.InSync != 0 || s.Run.Rolling.Machines != 3 {
		t.Errorf("%s, %+v, %+v", s.Run.State, s.Run.Faults, s.Run.Rolling)
	}
	if v := verdictOf(&s.Run, verdict.Rolling); v.Outcome != result.Broken ||
		!strings.HasPrefix(v.Sentence, "0 of 3 machines") {
		t.Errorf("%+v", v)
	}
}

// A run that is stopped meanwhile restarts no further machine.
func TestRollingRestartEndsWithTheRun(t *testing.T) {
	s, err := endsOnSim(t, rolling(20*time.Second, 15*time.Second),
		map[string]string{"fault_sync": "1s"}, 7*time.Second, unchanged)
	if err != nil {
		t.Error(err)
	}
	if s.Run.State != result.Interrupted || len(s.Run.Faults) != 2 {
		t.Errorf("%s, %+v", s.Run.State, s.Run.Faults)
	}
	if v := verdictOf(&s.Run, verdict.Rolling); v.Outcome != result.Unknown {
		t.Errorf("%+v", v)
	}
}

// unsure is a system whose cluster cannot say whether it is in sync.
type unsure struct{ *sim.System }

func (u unsure) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := u.System.Connect(ctx, o)
	return struct{ system.Cluster }{c}, err
}

func TestRollingRestartIsRefusedWhereNobodyKnowsWhenItIsInSync(t *testing.T) {
	runs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), nil)
		job := jobOn(t, s, runs, rolling(20*time.Second, 15*time.Second), nil)
		job.System = unsure{s}
		if _, err := bench.Run(context.Background(), job, silent{}); err == nil ||
			!strings.Contains(err.Error(), "cannot tell when the servers of sim are in sync") {
			t.Error(err)
		}
	})
}
