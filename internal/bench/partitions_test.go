package bench_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// growing is a load of 30 s on two topics, which have 5 partitions in place of 3 from 3 s on.
func growing(keys workload.KeyKind, limit time.Duration) *workload.Workload {
	w := load(500, 30*time.Second)
	w.Warmup, w.Drain = time.Second, 5*time.Second
	w.Topics, w.Partitions, w.Producers, w.Consumers, w.Subscriptions = 2, 3, 2, 2, 2
	w.Keys = workload.Keys{Kind: keys, Count: 100}
	w.Faults = []workload.Fault{{Do: workload.FaultAddPartitions, Target: workload.TargetAll,
		At: 3 * time.Second, For: limit, ToPartitions: 5}}
	return w
}

// Consumers find the new partitions 12 s after they were added, which is 2 s after the first
// messages: the figures say so, nothing is lost, and every message has its key and its partition.
func TestTruthAddedPartitionsAreFound(t *testing.T) {
	skipUnderRace(t)
	for _, keys := range []workload.KeyKind{workload.KeysNone, workload.KeysRandom} {
		s, _ := onSim(t, growing(keys, 20*time.Second), map[string]string{"discovery": "12s"})
		verdict.JudgeSaved(s)
		r := &s.Run
		if r.State != result.Complete || len(r.Faults) != 1 {
			t.Fatalf("%s, %+v", r.State, r.Faults)
		}
		f := r.Faults[0]
		if !near(f.UsedNs-f.StartNs, 10*time.Second, 10*time.Millisecond) ||
			!near(f.FoundNs-f.UsedNs, 2*time.Second, 210*time.Millisecond) || f.Error != "" {
			t.Errorf("%+v", f)
		}
		if v := verdictOf(r, verdict.Discovered); v.Outcome != result.Holds ||
			!strings.Contains(v.Sentence, "each topic has 5 partitions, 3 before") {
			t.Errorf("%+v", v)
		}
		if total := r.Ledger.Total(); total.Lost != 0 || total.Reordered != 0 ||
			total.Misplaced != 0 || r.Counters.Failed != 0 {
			t.Errorf("%+v, %d failed", total, r.Counters.Failed)
		}
		during, after := r.Impact.During.EndToEnd, r.Impact.After.EndToEnd
		if p50, _ := after.At(50); during.MaxNs < int64(1900*time.Millisecond) ||
			p50 > int64(10*time.Millisecond) {
			t.Errorf("end-to-end: during %+v, after %+v", during, after)
		}
	}
}

// Messages that consumers miss until they know the new partitions are lost, and each is found.
func TestTruthUndiscoveredMessagesAreLost(t *testing.T) {
	skipUnderRace(t)
	w := growing(workload.KeysRandom, 20*time.Second)
	w.Subscriptions = 1
	s, planted := onSim(t, w, map[string]string{"discovery": "11s", "discovery_loses": "true"})
	verdict.JudgeSaved(s)
	// A second of two in five messages.
	if lost := s.Run.Ledger.Total().Lost; lost != planted.Lost || lost < 150 || lost > 250 ||
		verdictOf(&s.Run, verdict.Loss).Outcome != result.Broken ||
		verdictOf(&s.Run, verdict.Discovered).Outcome != result.Holds {
		t.Errorf("lost %d, planted %d: %+v", lost, planted.Lost, s.Run.Verdicts)
	}
}

// Consumers that do not find the partitions end the run, and a run that ends before does not know.
func TestAddedPartitionsAreNotFound(t *testing.T) {
	slow := map[string]string{"discovery": "1h"}
	s, ran := endsOnSim(t, growing(workload.KeysNone, 15*time.Second), slow, time.Hour, unchanged)
	if ran == nil || !strings.Contains(ran.Error(), "arrived from 0 of 8 new partitions") {
		t.Error(ran)
	}
	if v := verdictOf(&s.Run, verdict.Discovered); s.Run.State != result.Failed ||
		v.Outcome != result.Broken {
		t.Errorf("%s, %+v", s.Run.State, v)
	}
	s, ran = endsOnSim(t, growing(workload.KeysNone, 25*time.Second), slow, 16*time.Second,
		unchanged)
	if v := verdictOf(&s.Run, verdict.Discovered); ran != nil ||
		s.Run.State != result.Interrupted || v.Outcome != result.Unknown {
		t.Errorf("%v, %s, %+v", ran, s.Run.State, v)
	}
}

// slowHealer is a system whose faults take long to heal.
type slowHealer struct{ *sim.System }

func (s slowHealer) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := s.System.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return slowToHeal{c.(whole)}, nil
}

type slowToHeal struct{ whole }

func (c slowToHeal) Heal(ctx context.Context) error {
	clock.Sleep(ctx, 30*time.Second)
	return c.whole.Heal(ctx)
}

// A fault before that heals late ends the run before messages go to partitions that are not there.
func TestPartitionsWaitForNoFault(t *testing.T) {
	w := growing(workload.KeysNone, 15*time.Second)
	w.Faults = append([]workload.Fault{{Do: workload.FaultPause, Target: workload.TargetOne,
		At: time.Second, For: time.Second}}, w.Faults...)
	s, ran := endsOnSim(t, w, nil, time.Hour,
		func(job *bench.Job, s *sim.System) { job.System = slowHealer{s} })
	if ran == nil || !strings.Contains(ran.Error(), "leave more time after the fault before it") ||
		s.Run.Counters.Failed > 0 {
		t.Errorf("%v, %d refused", ran, s.Run.Counters.Failed)
	}
}

// idleAdder is a system that adds no partition, or too late.
type idleAdder struct {
	*sim.System
	late time.Duration
}

func (a idleAdder) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	c, err := a.System.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return idle{c, a.late}, nil
}

type idle struct {
	system.Cluster
	late time.Duration
}

func (c idle) AddPartitions(ctx context.Context, topics []system.Topic) error {
	select {
	case <-time.After(c.late):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Partitions that are added too late end the run before a message goes to them, and messages to
// partitions that do not exist are refused.
func TestPartitionsThatAreNotAdded(t *testing.T) {
	for late, want := range map[time.Duration]string{
		time.Minute: "were not ready after 6.5s", 0: "arrived from 0 of 8 new partitions",
	} {
		s, ran := endsOnSim(t, growing(workload.KeysNone, 15*time.Second), nil, time.Hour,
			func(job *bench.Job, s *sim.System) { job.System = idleAdder{s, late} })
		if ran == nil || !strings.Contains(ran.Error(), want) ||
			(s.Run.Counters.Failed > 0) != (late == 0) {
			t.Errorf("%s: %v, %d refused", late, ran, s.Run.Counters.Failed)
		}
	}
}

// An added partition to which no key belongs keeps nobody waiting for its messages.
func TestAddedPartitionsWithoutMessages(t *testing.T) {
	w := growing(workload.KeysRandom, 15*time.Second)
	w.Topics, w.Keys.Count = 1, 4 // of the two new ones, they reach one
	s, _ := onSim(t, w, nil)
	verdict.JudgeSaved(s)
	if v := verdictOf(&s.Run, verdict.Discovered); s.Run.State != result.Complete ||
		v.Outcome != result.Holds || !strings.Contains(v.Sentence, "to which no message went") {
		t.Errorf("%s, %+v", s.Run.State, v)
	}
}
