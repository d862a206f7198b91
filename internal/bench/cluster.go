package bench

import (
	"context"
	"fmt"
	"os"

	"github.com/plimsoll-bench/plimsoll/internal/fault"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Cluster is a cluster that plimsoll started and that stays up for several
// runs. Each run connects separately and uses its own topics, which it deletes.
type Cluster struct {
	testbed *testbed.Testbed
	startNs int64 // how long the start took
	warmth  Warmth
}

// Held returns a testbed of the caller, for runs that leave it up.
func Held(bed *testbed.Testbed) *Cluster { return &Cluster{testbed: bed} }

// Warmed says how Warm warmed the cluster up; nil: it did not.
func (c *Cluster) Warmed() *result.Warming { return c.warmth.warmed }

// OpenCluster starts the cluster that the job's runs need, with the servers'
// logs in a directory. It returns nil if they need none: the target names a cluster, or the system
// runs in this process.
func OpenCluster(ctx context.Context, job *Job, logs string, watch Watch) (*Cluster, error) {
	if !job.starts() {
		return nil, nil
	}
	watch.Phase(result.PhaseConnect, job.startSentence())
	if err := job.fetch(ctx, watch); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("create the folder for the servers' logs: %w", err)
	}
	began := job.Clock.Now()
	bed, err := job.up(ctx, logs)
	if err != nil {
		return nil, err
	}
	return &Cluster{testbed: bed, startNs: job.Clock.Now() - began}, nil
}

// Close ends the cluster and deletes its data.
func (c *Cluster) Close() error {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if err := c.testbed.Close(ctx); err != nil {
		return &Leftover{fmt.Errorf("stop the testbed: %w", err)}
	}
	return nil
}

// startSentence names the servers that are being started.
func (j *Job) startSentence() string {
	p := j.provision("")
	p.Extra, p.Later = p.Extra-p.Later, 0
	return fmt.Sprintf("starting %s of %s %s",
		system.NodesOf(j.System.(system.Provisioner), p), j.Target.Name, j.where())
}

// provision describes the cluster to start, with the servers' logs in a directory.
func (j *Job) provision(logs string) system.Provision {
	p := system.Provision{
		Nodes: j.Target.Testbed.Nodes, LogDir: logs, Durability: j.Workload.Durability,
		Settings: j.Settings,
		// Servers in plimsoll's process can have neither faults, nor separate CPUs, nor hosts.
		Breakable: len(j.Workload.ServerFaults()) > 0 || j.OnHosts > 0 ||
			j.Workload.Isolate.CPUs == workload.CPUsSplit,
	}
	p.Extra, p.Later = j.Workload.Extra()
	if j.Hosts != nil {
		p.Site = j.Hosts
	}
	return p
}

// up starts the job's cluster.
func (j *Job) up(ctx context.Context, logs string) (*testbed.Testbed, error) {
	if a := j.separateCPUs(); a != nil && a.Why == "" {
		defer process.StartOn(a.Servers)()
	}
	bed, err := testbed.Up(ctx, j.options(logs))
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", j.Target.Name, err)
	}
	return bed, nil
}

// options describes the testbed of the job's cluster, with the servers' logs in a directory.
func (j *Job) options(logs string) testbed.Options {
	o := testbed.Options{
		Base: j.dataDir(), Hosts: j.Hosts,
		Provisioner: j.System.(system.Provisioner),
		Provision:   j.provision(logs),
		NeedBytes:   j.Estimate().DiskBytes,
		Prepare:     fault.Prepare(j.Workload.Faults),
	}
	if j.OnHosts > 0 {
		o.Base = j.Runs // of what the coordinator keeps
	}
	for _, f := range j.Workload.Faults {
		if f.ToVersion != "" {
			o.Versions = append(o.Versions, f.ToVersion)
		}
	}
	return o
}
