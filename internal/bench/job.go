package bench

import (
	"fmt"
	"math"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/load"
	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Job is one run to do.
type Job struct {
	Workload *workload.Workload
	Target   *target.Target
	System   system.System
	Settings system.Settings
	Secrets  target.Secrets
	Trust    *target.Trust // nil: connections are not encrypted

	Runs string // the parent of the run directories
	// DataDir is on the file system where servers that run already keep their
	// data; empty: not known. Servers that the run starts are known.
	DataDir string
	// Cluster is a cluster that the caller owns and that the run leaves up (see OpenCluster); nil:
	// if the target names no cluster, the run starts one.
	Cluster *Cluster
	// Crew offers the load from other processes; nil: this process offers it.
	Crew Crew
	// Pair keeps the producers and the consumers of each topic on one worker of the crew.
	Pair bool
	// Workers is how many processes share the load evenly; 0: this process alone offers it.
	Workers int
	// OnHosts is the number of other machines that the servers are started on; 0: they start here.
	OnHosts int
	// Hosts are these machines; nil: they have not joined yet.
	Hosts testbed.Hosts
	// Interval is the time between two samples; 0: a second.
	Interval time.Duration
	// Late is how long after the measured window late messages are still handed over; 0: during
	// the whole drain.
	Late time.Duration
	// Idle ends the drain, although messages are missing, when nothing has happened for this time
	// and every fault is healed; 0: the drain waits for them.
	Idle time.Duration

	// WarmUp says how the servers are warmed up before the run. The cluster of the caller is not
	// warmed by a run, but by Warm.
	WarmUp WarmUp
	// Warmth is shared by the jobs of servers that run already: the first of them warms the servers
	// up. nil: each run does.
	Warmth *Warmth

	// Linger is how long the drain continues after the last arrival although nothing is missing,
	// because copies may come that late. 0: only as long as necessary.
	Linger time.Duration

	// MaxUSD is the most that the requests of the run may cost; 0: no limit.
	MaxUSD float64

	Clock   clock.Clock
	Build   result.Build
	Asked   result.Asked
	Trial   *result.Trial // nil: the run stands alone
	Process time.Time     // when the process began, for the time to the first message

	// Began, if not nil, is called with the run's directory as soon as it exists, before anything
	// is started.
	Began func(dir string)

	// passing is set for a run that prepares servers for another one.
	passing bool
}

// Watch receives a run's progress, on the goroutine that runs it.
type Watch interface {
	Phase(name result.PhaseName, sentence string)
	Interval(i result.Interval)
}

// Check refuses, before anything is started, a job that the system cannot do.
func (j *Job) Check() error {
	for _, check := range []func() error{
		j.checkSystem, j.checkServers, j.CheckHosts, j.checkWarmUp, j.checkMachine, j.CheckBill,
		j.checkIsolation, j.checkResize, j.checkAdding, j.checkFaults, j.checkExisting,
		j.checkReturns,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkServers refuses a target whose servers are neither named nor started.
func (j *Job) checkServers() error {
	name := j.System.Describe().Name
	switch {
	case j.embedded() && len(j.Target.Endpoints) > 0:
		return fmt.Errorf("%s runs inside plimsoll: remove the endpoints from its target", name)
	case !j.external() && !j.embedded() && !j.starts():
		return fmt.Errorf("plimsoll cannot start %s itself: give the target the endpoints of a "+
			"running cluster", name)
	}
	return nil
}

// checkMachine refuses what this machine has no room for, and processes that it does not have.
func (j *Job) checkMachine() error {
	err := j.checkMemory(memoryOfMachine())
	// Otherwise the start of the cluster checks it.
	if err == nil && j.Cluster != nil && j.OnHosts == 0 {
		err = testbed.CheckDisk(j.dataDir(), j.Estimate().DiskBytes)
	}
	if err != nil {
		return err
	}
	if err := observe.Check(j.Target.Processes); err != nil {
		return fmt.Errorf("processes: %w", err)
	}
	return nil
}

// checkReturns refuses handling.fails on systems whose consumers cannot give messages back.
func (j *Job) checkReturns() error {
	if j.Workload.Handling.Fails == 0 {
		return nil
	}
	d := j.System.Describe()
	if why := d.WhyNoReturns(j.Settings); why != "" {
		return fmt.Errorf("handling.fails: consumers of %s cannot give messages back (%s): remove "+
			"handling.fails from the workload", d.Name, why)
	}
	return nil
}

// CheckLevel checks only the system's durability levels, deliveries and settings. Unlike Check it
// does not check this machine and needs no endpoints.
func (j *Job) CheckLevel() error {
	return j.checkSystem()
}

// FindSoftware returns an error that wraps a *system.Missing when the run would start servers
// for which this machine lacks software.
func (j *Job) FindSoftware() error {
	if !j.starts() || j.OnHosts > 0 { // hosts look for it themselves
		return nil
	}
	return system.FindSoftware(j.System, j.Settings)
}

// checkSystem asks the system about the settings with each version.
func (j *Job) checkSystem() error {
	all, err := j.versions()
	if err != nil {
		return err
	}
	c := j.request()
	for _, c.Settings = range all {
		if err := system.Refuse(j.System, c); err != nil {
			return err
		}
	}
	return nil
}

// request is what the job asks of the system.
func (j *Job) request() system.Check {
	c := system.Check{Settings: j.Settings, Durability: j.Workload.Durability,
		Delivery: j.Workload.Delivery}
	if j.starts() {
		c.Nodes = j.Target.Testbed.Nodes
	}
	return c
}

// versions returns the settings with each version in which the run starts servers, that of the
// target first.
func (j *Job) versions() ([]system.Settings, error) {
	all := []system.Settings{j.Settings}
	for _, f := range j.Workload.Faults {
		if f.ToVersion == "" {
			continue
		}
		if j.Settings.Text(system.SettingVersion) == "" {
			return nil, fmt.Errorf("fault %s: plimsoll can start %s in one version only: leave "+
				"to_version out", f.Do, j.System.Describe().Name)
		}
		later, err := j.Settings.Versioned(f.ToVersion)
		if err != nil {
			return nil, err
		}
		all = append(all, later)
	}
	return all, nil
}

// starts reports whether plimsoll starts the cluster itself.
func (j *Job) starts() bool { return system.Starts(j.System, j.Target) }

// embedded reports whether the system runs in plimsoll's own process.
func (j *Job) embedded() bool {
	_, is := j.System.(system.Embedded)
	return is
}

// external reports whether the servers run already.
func (j *Job) external() bool { return system.RunsElsewhere(j.System, j.Target) }

// dataDir returns the folder of the servers' data, or "" if unknown.
func (j *Job) dataDir() string {
	switch {
	case !j.starts():
		return j.DataDir
	case j.OnHosts > 0:
		return "" // each host has its own
	case j.Target.Testbed.Dir != "":
		return j.Target.Testbed.Dir
	}
	return j.Runs
}

// Estimate is what a run will need, known before it starts.
type Estimate struct {
	// Guessed: the workload is a closed loop, whose number of messages depends on the system. The
	// totals assume that each send takes GuessedSend.
	Guessed        bool
	Messages       int64 // warm-up included
	PublishedBytes int64
	DeliveredBytes int64 // by all subscriptions
	DiskBytes      int64 // on all nodes together; 0: the servers are not ours
	MemoryBytes    int64 // of each worker's process, embedded servers excepted
	Length         time.Duration
}

const diskOverhead = 1.15 // headers, indexes, replication logs

// GuessedSend is the assumed length of a send of a closed loop.
const GuessedSend = time.Millisecond

// Estimate adds up what the run will need. A total that overflows becomes the largest number.
func (j *Job) Estimate() Estimate {
	w := j.Workload
	messages := float64(w.WarmupMessages() + w.OfferedMessages())
	if c := w.Load.Closed; c != nil {
		sends := float64(w.Topics*w.Producers*c.InFlight) * float64(w.Warmup+w.Duration) / float64(
			GuessedSend)
		messages = sends * c.Batch.Mean()
	}
	published := messages * w.Message.Mean()
	e := Estimate{
		Guessed: w.Load.Closed != nil, Messages: whole(messages), PublishedBytes: whole(published),
		DeliveredBytes: whole(published * float64(w.AllSubscriptions())),
		MemoryBytes:    whole(memoryOf(w, messages, j.Workers)),
		Length:         w.Warmup + w.Duration,
	}
	if j.starts() {
		e.DiskBytes = whole(published * float64(j.provision("").All()) * diskOverhead)
	}
	return e
}

func whole(f float64) int64 {
	if f >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(f)
}

// Resolved returns the job's input with every default filled in.
func (j *Job) Resolved() result.Resolved {
	return result.Resolved{Workload: j.Workload.YAML(), Target: j.Target.YAML()}
}

// Load returns the job's workload as the figures by which a result is judged and reported.
func (j *Job) Load() result.Load { return j.Workload.Record() }

// planOf returns the plan of a run's load.
func (j *Job) planOf(run uint32) load.Plan {
	return load.Plan{
		Workload: *j.Workload, Run: run, Prefix: fmt.Sprintf("plimsoll-%08x", run),
		Spread: j.spread(),
	}
}

// spread returns the rule of the system's own client for messages without a key, or the zero
// Spread if it has no rule or all messages have keys.
func (j *Job) spread() system.Spread {
	rule := j.System.Describe().Spread
	if rule == nil || !j.Workload.Keyless() {
		return system.Spread{}
	}
	return rule(j.Settings)
}

// Redelivery says when the system redelivers a message by itself; ok is false if that is unknown.
func (j *Job) Redelivery() (r system.Redelivery, ok bool) {
	redelivery := j.System.Describe().Redelivery
	if redelivery == nil {
		return r, false
	}
	return redelivery(j.Settings, j.Workload.Delivery), true
}

// periods returns the periods of work of the servers that the run starts.
func (j *Job) periods() (out []result.Period) {
	if !j.starts() {
		return nil
	}
	for _, p := range j.System.Describe().Periods {
		every := p.Every
		if p.Setting != "" {
			every = j.Settings.Duration(p.Setting)
		}
		out = append(out, result.Period{What: p.What, Ns: int64(every)})
	}
	return out
}

func (j *Job) ownsPartitions() bool {
	owns := j.System.Describe().OwnsPartitions
	return owns != nil && owns(j.Settings)
}

func (j *Job) redelivery() *result.Redelivery {
	r, ok := j.Redelivery()
	if !ok {
		return nil
	}
	return &result.Redelivery{Never: r.Never, AfterNs: int64(r.After), Why: r.Why,
		DelayNs: int64(r.Delay)}
}
