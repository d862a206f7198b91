package command

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// warmJob returns the checked job whose load warms the request's cluster up: that of the default
// workload.
func (r testbedRequest) warmJob(t *target.Target, runs string) (*bench.Job, error) {
	up, err := bench.ParseWarmUp(r.Warm)
	if err != nil {
		return nil, fmt.Errorf("--warm: %w", err)
	}
	w := workload.Default()
	w.Durability = workload.Level(r.Durability)
	crew, err := r.read()
	if err != nil {
		return nil, err
	}
	job, err := newJob(w, t, runs, crew.Hosts)
	if err != nil {
		return nil, err
	}
	job.WarmUp = up
	return job, job.Check()
}

// warming returns the warm-up of an order, in the process that owns the cluster; nil: none.
func (r testbedRequest) warming(t *target.Target) func(context.Context, *testbed.Testbed,
	func(string)) (*result.Warming, error) {
	if r.Warm == "" {
		return nil
	}
	return func(ctx context.Context, bed *testbed.Testbed, progress func(string)) (
		*result.Warming, error) {
		// What the load leaves on disk is in the testbed's folder, and goes with it.
		job, err := r.warmJob(t, filepath.Dir(bed.DataDir()))
		if err != nil {
			return nil, err
		}
		job.Cluster = bench.Held(bed)
		err = bench.Warm(ctx, job, told(progress))
		// Servers in this process are measured without the memory of this load.
		debug.FreeOSMemory()
		return job.Cluster.Warmed(), err
	}
}

// told is a bench.Watch that passes sentences on.
type told func(sentence string)

func (t told) Phase(_ result.PhaseName, sentence string) { t(sentence) }
func (told) Interval(result.Interval)                    {}
