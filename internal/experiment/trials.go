package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Trials is the strategy of single runs and of sets of trials: every job has one run in each
// round. A set has no folder of its own. Its runs name the set, so that it can be resumed.
type Trials struct {
	Jobs   []*bench.Job
	Rounds int
	// Prepare, if not nil, returns a replacement for a job. It is called before the job's first
	// run.
	Prepare func(at int) (*bench.Job, error)
	// Begin, if not nil, is called before each run.
	Begin func(trial result.Trial, job *bench.Job)
	// Failed is called when the run of a job has failed and was not interrupted. The job then gets
	// no further run. run is nil if nothing was measured.
	Failed func(at int, run *result.Saved, err error)

	// Runs are the runs that were made, in their order.
	Runs []*result.Saved

	turns       []result.Trial
	at          int // the current turn
	out         map[int]bool
	there       map[int]bool                   // jobs that are prepared
	made        map[result.Trial]*result.Saved // made by an earlier process
	interrupted func() bool
}

// Turns returns the order of a set of trials. Each round has every target once, in an order
// drawn by the seed, so that slow changes of the machine affect all targets (Maricq et al.,
// "Taming Performance Variability", 2018). A single round keeps the given order.
func Turns(targets, rounds int, seed uint64) []result.Trial {
	random := rand.New(rand.NewPCG(seed, uint64(rounds)))
	set := fmt.Sprintf("%s-%d", time.Now().UTC().Format("2006-01-02T150405.000"), os.Getpid())
	var out []result.Trial
	for round := range rounds {
		order := random.Perm(targets)
		for turn := range targets {
			at := order[turn]
			if rounds == 1 {
				at = turn
			}
			out = append(out, result.Trial{Set: set, Round: round + 1, Rounds: rounds,
				Target: at + 1, Targets: targets})
		}
	}
	return out
}

// Run makes the runs below a folder that are not made yet.
func (s *Trials) Run(ctx context.Context, runs string, watch bench.Watch) error {
	s.plan()
	s.interrupted = func() bool { return ctx.Err() != nil }
	return Run(ctx, s, Options{Dir: runs, Watch: watch})
}

func (s *Trials) plan() {
	if s.turns == nil {
		s.turns = Turns(len(s.Jobs), s.Rounds, s.Jobs[0].Workload.Seed)
		s.at, s.out, s.there = -1, map[int]bool{}, map[int]bool{}
	}
}

// trial returns the job of one trial of a set. Each round has its own seed, counted from the given
// one. All targets share it: within a round all are offered the same random load, which differs
// between rounds.
func (s *Trials) trial(turn result.Trial) *bench.Job {
	of := *s.Jobs[turn.Target-1]
	if s.Rounds > 1 {
		w := *of.Workload
		w.Seed = s.Jobs[0].Workload.Seed + uint64(turn.Round-1)
		of.Workload, of.Trial = &w, &turn
	}
	return &of
}

// Next returns the next run of a job that has not failed.
func (s *Trials) Next() (*Measurement, error) {
	for s.at++; s.at < len(s.turns); s.at++ {
		turn := s.turns[s.at]
		at := turn.Target - 1
		if run := s.made[turn]; run != nil {
			s.Runs = append(s.Runs, run)
			continue
		}
		if s.out[at] {
			continue
		}
		if s.Prepare != nil && !s.there[at] {
			job, err := s.Prepare(at)
			if err != nil {
				s.fail(at, nil, err)
				continue
			}
			s.Jobs[at], s.there[at] = job, true
		}
		job := s.trial(turn)
		if s.Begin != nil {
			s.Begin(turn, job)
		}
		return &Measurement{Job: job}, nil
	}
	return nil, nil
}

// Take keeps the run.
func (s *Trials) Take(_ context.Context, o Outcome) error {
	if o.Run != nil {
		s.Runs = append(s.Runs, o.Run)
	}
	if o.Err != nil {
		s.fail(s.turns[s.at].Target-1, o.Run, o.Err)
	}
	return nil
}

func (s *Trials) fail(at int, run *result.Saved, err error) {
	s.out[at] = true
	if !s.interrupted() {
		s.Failed(at, run, err)
	}
}

// errNoTrials is the error of Resume if there is nothing to continue.
var errNoTrials = errors.New("no set of trials of these targets and this load was begun here: " +
	"leave --resume out")

// Resume looks below runs for the newest set of the same trials. Its complete runs are not
// repeated.
func (s *Trials) Resume(runs string) error {
	if s.Rounds < 2 {
		return errors.New("a run cannot be resumed, and a set of trials can: give --trials")
	}
	s.plan()
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look for trials to resume: %w", err)
	}
	sets, newest := map[string]map[result.Trial]string{}, ""
	for _, e := range entries {
		var run result.Run
		dir := filepath.Join(runs, e.Name())
		if !e.IsDir() || hidden(e.Name()) ||
			result.ReadDocument(dir, result.RunFile, "run", &run) != nil || !s.has(&run) {
			continue
		}
		set := run.Trial.Set
		newest = max(newest, set) // its name begins with the time
		if sets[set] == nil {
			sets[set] = map[result.Trial]string{}
		}
		sets[set][*run.Trial] = dir
	}
	if newest == "" {
		return errNoTrials
	}
	s.made = map[result.Trial]*result.Saved{}
	for i := range s.turns {
		turn := &s.turns[i]
		turn.Set = newest
		dir := sets[newest][*turn]
		if dir == "" {
			continue
		}
		if s.made[*turn], err = verdict.Read(dir); err != nil {
			return fmt.Errorf("read a trial to resume: %w", err)
		}
	}
	return nil
}

// has reports whether a run is a complete trial of this set.
func (s *Trials) has(run *result.Run) bool {
	t := run.Trial
	if t == nil || run.State != result.Complete || t.Rounds != s.Rounds ||
		t.Targets != len(s.Jobs) || t.Target < 1 || t.Target > t.Targets {
		return false
	}
	return s.trial(*t).Resolved() == run.Resolved
}
