package verify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/experiment"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Options describes what to verify.
type Options struct {
	// Job is the run of one round. Its workload has the faults.
	Job    *bench.Job
	Rounds int
	// Quiet is how long nothing may arrive after the last heal, before a round stops waiting for
	// missing messages.
	Quiet time.Duration
	// Resume is the folder of a verification to continue; "": a new one.
	Resume string
	Watch  Watch
}

// Watch receives the progress of a verification, from the goroutine that runs it.
type Watch interface {
	bench.Watch
	// Round is called before each round, with the job of its run.
	Round(s *Saved, number int, job *bench.Job)
	// Rounded is called after each round, with the judgements so far.
	Rounded(s *Saved)
}

// leastDrain is the shortest allowed drain of a round, because servers take time to start
// again.
const leastDrain = time.Minute

// Takes returns how long the rounds take when no message is lost, and how long at most. Both
// leave out the start of clusters.
func (o *Options) Takes(rounds int) (usual, most time.Duration) {
	w := o.Job.Workload
	for range rounds {
		usual += w.Warmup + w.Duration
		most += w.Warmup + w.Duration + max(w.Drain, leastDrain)
		for range w.Strikes() {
			most += bench.FaultLimit
		}
	}
	return usual, most
}

// verifier is a verification under way. It is the strategy that asks for one round after another.
type verifier struct {
	Options
	folder  *experiment.Folder[Saved]
	remains error // what the rounds did not remove
}

// Run makes the rounds, and returns the verification as it is saved in its folder, also
// together with an error. It returns nil when no round ended. When ctx is cancelled, it
// returns the rounds so far, in the state interrupted. A round whose run fails is unknown, and
// the next one gets new servers. A round that cannot begin ends the verification.
func Run(ctx context.Context, o Options) (saved *Saved, err error) {
	v := &verifier{Options: o}
	if o.Resume == "" {
		v.folder, err = Folders.Create(o.Job.Runs, v.begun(), v.words()...)
	} else {
		v.folder, err = v.resumed()
	}
	if err != nil {
		return nil, err
	}
	err = v.folder.Run(ctx, v, experiment.Options{Watch: o.Watch, Renewals: o.Rounds})
	err = errors.Join(err, v.remains)
	if len(v.folder.Saved.Rounds) == 0 && o.Resume == "" {
		return nil, errors.Join(err, v.folder.Discard())
	}
	return v.folder.Saved, errors.Join(err, v.folder.Close())
}

// begun returns a verification without rounds.
func (o *Options) begun() *Saved {
	job := o.Job
	s := &Saved{
		Record: experiment.Record{Name: job.Target.Name, Plimsoll: job.Build, Asked: job.Asked,
			Resolved: job.Resolved()},
		Seed: job.Workload.Seed, Wanted: o.Rounds, QuietSeconds: o.Quiet.Seconds(),
		DrainSeconds: max(job.Workload.Drain, leastDrain).Seconds(),
		Rounds:       []Round{}, Guarantees: []Guarantee{}, Load: job.Load(),
		Durability: result.Durability{Asked: int(job.Workload.Durability)},
	}
	for _, f := range job.Workload.Faults {
		s.Faults = append(s.Faults, f.String())
	}
	return s
}

// words returns the name of the folder: the target and the first fault.
func (o *Options) words() []string {
	words := []string{"verify", o.Job.Target.Name}
	for _, f := range o.Job.Workload.Faults[:min(1, len(o.Job.Workload.Faults))] {
		words = append(words, string(f.Do), string(f.Target))
	}
	return words
}

// Left returns the number of rounds that are still to be made.
func (o *Options) Left() (int, error) {
	if o.Resume == "" {
		return o.Rounds, nil
	}
	s, err := Folders.Read(o.Resume)
	if err != nil {
		return 0, err
	}
	return max(0, o.Rounds-len(kept(s.Rounds))), nil
}

// kept returns the rounds that a resumed verification does not repeat.
func kept(rounds []Round) []Round {
	return slices.DeleteFunc(slices.Clone(rounds), func(r Round) bool {
		return r.State == result.Interrupted || r.State == result.Incomplete
	})
}

// same reports whether a verification is the one of the options.
func (o *Options) same(s *Saved) bool {
	return s.Resolved == o.Job.Resolved() && s.Wanted == o.Rounds &&
		s.QuietSeconds == o.Quiet.Seconds()
}

// Find returns the newest folder below the job's Runs with the same verification, of a command's
// set or, if that is empty, of any; "": none.
func Find(o Options, set string) (dir string, err error) {
	return Folders.Newest(o.Job.Runs, set, o.same)
}

// resumed opens the folder of a verification to continue. A round that was interrupted is made
// again.
func (o *Options) resumed() (*experiment.Folder[Saved], error) {
	f, err := Folders.Open(o.Resume)
	if err != nil {
		return nil, err
	}
	if !o.same(f.Saved) {
		return nil, errors.Join(f.Close(), fmt.Errorf(
			"the verification in %s has another plan: repeat its whole command with --resume",
			o.Resume))
	}
	f.Saved.Rounds = kept(f.Saved.Rounds)
	for i := range f.Saved.Rounds {
		f.Saved.Rounds[i].Number = i + 1
	}
	f.Saved.Guarantees = together(f.Saved.Rounds)
	return f, nil
}

// Next returns the next round, with its own seed.
func (v *verifier) Next() (*experiment.Measurement, error) {
	s := v.folder.Saved
	n := len(s.Rounds) + 1
	if n > v.Rounds {
		return nil, nil
	}
	job, w := *v.Job, *v.Job.Workload
	w.Seed += uint64(n - 1)
	w.Drain, w.Audit = max(w.Drain, leastDrain), true
	job.Workload, job.Idle = &w, v.Quiet
	job.Linger = linger(&job)
	if err := job.Check(); err != nil {
		return nil, err
	}
	return &experiment.Measurement{Job: &job, Servers: s.Name,
		Begin: func(job *bench.Job) { v.Watch.Round(s, n, job) }}, nil
}

// Take judges a round, and saves all judgements so far.
func (v *verifier) Take(ctx context.Context, o experiment.Outcome) error {
	if o.Run == nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // an interrupted round has not failed
		}
		return o.Err
	}
	if ctx.Err() == nil { // else it is told already
		v.remains = errors.Join(v.remains, bench.LeftBy(o.Err))
	}
	s, r := v.folder.Saved, &o.Run.Run
	if len(s.Rounds) == 0 {
		s.System, s.Load = r.System, r.Load
		s.Durability, s.Settings = r.Durability, r.Settings
	}
	s.Rounds = append(s.Rounds, Round{
		Number: len(s.Rounds) + 1, Dir: filepath.Base(o.Dir), Seed: r.Seed, State: r.State,
		Guarantees: Judge(o.Run), Faults: r.Faults, Impact: r.Impact, Counters: r.Counters,
		Ledger: r.Ledger.Subscriptions, Ended: r.Ended,
	})
	s.Guarantees = together(s.Rounds)
	if err := v.folder.Save(); err != nil {
		return err
	}
	v.Watch.Rounded(s)
	return nil
}

// mostLinger bounds how long a round waits for copies.
const mostLinger = 2 * time.Minute

// linger returns how long a round waits for copies. The wait covers the time until the
// clients that a fault cut off are served again. It also covers the system's redelivery
// time-out, when that is known and at most mostLinger.
func linger(job *bench.Job) time.Duration {
	r, known := job.Redelivery()
	if known && r.After <= mostLinger {
		return max(r.After, verdict.WatchAfterFaultNs)
	}
	return verdict.WatchAfterFaultNs
}
