package bench_test

import (
	"context"
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

// resizing is a load during which a machine joins at 3 s and leaves at 15 s, if it may.
func resizing(window, limit time.Duration, kinds ...workload.FaultKind) *workload.Workload {
	w := load(500, window)
	w.Warmup, w.Drain = time.Second, 5*time.Second
	at := 3 * time.Second
	for _, k := range kinds {
		w.Faults = append(w.Faults, workload.Fault{Do: k, Target: workload.TargetExtra, At: at,
			For: limit})
		at += 12 * time.Second
	}
	return w
}

// Copies move for 4 s, in which each answer takes 20 ms longer. A machine that leaves stops for
// 400 ms, and messages wait 300 ms more: the figures say exactly that, of each change.
func TestTruthResizeIsTimed(t *testing.T) {
	skipUnderRace(t)
	s, _ := onSim(t, resizing(30*time.Second, 12*time.Second, workload.FaultScaleOut,
		workload.FaultScaleIn), map[string]string{"fault_stop": "400ms",
		"fault_recovery": "300ms", "fault_sync": "4s", "fault_slow": "20ms"})
	verdict.JudgeSaved(s)
	if s.Run.State != result.Complete || len(s.Run.Faults) != 2 {
		t.Fatalf("%s, %+v", s.Run.State, s.Run.Faults)
	}
	out, in := s.Run.Faults[0], s.Run.Faults[1]
	for _, f := range s.Run.Faults {
		if f.Error != "" || len(f.Nodes) != 1 || f.Nodes[0] != "m4" {
			t.Errorf("%+v", f)
		}
	}
	if !near(out.InSyncNs-out.StartNs, 4*time.Second, 210*time.Millisecond) || out.Effect.Seen() {
		t.Errorf("%+v", out)
	}
	// The moves, a second in which they must stay complete, the stop, and being in sync again.
	whole := 4*time.Second + time.Second + 400*time.Millisecond + 4*time.Second
	if !near(in.InSyncNs-in.StartNs, whole, 410*time.Millisecond) ||
		!near(in.Effect.UnavailableNs, 700*time.Millisecond, 25*time.Millisecond) {
		t.Errorf("%+v", in)
	}
	for _, f := range s.Run.Faults {
		if f.Effect.RecoveredNs < f.InSyncNs {
			t.Errorf("%s: recovered while copies moved: %+v", f.Do, f)
		}
	}
	before, _ := s.Run.Impact.Before.Publish.At(50)
	during, _ := s.Run.Impact.During.Publish.At(50)
	if !near(during-before, 20*time.Millisecond, 2*time.Millisecond) {
		t.Errorf("p50 %d before, %d during", before, during)
	}
	v := verdictOf(&s.Run, verdict.Resized)
	if v.Outcome != result.Holds || !strings.Contains(v.Sentence, "scale-out of m4: all copies") ||
		!strings.Contains(v.Sentence, "scale-in of m4: all copies") {
		t.Errorf("%+v", v)
	}
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost != 0 || s.Run.Impact.After.Acked == 0 {
		t.Errorf("%+v, %+v", l, s.Run.Impact.After)
	}
}

// Messages that are lost when a machine leaves are found, whatever the change says of its copies.
func TestTruthResizeThatLosesIsFound(t *testing.T) {
	skipUnderRace(t)
	s, planted := onSim(t, resizing(20*time.Second, 10*time.Second, workload.FaultScaleIn),
		map[string]string{"fault_lose": "7", "fault_sync": "1s"})
	verdict.JudgeSaved(s)
	if l := s.Run.Ledger.Subscriptions[0]; l.Lost != 7 || planted.Lost != 7 ||
		verdictOf(&s.Run, verdict.Loss).Outcome != result.Broken ||
		verdictOf(&s.Run, verdict.Resized).Outcome != result.Holds {
		t.Errorf("%+v, planted %d, %+v", l, planted.Lost, s.Run.Verdicts)
	}
}

// Copies that are never complete end the run after the given time: a machine that should leave
// is not stopped.
func TestResizeGivesUpCopiesThatAreNeverComplete(t *testing.T) {
	for kind, stopped := range map[workload.FaultKind]bool{
		workload.FaultScaleOut: true, workload.FaultScaleIn: false,
	} {
		s, ran := endsOnSim(t, resizing(20*time.Second, 8*time.Second, kind),
			map[string]string{"fault_sync": "10m"}, time.Hour, unchanged)
		if ran == nil || !strings.Contains(ran.Error(), "is given up after 8s") ||
			!strings.Contains(ran.Error(), "a machine is in sync in") {
			t.Error(ran)
		}
		if f := s.Run.Faults; s.Run.State != result.Failed || len(f) != 1 || f[0].InSyncNs != 0 ||
			(f[0].InjectedNs != 0) != stopped {
			t.Errorf("%s, %+v", s.Run.State, f)
		}
		if v := verdictOf(&s.Run, verdict.Resized); v.Outcome != result.Broken {
			t.Errorf("%+v", v)
		}
	}
}

// A run that ends while copies move says that it does not know, and so does one that ends when they
// have, and the machine has not left.
func TestResizeEndsWithTheRun(t *testing.T) {
	for kind, settings := range map[workload.FaultKind]map[string]string{
		workload.FaultScaleOut: {"fault_sync": "10s"},
		workload.FaultScaleIn:  {"fault_sync": "1s", "fault_stop": "5s"},
	} {
		s, err := endsOnSim(t, resizing(20*time.Second, 15*time.Second, kind), settings,
			8*time.Second, unchanged)
		if err != nil {
			t.Error(err)
		}
		if v := verdictOf(&s.Run, verdict.Resized); s.Run.State != result.Interrupted ||
			v.Outcome != result.Unknown {
			t.Errorf("%s: %s, %+v", kind, s.Run.State, v)
		}
	}
}

// resizable is a system that counts the servers which it is told to start or stop when the run has
// ended.
type resizable struct {
	*sim.System
	late *int
}

func (r resizable) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := r.System.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return counting{c.(whole), r.late}, nil
}

type whole interface {
	system.Cluster
	system.Scaler
	system.Resizer
}

type counting struct {
	whole
	late *int
}

func (c counting) Inject(ctx context.Context, f workload.Fault, leader string) (system.Injected,
	error,
) {
	if ctx.Err() != nil {
		*c.late++
	}
	return c.whole.Inject(ctx, f, leader)
}

// A run that ends while copies move off a server does not stop the server, whose copies the drain
// still reads.
func TestResizeStopsNoServerAfterTheRun(t *testing.T) {
	late := 0
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), nil)
		job := jobOn(t, s, t.TempDir(),
			resizing(20*time.Second, 15*time.Second, workload.FaultScaleIn),
			map[string]string{"fault_sync": "10s"})
		job.System = resizable{s, &late}
		ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
		defer cancel()
		if _, err := bench.Run(ctx, job, silent{}); err != nil {
			t.Error(err)
		}
	})
	if late != 0 {
		t.Error("the server was stopped when the run had ended")
	}
}
