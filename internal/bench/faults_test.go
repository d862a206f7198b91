package bench_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// withFault returns a load of some seconds with one fault.
func withFault(f workload.Fault) *workload.Workload {
	w := load(1000, 10*time.Second)
	w.Warmup, w.Drain, w.Faults = time.Second, 5*time.Second, []workload.Fault{f}
	return w
}

func near(got int64, want, by time.Duration) bool {
	return got >= int64(want-by) && got <= int64(want+by)
}

// An outage of 2 s, beginning 3 s into the window, after which the system needs half a second
// more: the figures must say exactly that.
func TestTruthOutageOfAFaultIsTimed(t *testing.T) {
	w := withFault(workload.Fault{Do: workload.FaultKill, Target: workload.TargetLeader,
		At: 3 * time.Second, For: 2 * time.Second})
	s, _ := onSim(t, w, map[string]string{"fault_recovery": "500ms", "service_time": "1ms"})
	verdict.JudgeSaved(s)
	if len(s.Run.Faults) != 1 || s.Run.State != result.Complete {
		t.Fatalf("%+v, %s: %s", s.Run.Faults, s.Run.State, s.Run.StateReason)
	}
	f, window := s.Run.Faults[0], s.Run.Phases[2]
	if window.Name != result.PhaseMeasure || f.Error != "" || f.Sentence == "" {
		t.Fatalf("%+v in %+v", f, window)
	}
	if !near(f.StartNs-window.StartNs, 3*time.Second, time.Millisecond) ||
		!near(f.HealStartNs-f.InjectedNs, 2*time.Second, time.Millisecond) ||
		f.HealedNs < f.HealStartNs {
		t.Errorf("%+v in %+v", f, window)
	}
	if !near(f.Effect.UnavailableNs, 2500*time.Millisecond, 3*time.Millisecond) ||
		!near(f.Effect.AckedAgainNs-f.HealedNs, 500*time.Millisecond, 3*time.Millisecond) {
		t.Errorf("unavailable for %v, again %v after the heal",
			time.Duration(f.Effect.UnavailableNs), time.Duration(f.Effect.AckedAgainNs-f.HealedNs))
	}
	if !near(f.Effect.RecoveredNs-f.HealedNs, 600*time.Millisecond, 110*time.Millisecond) {
		t.Errorf("recovered %v after the heal", time.Duration(f.Effect.RecoveredNs-f.HealedNs))
	}
	i := s.Run.Impact
	if i == nil {
		t.Fatal("no impact")
	}
	for name, of := range map[string]result.Part{"before": i.Before, "after": i.After} {
		if p99, ok := of.Publish.At(99); !ok || !near(p99, time.Millisecond, 20*time.Microsecond) {
			t.Errorf("%s: %+v", name, of)
		}
	}
	if i.During.Publish.MaxNs < int64(2400*time.Millisecond) || i.During.Acked < 2500 {
		t.Errorf("during: %+v", i.During)
	}
	if n := i.Before.Publish.Count + i.During.Publish.Count +
		i.After.Publish.Count; n != s.Run.Counters.Acked {
		t.Errorf("%d publish latencies, %d acknowledged", n, s.Run.Counters.Acked)
	}
	fine := slices.IndexFunc(s.Intervals,
		func(i result.Interval) bool { return i.EndNs-i.StartNs < int64(150*time.Millisecond) })
	if fine < 0 || len(s.Intervals) > 250 {
		t.Errorf("%d intervals, the first short one is %d", len(s.Intervals), fine)
	}
	if n := count(s.Events, "fault"); n != 2 {
		t.Errorf("%d events of faults: %+v", n, s.Events)
	}
}

func count(events []result.Event, kind string) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// Each message that a fault loses is named, with the fact that it was acknowledged before.
func TestTruthFaultLosesWhatWasPlanted(t *testing.T) {
	kinds := workload.FaultKinds()
	if raced.Detector {
		kinds = []workload.FaultKind{workload.FaultKill, workload.FaultFullDisk}
	}
	for _, do := range kinds {
		w := load(500, time.Second)
		w.Drain = 500 * time.Millisecond
		w.Faults = []workload.Fault{{Do: do, Target: workload.TargetOne, At: 300 * time.Millisecond,
			Within: 200 * time.Millisecond, For: 300 * time.Millisecond}}
		s, planted := onSim(t, w, map[string]string{
			"fault_lose": "12", "fault_duplicate": "3", "fault_swap": "2", "fault_unknown": "5",
			"fault_slow": "3ms",
		})
		l := s.Run.Ledger.Subscriptions[0]
		if planted.Lost != 12 || l.Lost != 12 || l.Duplicate != 3 || l.Reordered != 2 ||
			l.Unacked != 5 || s.Run.Counters.Failed != planted.Failed {
			t.Errorf("%s: planted %+v, found %+v", do, planted, l)
		}
		checkNamed(t, string(do), s, planted.LostMessages)
		if refused := do == workload.FaultFullDisk; refused != (planted.Failed > 0) {
			t.Errorf("%s: %d refused", do, planted.Failed)
		}
	}
}

// checkNamed checks that the lost ranges are the planted messages. The account counts from the
// load's first message of each partition; the message before it proved the partition.
func checkNamed(t *testing.T, name string, s *result.Saved, planted []sim.LostMessage) {
	t.Helper()
	var named []sim.LostMessage
	f := s.Run.Faults[0]
	for _, r := range s.Run.Ledger.Subscriptions[0].LostRanges {
		for seq := r.First; seq <= r.Last; seq++ {
			named = append(named,
				sim.LostMessage{Producer: r.Producer, Partition: r.Partition, Seq: seq + 1})
		}
		w := r.When
		if w == nil || w.FirstDueNs > w.LastDueNs || w.FirstAckNs < f.StartNs ||
			w.LastAckNs > f.InjectedNs || w.FirstAckNs < w.FirstDueNs {
			t.Errorf("%s: %+v was lost in %+v", name, w, f)
		}
	}
	order := func(a, b sim.LostMessage) int {
		return strings.Compare(fmt.Sprintf("%09d %09d %09d", a.Producer, a.Partition, a.Seq),
			fmt.Sprintf("%09d %09d %09d", b.Producer, b.Partition, b.Seq))
	}
	slices.SortFunc(named, order)
	slices.SortFunc(planted, order)
	if !slices.Equal(named, planted) {
		t.Errorf("%s: planted %+v, named %+v", name, planted, named)
	}
}

// recorder is a system whose cluster records the calls of the injector.
type recorder struct {
	*sim.System
	mu     sync.Mutex
	calls  []string
	refuse error         // of Inject
	stuck  bool          // Inject lasts until it is cancelled
	slow   time.Duration // to heal
	leader error
}

type recording struct {
	system.Cluster
	*recorder
}

func (r *recorder) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := r.System.Connect(ctx, o)
	return recording{c, r}, err
}

func (r *recorder) note(call string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

func (r recording) Leader(context.Context, system.Topic, int) (string, error) {
	return "127.0.0.2:4222", r.leader
}

func (r recording) Inject(ctx context.Context, f workload.Fault, leader string) (system.Injected,
	error) {
	r.note("inject " + string(f.Do) + " " + leader)
	if r.stuck {
		<-ctx.Done()
		return system.Injected{}, ctx.Err()
	}
	return system.Injected{Nodes: []string{"n2"}, Sentence: "killed n2"}, r.refuse
}

func (r recording) Heal(ctx context.Context) error {
	if ctx.Err() != nil {
		r.note("heal too late")
	}
	time.Sleep(r.slow)
	r.note("heal")
	return nil
}

// recorded runs a workload on the recorder, stopped after a while.
func recorded(t *testing.T, r *recorder, w *workload.Workload, stop time.Duration) (*result.Saved,
	error) {
	t.Helper()
	return endsOnSim(t, w, nil, stop,
		func(job *bench.Job, s *sim.System) { r.System, job.System = s, r })
}

// A run that is stopped during a fault or its injection heals the fault.
func TestFaultsAreHealedWhenTheRunIsStopped(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		r := &recorder{stuck: stuck}
		w := withFault(workload.Fault{Do: workload.FaultPause, Target: workload.TargetLeader,
			At: 500 * time.Millisecond, For: 8 * time.Second})
		s, err := recorded(t, r, w, 2500*time.Millisecond)
		if err != nil || s.Run.State != result.Interrupted {
			t.Fatal(s.Run.State, err)
		}
		if want := []string{"inject pause 127.0.0.2:4222", "heal"}; !slices.Equal(r.calls, want) {
			t.Errorf("stuck %v: %q", stuck, r.calls)
		}
		f := s.Run.Faults[0]
		if f.HealedNs == 0 || f.Error != "" || f.Leader != "127.0.0.2:4222" ||
			stuck != (f.InjectedNs == 0) {
			t.Errorf("stuck %v: %+v", stuck, f)
		}
	}
}

// A fault that could not be injected is healed nevertheless, and ends the run.
func TestAFaultThatCannotBeInjectedFailsTheRun(t *testing.T) {
	r := &recorder{refuse: errors.New("permission denied")}
	w := withFault(workload.Fault{Do: workload.FaultPause, Target: workload.TargetOne,
		At: time.Second, For: 8 * time.Second})
	s, err := recorded(t, r, w, time.Hour)
	if err == nil || !strings.Contains(err.Error(),
		"inject pause one at 1s for 8s: permission denied") ||
		strings.Count(err.Error(), "denied") != 1 {
		t.Error(err)
	}
	if s.Run.State != result.Failed ||
		!slices.Equal(r.calls, []string{"inject pause 127.0.0.2:4222", "heal"}) {
		t.Error(s.Run.State, r.calls)
	}
	r = &recorder{leader: errors.New("an election is on")}
	w.Faults[0].Target = workload.TargetMajority
	if _, err = recorded(t, r, w, time.Hour); err == nil ||
		!strings.Contains(err.Error(), "an election is on") ||
		!slices.Equal(r.calls, []string{"heal"}) {
		t.Error(err, r.calls)
	}
}

// A fault whose time passes while another is being healed is left out.
func TestFaultsDoNotPileUp(t *testing.T) {
	r := &recorder{slow: 4 * time.Second}
	w := withFault(workload.Fault{Do: workload.FaultPause, Target: workload.TargetOne,
		At: time.Second, Every: 3 * time.Second, For: time.Second})
	s, err := recorded(t, r, w, time.Hour)
	if err != nil || len(s.Run.Faults) != 2 || len(r.calls) != 4 {
		t.Fatal(err, r.calls, s.Run.Faults)
	}
	mustSay(t, s, "pause one at 4s was left out: the fault before it was healed 2s later")
	s, _ = recorded(t, &recorder{}, w, 2500*time.Millisecond)
	mustSay(t, s, "pause one at 4s was left out: the run ended before it")
}

// mustSay looks for the event of a fault that was left out.
func mustSay(t *testing.T, s *result.Saved, want string) {
	t.Helper()
	if !slices.ContainsFunc(s.Events, func(e result.Event) bool {
		return e.Kind == result.EventLeftOut && strings.HasPrefix(e.Sentence, want)
	}) {
		t.Errorf("%q is not in %+v", want, s.Events)
	}
}

// Every run with the same seed has its faults at the same times.
func TestFaultsRepeat(t *testing.T) {
	w := withFault(workload.Fault{Do: workload.FaultKill, Target: workload.TargetOne, At: 0,
		Within: time.Second, Every: 3 * time.Second, For: time.Second})
	first := w.Strikes()
	if len(first) != 3 || !slices.Equal(first, w.Strikes()) {
		t.Errorf("%+v", first)
	}
	w.Seed++
	if slices.Equal(first, w.Strikes()) {
		t.Error("another seed has the same strikes")
	}
}

// outside is a system whose servers are not in this process.
type outside struct{ system.System }

func TestFaultsOfOtherPeoplesServersAreRefused(t *testing.T) {
	w := withFault(
		workload.Fault{Do: workload.FaultKill, Target: workload.TargetOne, At: 0, For: time.Second})
	job := jobOn(t, sim.New(clock.Timers(), nil), t.TempDir(), w, nil)
	job.System = outside{job.System}
	job.Target.Endpoints = []string{"127.0.0.1:4222"}
	if err := job.Check(); err == nil || !strings.Contains(err.Error(), "leave the endpoints out") {
		t.Error(err)
	}
}

// Messages that arrive unacknowledged must not hide from the drain that others are on their way.
func TestTruthDrainWaitsForWhatTheCountersHide(t *testing.T) {
	w := load(1000, 2*time.Second)
	w.Load.Segments = append(w.Load.Segments,
		workload.Segment{From: 2, To: 2, For: 3 * time.Second})
	w.Duration = 5 * time.Second
	w.Faults = []workload.Fault{{Do: workload.FaultKill, Target: workload.TargetOne,
		At: 500 * time.Millisecond, For: time.Second}}
	s, planted := onSim(t, w, map[string]string{"fault_unknown": "50", "delivery_delay": "3s"})
	if l := s.Run.Ledger.Subscriptions[0]; planted.Unanswered != 50 || l.Unacked != 50 ||
		l.Lost != 0 {
		t.Errorf("planted %+v, found %+v", planted, l)
	}
}
