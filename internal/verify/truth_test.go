package verify_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/internal/verify"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file verify the simulated system, whose truth is known. Every round is a
// whole run with its files, on virtual time.

type silent struct{}

func (silent) Phase(result.PhaseName, string)       {}
func (silent) Interval(result.Interval)             {}
func (silent) Round(*verify.Saved, int, *bench.Job) {}
func (silent) Rounded(*verify.Saved)                {}

// producers is the number of producers of the small workload.
const producers = 2

// small is a load of about 500 messages with one fault.
func small(f workload.Fault) *workload.Workload {
	return &workload.Workload{
		Name: "truth", Topics: 1, Partitions: 3, Producers: producers, Subscriptions: 2,
		Consumers: 2, Message: workload.Message{Size: 64, Incompressible: 1},
		Keys: workload.Keys{Kind: workload.KeysNone},
		Load: workload.Load{
			Arrivals: workload.ArrivalsConstant,
			Segments: []workload.Segment{{From: 300, To: 300, For: 1600 * time.Millisecond}},
		},
		Warmup: 100 * time.Millisecond, Duration: 1600 * time.Millisecond, Drain: time.Second,
		Delivery: workload.AtLeastOnce, Durability: workload.SyncSync,
		MaxInFlight: 10_000, Seed: 1, Faults: []workload.Fault{f},
	}
}

// verified verifies a simulated system with settings. It returns the verification as it was
// saved, and what the system planted in each round.
func verified(
	t *testing.T, w *workload.Workload, rounds int, settings map[string]string,
) (*verify.Saved, []sim.Planted) {
	t.Helper()
	var given []target.Setting
	for name, value := range settings {
		given = append(given, target.Setting{Name: name, Value: value})
	}
	var planted []sim.Planted
	var saved *verify.Saved
	runs := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := sim.New(clock.Timers(), func(p sim.Planted) { planted = append(planted, p) })
		resolved, err := system.Resolve(s.Describe().Settings, given)
		if err != nil {
			t.Fatal(err)
		}
		job := &bench.Job{
			Workload: w, Target: &target.Target{Name: "sim", System: "sim"}, System: s,
			Settings: resolved, Runs: runs, Clock: clock.Virtual(), Process: time.Now(),
		}
		saved, err = verify.Run(context.Background(), verify.Options{
			Job: job, Rounds: rounds, Quiet: 300 * time.Millisecond, Watch: silent{},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	read, err := verify.Folders.Read(saved.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if read.State != result.Complete || len(read.Rounds) != rounds {
		t.Fatalf("%s: %s, %d rounds", read.State, read.StateReason, len(read.Rounds))
	}
	return read, planted
}

// Verify finds exactly what the system planted, under each kind of fault.
func TestTruthPlantedIsFoundUnderEveryFault(t *testing.T) {
	kinds := workload.FaultKinds()
	seeds := 5 * len(kinds)
	if raced.Detector {
		seeds = 3
	}
	targets := []workload.FaultTarget{
		workload.TargetOne, workload.TargetLeader, workload.TargetMinority, workload.TargetAll,
	}
	for seed := range seeds {
		draw := rand.New(rand.NewPCG(uint64(seed), 0))
		some := func(most int64) string {
			return strconv.FormatInt(max(0, draw.Int64N(2*most)-most+1), 10)
		}
		w := small(workload.Fault{
			Do: kinds[seed%len(kinds)], Target: targets[draw.IntN(len(targets))],
			At: 400 * time.Millisecond, Within: 200 * time.Millisecond, For: 300 * time.Millisecond,
		})
		w.Seed = uint64(seed)
		settings := map[string]string{
			"fault_lose": some(12), "fault_duplicate": some(5), "fault_swap": some(3),
			"fault_unknown": some(4), "fault_recovery": "100ms",
			"fault_messages": []string{"waiting", "refused"}[draw.IntN(2)],
		}
		s, planted := verified(t, w, 1, settings)
		compare(t, fmt.Sprintf("seed %d, %s, %v", seed, w.Faults[0], settings), s, planted[0])
	}
}

// compare compares a round with what was planted in it.
func compare(t *testing.T, name string, s *verify.Saved, p sim.Planted) {
	t.Helper()
	round := s.Rounds[0]
	for _, l := range round.Ledger {
		if l.Lost != p.Lost || l.Duplicate != p.Duplicated || l.Reordered != p.Swapped ||
			l.Unacked != p.Unanswered || l.Corrupt+l.Foreign != 0 {
			t.Errorf("%s: planted %+v, %s has %+v", name, p, l.Subscription, l)
		}
		if p.Duplicated > 0 != (len(l.DuplicateRanges) > 0) ||
			p.Swapped > 0 != (len(l.ReorderedRanges) > 0) {
			t.Errorf("%s: planted %+v, %s names %+v as duplicate and %+v as reordered",
				name, p, l.Subscription, l.DuplicateRanges, l.ReorderedRanges)
		}
		named := namesOf(t, name, l.LostRanges, round.Faults[0])
		if !slices.Equal(named, namesPlanted(p.LostMessages)) {
			t.Errorf("%s: planted %+v, %s names %v", name, p.LostMessages, l.Subscription, named)
		}
	}
	n := int64(len(round.Ledger)) // the counts of all subscriptions are added
	do := round.Faults[0].Do
	ordered := do == string(workload.FaultSlowDisk) || do == string(workload.FaultFullDisk)
	for _, g := range []struct {
		name    string
		count   int64
		promise bool
	}{
		{verify.NoLoss, p.Lost, true}, {verify.NoDuplicates, p.Duplicated * n, false},
		{verify.Order, p.Swapped * n, ordered},
	} {
		want := map[bool]string{true: result.Holds, false: result.Broken}[g.count == 0]
		got := s.Guarantee(g.name)
		if got.Outcome != want || got.Count != g.count || got.Promised != g.promise {
			t.Errorf("%s: planted %+v, found %+v", name, p, got)
		}
	}
	if kept := p.Lost == 0 && (p.Swapped == 0 || !ordered); s.Kept() != kept {
		t.Errorf("%s: kept is %v", name, s.Kept())
	}
	if p.Failed > 0 != (round.Counters.Failed > 0) {
		t.Errorf("%s: %d refused, found %+v", name, p.Failed, round.Counters)
	}
	effect := round.Faults[0].Effect
	waits := p.Failed == 0 && do != string(workload.FaultSlowDisk)
	if waits && (effect.UnavailableNs < 380e6 || effect.UnavailableNs > 420e6) {
		t.Errorf("%s: unavailable for %v, want 400ms", name, time.Duration(effect.UnavailableNs))
	}
}

func nameOf(m sim.LostMessage) string {
	return fmt.Sprintf("%d/%d/%04d", m.Producer, m.Partition, m.Seq)
}

// namesPlanted names the lost messages as the account does, which counts from the load's
// first message of each producer and partition. Before the load, one producer proved each
// partition with one message: the producer whose number equals the partition's, modulo the
// number of producers.
func namesPlanted(all []sim.LostMessage) (names []string) {
	for _, m := range all {
		if m.Partition%producers == m.Producer {
			m.Seq--
		}
		names = append(names, nameOf(m))
	}
	return slices.Sorted(slices.Values(names))
}

// namesOf names the messages of lost ranges. It checks that they were acknowledged while the
// fault was being injected.
func namesOf(t *testing.T, name string, ranges []result.Range, f result.Fault) (names []string) {
	t.Helper()
	for _, r := range ranges {
		for seq := r.First; seq <= r.Last; seq++ {
			m := sim.LostMessage{Producer: r.Producer, Partition: r.Partition, Seq: seq}
			names = append(names, nameOf(m))
		}
		w := r.When
		if w == nil || w.FirstAckNs < f.StartNs || w.LastAckNs > f.InjectedNs ||
			w.FirstDueNs > w.FirstAckNs {
			t.Errorf("%s: %+v was lost at a fault from %d to %d",
				name, w, f.StartNs, f.InjectedNs)
		}
	}
	slices.Sort(names)
	return names
}

// Each round has its own seed. A loss in one round is not excused by the others.
func TestTruthRoundsAreJudgedTogether(t *testing.T) {
	w := small(workload.Fault{
		Do: workload.FaultPowerCut, Target: workload.TargetAll,
		At: 400 * time.Millisecond, Within: 200 * time.Millisecond, For: 300 * time.Millisecond,
	})
	s, planted := verified(t, w, 3, map[string]string{"fault_lose": "2"})
	first, second := s.Rounds[0], s.Rounds[1]
	if len(planted) != 3 || first.Seed == second.Seed ||
		first.Faults[0].StartNs == second.Faults[0].StartNs {
		t.Errorf("%+v", s.Rounds)
	}
	g := s.Guarantee(verify.NoLoss)
	want := "broken in 3 of 3 rounds; round 1: 2 of "
	if g.Outcome != result.Broken || g.Count != 6 || s.Kept() ||
		!strings.Contains(g.Sentence, want) {
		t.Errorf("%+v", g)
	}
	// A loss that the level allows is counted, and breaks no promise.
	w.Durability = workload.SyncAsync
	s, _ = verified(t, w, 1, map[string]string{"fault_lose": "2"})
	g = s.Guarantee(verify.NoLoss)
	if g.Promised || g.Count != 2 || !s.Kept() ||
		!strings.Contains(g.Why, "level 2 does not promise it") {
		t.Errorf("%+v, kept %v", g, s.Kept())
	}
}

// A round without acknowledged messages before its fault proves nothing.
func TestTruthNothingBeforeTheFaultIsUnknown(t *testing.T) {
	w := small(workload.Fault{
		Do: workload.FaultKill, Target: workload.TargetOne, At: 0, For: 400 * time.Millisecond,
	})
	s, _ := verified(t, w, 1, nil)
	g, want := s.Guarantee(verify.NoLoss), "acknowledged in the window before the fault"
	if g.Outcome != result.Unknown || s.Kept() || !strings.Contains(g.Sentence, want) {
		t.Errorf("%+v", g)
	}
}

// An interrupted verification keeps its rounds, and keeps no promise.
func TestInterruptedVerificationKeepsItsRounds(t *testing.T) {
	runs := t.TempDir()
	var saved *verify.Saved
	synctest.Test(t, func(t *testing.T) {
		w := small(workload.Fault{
			Do: workload.FaultKill, Target: workload.TargetOne,
			At: 400 * time.Millisecond, For: 300 * time.Millisecond,
		})
		s := sim.New(clock.Timers(), nil)
		resolved, err := system.Resolve(s.Describe().Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		job := &bench.Job{
			Workload: w, Target: &target.Target{Name: "sim", System: "sim"}, System: s,
			Settings: resolved, Runs: runs, Clock: clock.Virtual(), Process: time.Now(),
		}
		// The context ends during the second round's fault.
		ctx, cancel := context.WithTimeout(context.Background(), 12300*time.Millisecond)
		defer cancel()
		saved, err = verify.Run(ctx, verify.Options{
			Job: job, Rounds: 3, Quiet: 300 * time.Millisecond, Watch: silent{},
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	if saved.State != result.Interrupted || len(saved.Rounds) != 2 || saved.Kept() ||
		saved.Guarantee(verify.NoLoss).Outcome != result.Unknown {
		t.Errorf("%s, %d rounds: %+v", saved.State, len(saved.Rounds), saved.Guarantees)
	}
	if f := saved.Rounds[1].Faults; len(f) != 1 || f[0].HealedNs == 0 {
		t.Errorf("%+v", f)
	}
}

// An interrupted verification goes on: whole rounds are kept, the interrupted one is made again.
func TestInterruptedVerificationGoesOn(t *testing.T) {
	runs := t.TempDir()
	var first, rest *verify.Saved
	synctest.Test(t, func(t *testing.T) {
		w := small(workload.Fault{
			Do: workload.FaultKill, Target: workload.TargetOne,
			At: 400 * time.Millisecond, For: 300 * time.Millisecond,
		})
		s := sim.New(clock.Timers(), nil)
		resolved, err := system.Resolve(s.Describe().Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := verify.Options{Rounds: 3, Quiet: 300 * time.Millisecond, Watch: silent{},
			Job: &bench.Job{
				Workload: w, Target: &target.Target{Name: "sim", System: "sim"}, System: s,
				Settings: resolved, Runs: runs, Clock: clock.Virtual(), Process: time.Now(),
			}}
		ctx, cancel := context.WithTimeout(context.Background(), 12300*time.Millisecond)
		defer cancel()
		if first, err = verify.Run(ctx, o); err != nil {
			t.Fatal(err)
		}
		if o.Resume, err = verify.Find(o, ""); err != nil || o.Resume != first.Dir {
			t.Fatalf("found %q, %v", o.Resume, err)
		}
		if left, err := o.Left(); err != nil || left != 2 {
			t.Errorf("%d rounds are left, %v", left, err)
		}
		if rest, err = verify.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		o.Rounds = 4
		if _, err := verify.Run(context.Background(), o); err == nil ||
			!strings.Contains(err.Error(), "repeat its whole command") {
			t.Errorf("another verification: %v", err)
		}
		if s, err := verify.Folders.Read(rest.Dir); err != nil || s.State != result.Complete {
			t.Errorf("after a refusal: %+v, %v", s, err)
		}
	})
	if rest.State != result.Complete || len(rest.Rounds) != 3 ||
		rest.Rounds[0].Dir != first.Rounds[0].Dir || rest.Rounds[1].Dir == first.Rounds[1].Dir ||
		rest.Guarantee(verify.NoLoss).Outcome == result.Unknown {
		t.Errorf("%s, %d rounds: %+v", rest.State, len(rest.Rounds), rest.Guarantees)
	}
	for i, r := range rest.Rounds {
		if r.Number != i+1 || r.Seed != rest.Seed+uint64(i) {
			t.Errorf("round %d is %+v", i+1, r)
		}
	}
}
