package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/systems"
)

// starts reports whether a run would start the cluster itself.
func starts(job *bench.Job) bool { return system.Starts(job.System, job.Target) }

// canKeep refuses --keep for jobs without clusters to keep, before anything starts.
func (f *fleetFlags) canKeep(jobs []*bench.Job) error {
	if f.hasHosts() || f.Workers != "" || f.WorkersFrom != "" {
		return errors.New("--keep is for servers and load of this machine: start the cluster " +
			"with plimsoll testbed up, which takes --hosts, and measure its target")
	}
	names := map[string]bool{}
	for _, job := range jobs {
		if !starts(job) {
			continue
		}
		if names[job.Target.Name] {
			return fmt.Errorf(
				"--keep: two targets have the name %s: give one of them another name in its file",
				job.Target.Name)
		}
		names[job.Target.Name] = true
	}
	if len(names) == 0 {
		return errors.New(
			"--keep: plimsoll starts no cluster for these targets: leave the flag out")
	}
	return nil
}

// keep starts a job's cluster in a process that outlives this one, and returns the job that
// measures that cluster.
func keep(ctx context.Context, job *bench.Job, kept *[]testbed.State, live bench.Watch) (*bench.Job,
	error) {
	if !starts(job) {
		return job, nil
	}
	request := testbedRequest{
		Target: job.Target.YAML(), Durability: int(job.Workload.Durability),
		NeedBytes: job.Estimate().DiskBytes,
	}
	state, err := bringUp(ctx, request, job.Target, job.Runs,
		func(sentence string) { live.Phase(result.PhaseConnect, sentence) })
	if err != nil {
		return nil, err
	}
	*kept = append(*kept, state)
	t, source, err := systems.FindTarget(state.Target)
	if err != nil {
		return nil, err
	}
	there, err := newJob(job.Workload, t, job.Runs, 0)
	if err != nil {
		return nil, err
	}
	there.DataDir = baseOf(job.Target, job.Runs)
	there.Asked, there.Began, there.WarmUp = job.Asked, job.Began, job.WarmUp
	there.Asked.Target, there.Warmth = source, &bench.Warmth{}
	return there, nil
}
