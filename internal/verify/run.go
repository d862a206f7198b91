package verify

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Options describes what to verify.
type Options struct {
	// Job is the run of one round. Its workload has the faults.
	Job    *bench.Job
	Rounds int
	// Quiet is how long nothing may arrive after the last heal, before missing messages
	// count as lost.
	Quiet time.Duration
	Watch Watch
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
func (o *Options) Takes() (usual, most time.Duration) {
	w := o.Job.Workload
	for range o.Rounds {
		usual += w.Warmup + w.Duration
		most += w.Warmup + w.Duration + max(w.Drain, leastDrain)
		for range w.Strikes() {
			most += bench.FaultLimit
		}
	}
	return usual, most
}

// verifier is a verification under way. It must be used by one goroutine.
type verifier struct {
	Options
	saved   *Saved
	cluster *bench.Cluster
	fresh   bool // no round has used the cluster yet
}

// Run makes the rounds, and returns the verification as it is saved in its folder, also
// together with an error. It returns nil when no round ended. When ctx is cancelled, it
// returns the rounds so far, in the state interrupted.
func Run(ctx context.Context, o Options) (saved *Saved, err error) {
	v := &verifier{Options: o}
	if err := v.create(); err != nil {
		return nil, err
	}
	err = errors.Join(v.rounds(ctx), v.cluster.Close())
	if len(v.saved.Rounds) == 0 {
		_ = os.RemoveAll(v.saved.Dir)
		return nil, err
	}
	return v.saved, cmp.Or(v.finish(ctx, err), err)
}

// create makes the folder with verify.json in it.
func (v *verifier) create() error {
	job := v.Job
	v.saved = &Saved{
		Seed: job.Workload.Seed, Wanted: v.Rounds, QuietSeconds: v.Quiet.Seconds(),
		DrainSeconds: max(job.Workload.Drain, leastDrain).Seconds(),
		Rounds:       []Round{}, Guarantees: []Guarantee{}, Load: job.Load(),
		Durability: result.Durability{Asked: int(job.Workload.Durability)},
	}
	words := []string{"verify", job.Target.Name}
	for _, f := range job.Workload.Faults {
		v.saved.Faults = append(v.saved.Faults, f.String())
		if len(words) == 2 {
			words = append(words, string(f.Do), string(f.Target))
		}
	}
	record, err := document.Begin(job.Runs, job.Target.Name, job.Build, job.Asked, words...)
	if err != nil {
		return err
	}
	v.saved.Record = record
	return v.saved.save()
}

// finish saves how the verification ended.
func (v *verifier) finish(ctx context.Context, err error) error {
	v.saved.Finish(ctx, err)
	return v.saved.save()
}

// rounds makes one round after another. A round that fails is unknown, and the next one gets
// a new cluster.
func (v *verifier) rounds(ctx context.Context) error {
	for n := 1; n <= v.Rounds && ctx.Err() == nil; n++ {
		dir, runErr := v.round(ctx, n)
		if dir == "" && ctx.Err() == nil && !v.fresh && v.cluster != nil {
			// The previous round may have damaged the cluster, so try again on a new one.
			if err := v.renew(); err != nil {
				return err
			}
			dir, runErr = v.round(ctx, n)
		}
		if dir == "" {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // an interrupted round has not failed
			}
			return runErr
		}
		if err := v.take(n, dir); err != nil {
			return cmp.Or(runErr, err)
		}
		v.Watch.Rounded(v.saved)
		if runErr != nil && ctx.Err() == nil && v.cluster != nil {
			if err := v.renew(); err != nil {
				return err
			}
		}
	}
	return nil
}

// renew ends the cluster, so that the next round starts a new one.
func (v *verifier) renew() error {
	cluster := v.cluster
	v.cluster = nil
	return cluster.Close()
}

// round makes the run of round n, with its own seed.
func (v *verifier) round(ctx context.Context, n int) (dir string, err error) {
	if v.cluster == nil {
		logs := filepath.Join(v.saved.Dir, result.LogsDir)
		v.cluster, err = bench.OpenCluster(ctx, v.Job, logs, v.Watch)
		if err != nil {
			return "", err
		}
		v.fresh = true
	}
	job, w := *v.Job, *v.Job.Workload
	w.Seed += uint64(n - 1)
	w.Drain, w.Audit = max(w.Drain, leastDrain), true
	job.Workload, job.Cluster, job.Runs = &w, v.cluster, v.saved.Dir
	job.Idle = v.Quiet
	job.Linger = linger(&job)
	if err := job.Check(); err != nil {
		return "", err
	}
	v.Watch.Round(v.saved, n, &job)
	dir, err = bench.Run(ctx, &job, v.Watch)
	v.fresh = false
	return dir, err
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

// take reads the run of a round, judges it, and saves all judgements so far.
func (v *verifier) take(n int, dir string) error {
	run, err := verdict.Keep(dir)
	if err != nil {
		return err
	}
	s, r := v.saved, &run.Run
	if len(s.Rounds) == 0 {
		s.System, s.Load = r.System, r.Load
		s.Durability, s.Settings = r.Durability, r.Settings
		result.PointLatest(v.Job.Runs, s.ID)
	}
	s.Rounds = append(s.Rounds, Round{
		Number: n, Dir: filepath.Base(dir), Seed: r.Seed, State: r.State,
		Guarantees: Judge(run), Faults: r.Faults, Impact: r.Impact, Counters: r.Counters,
		Ledger: r.Ledger.Subscriptions,
	})
	s.Guarantees = together(s.Rounds)
	return s.save()
}
