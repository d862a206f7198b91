package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The time limits at the end of a warm-up. They are short because the measured runs have topics of
// their own, which leftover messages of the warm-up do not reach.
const (
	warmLate  = time.Second
	warmDrain = 10 * time.Second
)

// Warm offers a job's load to a cluster that was just started, for a length, and keeps nothing of
// it. Servers on a virtual machine that compiles code while it runs carry at first a fraction of
// their later rate, and the first of several measurements would show that. It does nothing where
// the job has no such cluster.
func Warm(ctx context.Context, job *Job, length time.Duration, watch Watch) error {
	if job.Cluster == nil || length == 0 {
		return nil
	}
	warm, w := *job, *job.Workload
	w.Warmup, w.Settle, w.Backlog, w.Faults, w.Drain = 0, false, nil, nil, warmDrain
	if w.Load.Closed == nil {
		w.SetRate(job.Load().TargetRate)
	}
	if err := w.SetDuration(length); err != nil {
		return err
	}
	if err := os.MkdirAll(job.Runs, 0o755); err != nil {
		return fmt.Errorf("create the folder for a warm-up: %w", err)
	}
	dir, err := os.MkdirTemp(job.Runs, ".warm-")
	if err != nil {
		return fmt.Errorf("create the folder for a warm-up: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	warm.Workload, warm.Runs, warm.Late, warm.Idle = &w, dir, warmLate, warmLate
	if err := warm.Check(); err != nil {
		return fmt.Errorf("warm the servers up: %w", err)
	}
	watch.Phase(result.PhaseConnect,
		fmt.Sprintf("warming %s up for %s", job.Target.Name, quantity.ExactDuration(length)))
	if _, err := Run(ctx, &warm, unwatched{}); err != nil {
		return fmt.Errorf("warm the servers up: %w", err)
	}
	return nil
}

// unwatched is the Watch of a run whose progress nobody follows.
type unwatched struct{}

func (unwatched) Phase(result.PhaseName, string) {}
func (unwatched) Interval(result.Interval)       {}
