package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The time limits at the end of a warm-up. They are short because the measured runs have topics of
// their own, which leftover messages of the warm-up do not reach.
const (
	warmLate  = time.Second
	warmDrain = 10 * time.Second
)

// Warm offers a job's load for a length to a cluster that was just started, and keeps no result.
// Servers on a virtual machine that compiles code while it runs first carry only a fraction of
// their later rate, which would distort the first of several measurements. Warm does nothing if
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
	warm.Workload = &w
	watch.Phase(result.PhaseConnect,
		fmt.Sprintf("warming %s up for %s", job.Target.Name, quantity.ExactDuration(length)))
	if _, err := passing(ctx, &warm); err != nil {
		return fmt.Errorf("warm the servers up: %w", err)
	}
	return nil
}

// gaugeInFlight is the number of messages in flight of each producer of a gauge.
const gaugeInFlight = 512

// Gauge offers a closed loop to a job's system for a length, and returns the rate, in messages per
// second, at which the system acknowledged. A search for the peak may begin near this rate. It is
// not the peak itself: a closed loop does not wait for consumers, and its rate depends on the
// number of messages in flight. The run is not kept.
func Gauge(ctx context.Context, job *Job, length time.Duration, watch Watch) (float64, error) {
	closed, w := *job, *job.Workload
	w.Warmup, w.Settle, w.Backlog, w.Faults, w.Drain = 0, false, nil, nil, warmDrain
	w.Handling, w.Scaling = workload.Handling{}, nil
	w.Load = workload.Load{Closed: &workload.Closed{InFlight: gaugeInFlight,
		Batch: workload.Batch{Least: 1, Most: 1}}}
	w.MaxInFlight, w.Duration = gaugeInFlight, length
	closed.Workload = &w
	watch.Phase(result.PhaseConnect, fmt.Sprintf("gauging %s for %s", job.Target.Name,
		quantity.ExactDuration(length)))
	r, err := passing(ctx, &closed)
	if err != nil {
		return 0, fmt.Errorf("gauge the system: %w", err)
	}
	return r.Run.Summary.AchievedRate, nil
}

// passing measures a job whose run directory is not kept.
func passing(ctx context.Context, job *Job) (*result.Saved, error) {
	if err := os.MkdirAll(job.Runs, 0o755); err != nil {
		return nil, result.InFolder(job.Runs, "create a folder for a run that is not kept", err)
	}
	made, err := leftover.Dir(job.Runs, ".warm-")
	if err != nil {
		return nil, result.InFolder(job.Runs, "create a folder for a run that is not kept", err)
	}
	defer func() { _ = made.Remove() }()
	job.Runs, job.Late, job.Idle = made.Path, warmLate, warmLate
	if err := job.Check(); err != nil {
		return nil, err
	}
	kept, err := Run(ctx, job, unwatched{})
	if err != nil {
		return nil, err
	}
	return result.Read(kept)
}

// unwatched is a Watch that ignores a run's progress.
type unwatched struct{}

func (unwatched) Phase(result.PhaseName, string) {}
func (unwatched) Interval(result.Interval)       {}
