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

// Options says what to verify.
type Options struct {
	// Job is the run of a round; its workload has the faults.
	Job    *bench.Job
	Rounds int
	// Quiet is how long nothing may arrive, every fault being healed, before
	// what is missing counts as lost.
	Quiet time.Duration
	Watch Watch
}

// Watch is told how a verification goes, from the goroutine that runs it.
type Watch interface {
	bench.Watch
	// Round comes before a round; the job is the run that it makes.
	Round(s *Saved, number int, job *bench.Job)
	// Rounded comes after it, with what is known by then.
	Rounded(s *Saved)
}

// leastDrain is the least bound of a round's drain: servers that start again
// take their time.
const leastDrain = time.Minute

// Takes is how long the rounds take when nothing is lost, and at most, the
// start of clusters left out.
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

// verifier is a verification under way. It is used by one goroutine.
type verifier struct {
	Options
	saved   *Saved
	cluster *bench.Cluster
	fresh   bool // no round has used the cluster
}

// Run makes the rounds. It returns what they came to, as it stands in their
// folder, also beside an error; nil when nothing was measured. When ctx is
// cancelled it ends with what it has, in the state interrupted.
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

// create makes the folder, with verify.json in it.
func (v *verifier) create() error {
	now, job := time.Now().UTC(), v.Job
	v.saved = &Saved{
		SchemaVersion: SchemaVersion, Name: job.Target.Name, State: result.Running, StartedAt: now, PID: os.Getpid(),
		Plimsoll: job.Build, Asked: job.Asked, Seed: job.Workload.Seed, Wanted: v.Rounds, QuietSeconds: v.Quiet.Seconds(),
		DrainSeconds: max(job.Workload.Drain, leastDrain).Seconds(), Rounds: []Round{}, Guarantees: []Guarantee{},
		Load: job.Load(), Durability: result.Durability{Asked: int(job.Workload.Durability)},
	}
	words := []string{"verify", job.Target.Name}
	for _, f := range job.Workload.Faults {
		v.saved.Faults = append(v.saved.Faults, f.String())
		if len(words) == 2 {
			words = append(words, string(f.Do), string(f.Target))
		}
	}
	dir, err := result.NewFolder(job.Runs, now, words...)
	if err != nil {
		return err
	}
	v.saved.Dir, v.saved.ID = dir, filepath.Base(dir)
	return v.saved.save()
}

// finish writes how the verification ended.
func (v *verifier) finish(ctx context.Context, err error) error {
	s := v.saved
	s.EndedAt = time.Now().UTC()
	switch {
	case ctx.Err() != nil:
		s.State, s.StateReason = result.Interrupted, "stopped on request"
	case err != nil:
		s.State, s.StateReason = result.Failed, err.Error()
	default:
		s.State = result.Complete
	}
	return s.save()
}

// rounds makes one round after another. A round that fails is unknown, and the
// next begins on a new cluster.
func (v *verifier) rounds(ctx context.Context) error {
	for n := 1; n <= v.Rounds && ctx.Err() == nil; n++ {
		dir, runErr := v.round(ctx, n)
		if dir == "" && ctx.Err() == nil && !v.fresh && v.cluster != nil {
			// What the round before did to the cluster is no fault of this one.
			if err := v.renew(); err != nil {
				return err
			}
			dir, runErr = v.round(ctx, n)
		}
		if dir == "" {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // one that was told to stop has not failed
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

// renew ends the cluster, so that the next round starts another.
func (v *verifier) renew() error {
	cluster := v.cluster
	v.cluster = nil
	return cluster.Close()
}

// round makes one run, with a seed of its own.
func (v *verifier) round(ctx context.Context, n int) (dir string, err error) {
	if v.cluster == nil {
		v.cluster, err = bench.OpenCluster(ctx, v.Job, filepath.Join(v.saved.Dir, result.LogsDir), v.Watch)
		if err != nil {
			return "", err
		}
		v.fresh = true
	}
	job, w := *v.Job, *v.Job.Workload
	w.Seed += uint64(n - 1)
	w.Drain, w.Audit = max(w.Drain, leastDrain), true
	job.Workload, job.Cluster, job.Runs, job.Idle = &w, v.cluster, v.saved.Dir, v.Quiet
	job.Linger = linger(&job)
	if err := job.Check(); err != nil {
		return "", err
	}
	v.Watch.Round(v.saved, n, &job)
	dir, err = bench.Run(ctx, &job, v.Watch)
	v.fresh = false
	return dir, err
}

// mostLinger bounds for how long a round waits for copies.
const mostLinger = 2 * time.Minute

// linger is how long a round waits for copies: until clients that a fault cut off are
// served again, and as long as the system may take to deliver a message again, where that
// is bearable.
func linger(job *bench.Job) time.Duration {
	r, known := job.Redelivery()
	if known && r.After <= mostLinger {
		return max(r.After, verdict.WatchAfterFaultNs)
	}
	return verdict.WatchAfterFaultNs
}

// take reads a round back, judges it and writes what is known by now.
func (v *verifier) take(n int, dir string) error {
	run, err := verdict.Keep(dir)
	if err != nil {
		return err
	}
	s, r := v.saved, &run.Run
	if len(s.Rounds) == 0 {
		s.System, s.Load, s.Durability, s.Settings = r.System, r.Load, r.Durability, r.Settings
		result.PointLatest(v.Job.Runs, s.ID)
	}
	s.Rounds = append(s.Rounds, Round{
		Number: n, Dir: filepath.Base(dir), Seed: r.Seed, State: r.State, Guarantees: Judge(run),
		Faults: r.Faults, Impact: r.Impact, Counters: r.Counters, Ledger: r.Ledger.Subscriptions,
	})
	s.Guarantees = together(s.Rounds)
	return s.save()
}
