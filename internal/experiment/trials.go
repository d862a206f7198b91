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
	// Until, if not nil, decides after each whole round whether another one follows. Rounds is
	// then the least number of them.
	Until *Until
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
	drawn       *draw // of the turns of a set with Until
	at          int   // the current turn
	out         map[int]bool
	there       map[int]bool                   // jobs that are prepared
	made        map[result.Trial]*result.Saved // made by an earlier process
	interrupted func() bool
}

// draw draws the turns of a set, round by round.
type draw struct {
	random *rand.Rand
	of     result.Trial // the part that all turns have; Round is the last one drawn
}

// newDraw draws rounds of a set; rounds is 0 if their number is not fixed. Each round has every
// target once, in an order drawn by the seed, so that slow changes of the machine affect all
// targets (Maricq et al., "Taming Performance Variability", 2018). A single round keeps the given
// order.
func newDraw(targets, rounds int, seed uint64) *draw {
	return &draw{rand.New(rand.NewPCG(seed, uint64(rounds))),
		result.Trial{Set: NewSet(), Rounds: rounds, Targets: targets}}
}

// NewSet returns a name for what one command makes. It begins with the time.
func NewSet() string {
	return fmt.Sprintf("%s-%d", time.Now().UTC().Format("2006-01-02T150405.000"), os.Getpid())
}

func (d *draw) round() []result.Trial {
	d.of.Round++
	order := d.random.Perm(d.of.Targets)
	out := make([]result.Trial, d.of.Targets)
	for turn := range out {
		out[turn] = d.of
		if out[turn].Target = order[turn] + 1; d.of.Rounds == 1 {
			out[turn].Target = turn + 1
		}
	}
	return out
}

// Run makes the runs below a folder that are not made yet.
func (s *Trials) Run(ctx context.Context, runs string, watch bench.Watch) error {
	s.plan()
	s.interrupted = func() bool { return ctx.Err() != nil }
	return run(ctx, s, Options{Dir: runs, Watch: watch})
}

func (s *Trials) plan() {
	if s.there != nil {
		return
	}
	s.at, s.out, s.there = -1, map[int]bool{}, map[int]bool{}
	seed := s.Jobs[0].Workload.Seed
	if s.Until == nil {
		d := newDraw(len(s.Jobs), s.Rounds, seed)
		for range s.Rounds {
			s.turns = append(s.turns, d.round()...)
		}
		return
	}
	s.drawn = newDraw(len(s.Jobs), 0, seed)
	s.drawn.of.Until, s.drawn.of.Primary = s.Until.Share, s.Until.Primary
}

// several reports whether the runs are trials of a set.
func (s *Trials) several() bool { return s.Rounds > 1 || s.Until != nil }

// trial returns the job of one trial of a set. Each round has its own seed, counted from the given
// one. All targets share it: within a round all are offered the same random load, which differs
// between rounds.
func (s *Trials) trial(turn result.Trial) *bench.Job {
	of := *s.Jobs[turn.Target-1]
	if s.several() {
		w := *of.Workload
		w.Seed = s.Jobs[0].Workload.Seed + uint64(turn.Round-1)
		of.Workload, of.Trial = &w, &turn
	}
	return &of
}

// Next returns the next run of a job that has not failed.
func (s *Trials) Next() (*Measurement, error) {
	for s.at++; s.at < len(s.turns) || s.further(); s.at++ {
		turn := s.turns[s.at]
		at := turn.Target - 1
		if run := s.made[turn]; run != nil {
			s.Runs = append(s.Runs, run)
			s.Until.spend(run)
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
var errNoTrials = errors.New("no trials of these targets and this load were begun here: leave " +
	"out --resume")

// Resume looks below runs for the newest set of the same trials. Its complete runs are not
// repeated.
func (s *Trials) Resume(runs string) error {
	if !s.several() {
		return errors.New("a single run cannot be resumed: give --trials for a set that can be")
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
	for turn, dir := range sets[newest] {
		if s.made[turn], err = verdict.Read(dir); err != nil {
			return fmt.Errorf("read a trial to resume: %w", err)
		}
	}
	for i := range s.turns {
		s.turns[i].Set = newest
	}
	if s.drawn != nil {
		s.drawn.of.Set = newest
	}
	return nil
}

// has reports whether a run is a complete trial of this set.
func (s *Trials) has(run *result.Run) bool {
	t := run.Trial
	if t == nil || run.State != result.Complete || t.Targets != len(s.Jobs) || t.Target < 1 ||
		t.Target > t.Targets {
		return false
	}
	like := result.Trial{Rounds: s.Rounds}
	if s.drawn != nil {
		like = s.drawn.of
	}
	return t.Rounds == like.Rounds && t.Until == like.Until && t.Primary == like.Primary &&
		s.trial(*t).Resolved() == run.Resolved
}
