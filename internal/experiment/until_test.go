package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// timed is a clock that only shows a time.
type timed struct {
	clock.Clock
	now time.Duration
}

func (c *timed) Now() int64 { return int64(c.now) }

// untilSet is a set of trials without servers: each run takes a minute.
type untilSet struct {
	*Trials
	clock *timed
	calls []int // the number of runs at each call of Ends
	dir   string
}

func newUntilSet(t *testing.T, atMost time.Duration, ends func(runs int) bool) *untilSet {
	t.Helper()
	s := &untilSet{clock: &timed{now: time.Hour}, dir: t.TempDir()}
	job := func(name string) *bench.Job {
		w := workload.Default()
		w.Seed = 7
		return &bench.Job{Clock: s.clock, Workload: w,
			Target: &target.Target{Name: name, System: "sim"}}
	}
	s.Trials = &Trials{Jobs: []*bench.Job{job("a"), job("b")}, Rounds: 1,
		Failed: func(int, *result.Saved, error) {},
		Until: &Until{Share: 0.1, Primary: "publish.p99", AtMost: atMost,
			Ends: func(runs []*result.Saved) bool {
				s.calls = append(s.calls, len(runs))
				return ends(len(runs))
			}}}
	return s
}

// begin plans the set, as Run does.
func (s *untilSet) begin() *untilSet {
	s.plan()
	s.interrupted = func() bool { return false }
	return s
}

// measure makes runs until the set ends, at most most of them. fails says which runs fail.
func (s *untilSet) measure(t *testing.T, most int, fails func(trial result.Trial) bool) (
	made []result.Trial) {
	t.Helper()
	for len(made) < most {
		m, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if m == nil {
			return made
		}
		trial := *m.Job.Trial
		made = append(made, trial)
		start := time.Unix(0, 0).Add(s.clock.now)
		s.clock.now += time.Minute
		run := &result.Saved{Run: result.Run{Trial: &trial, State: result.Complete,
			StartedAt: start, EndedAt: start.Add(time.Minute), Resolved: m.Job.Resolved(),
			Seed: m.Job.Workload.Seed}}
		o := Outcome{Run: run, State: result.Complete}
		if fails != nil && fails(trial) {
			run.Run.State, o.State, o.Err = result.Failed, result.Failed, errBroken
		}
		s.save(t, run)
		if err := s.Take(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// save writes what Resume reads of a run.
func (s *untilSet) save(t *testing.T, run *result.Saved) {
	t.Helper()
	run.Dir = filepath.Join(s.dir, fmt.Sprintf("%d-%d", run.Run.Trial.Round, run.Run.Trial.Target))
	run.Run.SchemaVersion = result.SchemaVersion
	if err := os.MkdirAll(run.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := result.Save(run.Dir, &run.Run); err != nil {
		t.Fatal(err)
	}
}

// After each whole round the rule is asked; each round has every target once.
func TestRoundsGoOnUntilTheyAreEnough(t *testing.T) {
	s := newUntilSet(t, time.Hour, func(runs int) bool { return runs >= 10 }).begin()
	made := s.measure(t, 100, nil)
	if !slices.Equal(s.calls, []int{2, 4, 6, 8, 10}) || len(made) != 10 {
		t.Errorf("asked after %v runs, %d made", s.calls, len(made))
	}
	orders := map[int]bool{}
	for i, trial := range made {
		if trial.Round != i/2+1 || trial.Rounds != 0 || trial.Until != 0.1 ||
			trial.Primary != "publish.p99" || trial.Set != made[0].Set {
			t.Errorf("run %d: %+v", i, trial)
		}
		if i%2 == 0 {
			orders[trial.Target] = true
		} else if made[i-1].Target+trial.Target != 3 {
			t.Errorf("round %d measures a target twice", trial.Round)
		}
	}
	if len(orders) != 2 {
		t.Error("the targets always have their turns in the same order")
	}
	if s.Runs[9].Run.Seed != 11 {
		t.Errorf("the fifth round has the seed %d, want 11", s.Runs[9].Run.Seed)
	}
	s = newUntilSet(t, time.Hour, func(int) bool { return true }).begin()
	s.Rounds = 4
	if made := s.measure(t, 100, nil); len(made) != 8 {
		t.Errorf("%d runs, and at least 4 rounds were asked for", len(made))
	}
}

// No round begins that is not likely to fit: a round takes two minutes.
func TestRoundsEndWithTheirTime(t *testing.T) {
	for atMost, want := range map[time.Duration]int{
		time.Second: 2, 4*time.Minute - 1: 2, 4 * time.Minute: 4, 9 * time.Minute: 8,
	} {
		s := newUntilSet(t, atMost, func(int) bool { return false }).begin()
		if made := s.measure(t, 100, nil); len(made) != want {
			t.Errorf("%v: %d runs, want %d", atMost, len(made), want)
		}
	}
}

// A target whose run failed has no further one; the others go on without its runs.
func TestRoundsGoOnWithoutAFailedTarget(t *testing.T) {
	s := newUntilSet(t, time.Hour, func(runs int) bool { return runs >= 6 }).begin()
	made := s.measure(t, 100, func(trial result.Trial) bool {
		return trial.Target == 2 && trial.Round == 2
	})
	if !slices.Equal(s.calls, []int{2, 2, 3, 4, 5, 6}) || len(made) != 8 {
		t.Errorf("asked about %v runs, %d made", s.calls, len(made))
	}
	s = newUntilSet(t, time.Hour, func(int) bool { return false }).begin()
	if made := s.measure(t, 100, func(result.Trial) bool { return true }); len(made) != 2 {
		t.Errorf("all targets failed, %d runs were made", len(made))
	}
}

// An interrupted set goes on where it was, and the time of its runs counts.
func TestRoundsAreResumed(t *testing.T) {
	s := newUntilSet(t, 20*time.Minute, func(int) bool { return false }).begin()
	first := s.measure(t, 7, nil)
	again := newUntilSet(t, 20*time.Minute, func(runs int) bool { return runs >= 14 })
	if err := again.Resume(s.dir); err != nil {
		t.Fatal(err)
	}
	again.begin()
	made := again.measure(t, 100, nil)
	if len(made) != 7 || made[0].Round != 4 || made[0].Target+first[6].Target != 3 ||
		made[0].Set != first[0].Set || len(again.Runs) != 14 {
		t.Errorf("%d runs after the first 7 of set %s: %+v", len(made), first[0].Set, made)
	}
	later := newUntilSet(t, 10*time.Minute, func(int) bool { return false })
	if err := later.Resume(s.dir); err != nil {
		t.Fatal(err)
	}
	if made := later.begin().measure(t, 100, nil); len(made) != 3 {
		t.Errorf("%d more runs: ten minutes hold five rounds, of which three and a half were made",
			len(made))
	}
	other := newUntilSet(t, time.Hour, func(int) bool { return false })
	other.Until.Share = 0.05
	if err := other.Resume(s.dir); err == nil {
		t.Error("a set with another bound was resumed")
	}
	fixed := newUntilSet(t, time.Hour, nil)
	fixed.Until, fixed.Rounds = nil, 5
	if err := fixed.Resume(s.dir); err == nil {
		t.Error("a set until figures are known was resumed as one of five rounds")
	}
}
