package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Job is one target to probe.
type Job struct {
	Target   *target.Target
	System   system.System
	Settings system.Settings
	Secrets  target.Secrets
	TLS      *tls.Config // nil: not encrypted
	// Durability is the level of the topics; 0: the first level that the settings allow,
	// beginning with level 2.
	Durability workload.Level
	// Base is the folder for the data of a cluster that Run starts.
	Base string
}

// startLimit bounds the start of a cluster whose servers are on this machine already; stopLimit
// bounds its end.
const (
	startLimit = 4 * time.Minute
	stopLimit  = time.Minute
)

// Check refuses impossible jobs before anything starts, and chooses the level.
func (j *Job) Check() error {
	d := j.System.Describe()
	_, embedded := j.System.(system.Embedded)
	switch {
	case embedded && len(j.Target.Endpoints) > 0:
		return fmt.Errorf("%s lives inside plimsoll: take the endpoints out of its target", d.Name)
	case !system.RunsElsewhere(j.System, j.Target) && !embedded && !j.starts():
		return fmt.Errorf(
			"plimsoll cannot start %s itself: give the target the endpoints of a running cluster",
			d.Name)
	}
	levels := []workload.Level{j.Durability}
	if j.Durability == 0 {
		levels = []workload.Level{workload.SyncAsync, workload.SyncSync, workload.AsyncSync,
			workload.AsyncAsync}
	}
	var first error
	for _, level := range levels {
		err := j.checkLevel(level)
		if err == nil {
			j.Durability = level
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (j *Job) checkLevel(level workload.Level) error {
	c := system.Check{Settings: j.Settings, Durability: level, Delivery: workload.AtLeastOnce}
	if j.starts() {
		c.Nodes = j.Target.Testbed.Nodes
	}
	return system.Refuse(j.System, c)
}

// starts reports whether plimsoll starts the cluster itself.
func (j *Job) starts() bool { return system.Starts(j.System, j.Target) }

func (j *Job) options() system.Options {
	return system.Options{
		Endpoints: j.Target.Endpoints, Credentials: system.Credentials(j.Secrets), TLS: j.TLS,
		Settings: j.Settings, Durability: j.Durability,
	}
}

// Name returns the column's name: that of the target, or the system and its variant.
func (j *Job) Name() string {
	name := j.Target.Name
	d := j.System.Describe()
	if d.Variant != nil && name == d.Name {
		if variant := d.Variant(j.options()); variant != "" {
			name += " " + variant
		}
	}
	return name
}

// Run starts the cluster unless the target names one, tries every probe on it, and ends it. It
// calls say with each slow step and each finding.
func (j *Job) Run(ctx context.Context, say func(sentence string)) (column Column, err error) {
	options := j.options()
	if j.starts() {
		say(fmt.Sprintf("%s: starting %s on this machine", j.Name(),
			system.NodesOf(j.System.(system.Provisioner), j.provision(""))))
		end, err := j.start(ctx, &options, say)
		if err != nil {
			return Column{}, fmt.Errorf("start %s: %w", j.Name(), err)
		}
		defer func() {
			if ending := end(); err == nil {
				err = ending
			}
		}()
	}
	return On(ctx, Subject{Name: j.Name(), System: j.System, Options: options},
		func(f Finding, took time.Duration) {
			say(fmt.Sprintf("%s: %s: %s, after %s", j.Name(), f.Row, f.Answer, rounded(took)))
		})
}

// provision is the cluster to start, with the servers' logs in a directory.
func (j *Job) provision(logs string) system.Provision {
	return system.Provision{Nodes: j.Target.Testbed.Nodes, LogDir: logs,
		Durability: j.Durability, Settings: j.Settings}
}

// start starts the cluster and returns the function that ends it. That function removes the
// servers' logs; when the start fails, the logs stay.
func (j *Job) start(ctx context.Context, o *system.Options, say func(string)) (end func() error,
	err error) {
	provisioner := j.System.(system.Provisioner)
	if f, fetches := provisioner.(system.Fetcher); fetches {
		// plimsoll does not bound this time, which depends on a download.
		if err := f.Fetch(ctx, j.Settings, say); err != nil {
			return nil, err
		}
	}
	logs, err := leftover.Dir("", "plimsoll-probe-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the logs: %w", err)
	}
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	base := j.Base
	if j.Target.Testbed.Dir != "" {
		base = j.Target.Testbed.Dir
	}
	bed, err := testbed.Up(starting, testbed.Options{
		Base: base, Provisioner: provisioner, Progress: say,
		Provision: j.provision(logs.Path),
	})
	if err != nil {
		logs.Keep()
		return nil, fmt.Errorf("%w (logs: %s)", err, logs.Path)
	}
	cluster := bed.Cluster()
	o.Endpoints, o.Credentials, o.TLS = cluster.Endpoints(), cluster.Credentials(), cluster.TLS()
	return func() error {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
		defer cancel()
		if err := bed.Close(stopping); err != nil {
			return fmt.Errorf("end %s: %w", j.Name(), err)
		}
		return logs.Remove()
	}, nil
}
