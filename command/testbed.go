package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type testbedCommand struct {
	Up     testbedUpCommand     `cmd:"" help:"Start a cluster that stays up, and write its target file for plimsoll run."`
	Status testbedStatusCommand `cmd:"" help:"List the running clusters: address, process, memory and log of each server."`
	Down   testbedDownCommand   `cmd:"" help:"Stop a running cluster, or all of them, and remove their data."`
	Kill   testbedKillCommand   `cmd:"" help:"Kill one server of a running cluster, as kill -9 does; its data stays."`
	Start  testbedStartCommand  `cmd:"" help:"Start a stopped server again, with its data and addresses."`
	Break  testbedBreakCommand  `cmd:"" help:"Inject a fault into servers of a running cluster: kill, pause, partition, power cut, full or slow disk."`
	Heal   testbedHealCommand   `cmd:"" help:"Heal the faults of testbed break."`
	Own    testbedOwnCommand    `cmd:"" hidden:"" help:"Own a cluster; only testbed up and run --keep start this."`
}

type testbedUpCommand struct {
	Target     string `arg:"" optional:"" name:"system|file" help:"A system (plimsoll systems), or a YAML file that holds a target without endpoints."`
	Named      string `name:"target" short:"t" placeholder:"TARGET" help:"The same as system|file, like the flag of plimsoll run."`
	Nodes      *int   `placeholder:"3" help:"Number of servers, instead of the target's."`
	Durability int    `default:"2" placeholder:"1-4" help:"Durability level of the servers' configuration."`
	Warm       string `default:"0s" placeholder:"auto|LENGTH" help:"Put the servers under load before the cluster is up, on topics that are then deleted: auto, until they have levelled off, at most 5 minutes, or auto 1m; or for a length; 0s: not at all."`
	Breakable  bool   `help:"Give each server its own disk and group, so that testbed break can inject every fault (needs root)."`
	Runs       string `default:"runs" type:"path" placeholder:"DIR" help:"The folder of runs in which the cluster keeps its data."`
	hostFlags
}

// Run starts a cluster and prints how to use it.
func (c *testbedUpCommand) Run(con console) error {
	if (c.Target == "") == (c.Named == "") {
		return inputError{errors.New(
			"testbed up starts one target: name a system (plimsoll systems) or a file")}
	}
	c.Target = cmp.Or(c.Target, c.Named)
	t, _, err := findTarget(c.Target)
	if err != nil {
		return inputError{err}
	}
	if len(t.Endpoints) > 0 {
		return inputError{fmt.Errorf(
			"target %s names a running cluster by its endpoints: use it with plimsoll run -t %s",
			c.Target, c.Target)}
	}
	if s, err := systems.Registry().Get(t.System); err == nil && system.RunsElsewhere(s, t) {
		return inputError{fmt.Errorf("target %s names a provider's service, which runs already: "+
			"use it with plimsoll run -t %s", c.Target, c.Target)}
	}
	if c.Nodes != nil {
		t.Testbed.Nodes = *c.Nodes
	}
	if err := t.Validate(); err != nil {
		return inputError{err}
	}
	ctx, stop := untilTold()
	defer stop()
	state, err := bringUp(ctx, testbedRequest{Target: t.YAML(), Durability: c.Durability,
		Breakable: c.Breakable, Warm: c.Warm, hostFlags: c.hostFlags}, t, c.Runs, con.note)
	if ctx.Err() != nil {
		fmt.Fprintln(con.err, "stopped before the cluster was up; all of its data is removed")
		return exitError(exitInterrupted)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "%s is up: %s at durability level %d\n", state.Name,
		nodeCount(len(state.Nodes)), state.Durability)
	nodes := document.Table{ID: "nodes", Corner: "node",
		Head: document.Heads("address", "pid", "log")}
	for _, n := range state.Nodes {
		nodes.Add(n.Name, n.Address, fmt.Sprint(n.PID), relative(n.Log))
	}
	if err := show(con.out, listing(state.Name, nodes)); err != nil {
		return err
	}
	if warmed := fact.Warming(state.Warmed); warmed != "" {
		fmt.Fprintf(con.out, "servers: %s\n", warmed)
	}
	fmt.Fprintf(con.out, "use it:  %s\nend it:  %s\n", useOf(state), endOf(state))
	return nil
}

// testbedRequest is the request to the process that owns a testbed.
type testbedRequest struct {
	Target     string `json:"target"` // YAML
	Durability int    `json:"durability"`
	NeedBytes  int64  `json:"need_bytes"`
	Breakable  bool   `json:"breakable"`
	Warm       string `json:"warm,omitempty"` // as bench.ParseWarmUp reads it; empty: not at all
	hostFlags
}

// bringUp starts a cluster in its own process, which outlives this one.
func bringUp(ctx context.Context, r testbedRequest, t *target.Target, runs string,
	progress func(string)) (testbed.State, error) {
	// The owner computes the same order. Here errors in the input are reported before the owner
	// starts.
	o, err := r.order(t)
	if err == nil && r.Breakable {
		err = breakable(ctx, o, baseOf(t, runs), r.hasHosts())
	}
	var longer time.Duration
	if err == nil && r.Warm != "" {
		var job *bench.Job
		if job, err = r.warmJob(t, runs); err == nil {
			_, longer = job.Takes()
		}
	}
	if err != nil {
		return testbed.State{}, inputError{fmt.Errorf("target %s: %w", t.Name, err)}
	}
	self, err := os.Executable()
	if err != nil {
		return testbed.State{}, fmt.Errorf("find this program: %w", err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return testbed.State{}, err
	}
	state, err := testbed.Detach(ctx, testbed.Detached{
		Base: baseOf(t, runs), Name: t.Name, Command: []string{self, "testbed", "own"},
		Request: raw, Progress: progress, Longer: longer,
	})
	var is *testbed.IsUpError
	switch {
	case errors.As(err, &is) && is.State.Phase == testbed.PhaseUp:
		err = fmt.Errorf("%w: use it with %s, or end it with %s", err, useOf(is.State),
			endOf(is.State))
	case err != nil:
		err = fmt.Errorf("start %s: %w", t.Name, err)
	}
	return state, err
}

// order returns the order to start a target, with this program's systems. The settings of a target
// that was parsed from a file have their places in it.
func (r testbedRequest) order(t *target.Target) (testbed.Order, error) {
	s, err := systems.Registry().Get(t.System)
	if err != nil {
		return testbed.Order{}, err
	}
	d, level := s.Describe(), workload.Level(r.Durability)
	provisioner, able := s.(system.Provisioner)
	if !able {
		return testbed.Order{}, fmt.Errorf(
			"plimsoll cannot start %s: the system has no servers", d.Name)
	}
	settings, err := system.Resolve(d.Settings, t.Settings)
	if err != nil {
		return testbed.Order{}, err
	}
	c := system.Check{Settings: settings, Durability: level, Delivery: workload.AtLeastOnce,
		Nodes: t.Testbed.Nodes}
	if err := system.Refuse(s, c); err != nil {
		return testbed.Order{}, err
	}
	crew, err := r.read()
	switch {
	case err != nil:
		return testbed.Order{}, err
	case crew.Hosts == 0 && r.Lab != "":
		err = errors.New("--lab: the file names no host to start servers on")
	case crew.Hosts == 0:
		err = system.FindSoftware(s, settings)
	case !d.Spreads:
		err = bench.OnOneMachine(d.Name)
	}
	if err != nil {
		return testbed.Order{}, err
	}
	return testbed.Order{
		System: d.Name, Provisioner: provisioner, NeedBytes: r.NeedBytes,
		Settings: forClients(d.Settings, t.Settings), Injector: injectorOf,
		Prepare: testbed.Preparation{Disks: r.Breakable, Groups: r.Breakable},
		Warm:    r.warming(t), Hosts: r.awaiting(),
		Provision: system.Provision{Nodes: t.Testbed.Nodes, Durability: level, Settings: settings,
			Breakable: r.Breakable || crew.Hosts > 0},
	}, nil
}

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

// forClients returns the given settings that apply to the clients of a running cluster.
func forClients(declared []system.Setting, given []target.Setting) []target.Setting {
	return slices.DeleteFunc(slices.Clone(given), func(s target.Setting) bool {
		return slices.ContainsFunc(declared,
			func(d system.Setting) bool { return d.Server && d.Name == s.Name })
	})
}

// baseOf returns the folder for the data of a target's testbed.
func baseOf(t *target.Target, runs string) string {
	return cmp.Or(t.Testbed.Dir, runs)
}

func nodeCount(n int) string { return quantity.Plural(n, "node", "nodes") }

// useOf returns the command that measures a testbed. It includes the durability level unless that
// is the workloads' default, because servers of another level are refused.
func useOf(s testbed.State) string {
	command := "plimsoll run -t " + relative(s.Target)
	if s.Durability != int(workload.SyncAsync) {
		command += fmt.Sprintf(" --durability %d", s.Durability)
	}
	return command
}

// endOf returns the command that stops a testbed.
func endOf(s testbed.State) string {
	command := "plimsoll testbed down " + s.Name
	if base := relative(filepath.Dir(filepath.Dir(s.Dir))); base != "runs" {
		command += " --runs " + base
	}
	return command
}

type testbedStatusCommand struct {
	Runs string `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the clusters were started with."`
	JSON bool   `name:"json" help:"Print JSON instead of a table."`
}

// Run lists the testbeds.
func (c *testbedStatusCommand) Run(con console) error {
	all, err := listTestbeds(con, c.Runs)
	if err != nil {
		return err
	}
	if all == nil {
		all = []testbed.State{} // null in JSON
	}
	t := testbedTable(all)
	t.Empty = "no testbed is up in " + relative(c.Runs)
	return con.show(listing("The running clusters", t), c.JSON, all)
}

func listTestbeds(con console, runs string) ([]testbed.State, error) {
	all, removed, err := testbed.List(context.Background(), runs)
	for _, name := range removed {
		fmt.Fprintf(con.err, "%s was killed; its remaining data is removed\n", name)
	}
	return all, err
}

// testbedTable has a row for each server.
func testbedTable(all []testbed.State) document.Table {
	t := document.Table{ID: "testbeds", Corner: "name",
		Head: document.Heads("state", "node", "address", "pid", "memory", "log")}
	for _, s := range all {
		if len(s.Nodes) == 0 {
			t.Add(s.Name, string(s.Phase), document.None, document.None, fmt.Sprint(s.PID),
				document.None, document.None)
		}
		first := map[int]string{}
		for _, n := range s.Nodes {
			state, memory := string(s.Phase), document.None
			if !n.Alive {
				state = "ended"
			}
			if n.RSSBytes > 0 {
				memory = quantity.Bytes(n.RSSBytes)
			}
			// The memory of a process with several servers is shown once.
			if with, shared := first[n.PID]; shared {
				memory = "with " + with
			} else {
				first[n.PID] = n.Name
			}
			t.Add(s.Name, state, n.Name, n.Address, fmt.Sprint(n.PID), memory, relative(n.Log))
		}
	}
	return t
}

type testbedDownCommand struct {
	Name string `arg:"" optional:"" help:"The cluster's name, as testbed status shows it; without a name, all clusters."`
	Runs string `default:"runs" type:"path" placeholder:"DIR" help:"The folder that the cluster was started with."`
}

// Run stops testbeds.
func (c *testbedDownCommand) Run(con console) error {
	var all []testbed.State
	var err error
	if c.Name == "" {
		all, err = listTestbeds(con, c.Runs)
	} else {
		var s testbed.State
		s, err = findTestbed(con, c.Runs, c.Name)
		all = append(all, s)
	}
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintf(con.out, "no testbed is up in %s\n", relative(c.Runs))
		return nil
	}
	ctx, stop := untilTold()
	defer stop()
	for _, s := range all {
		fmt.Fprintf(con.err, "stopping %s of %s\n", nodeCount(len(s.Nodes)), s.Name)
		e, err := testbed.Down(ctx, s)
		if err != nil {
			return err
		}
		fmt.Fprintf(con.out, "%s is down: %s stopped, %s of data and logs removed\n", e.Name,
			nodeCount(len(e.Nodes)), quantity.Bytes(e.FreedBytes))
	}
	return nil
}

type testbedOwnCommand struct{}

// Run owns a cluster until it is told to stop. Its messages are in its own log, beside the logs
// of the servers.
func (*testbedOwnCommand) Run(console) error {
	signal.Ignore(syscall.SIGHUP) // the process outlives its terminal
	ctx, stop := untilTold()
	defer stop()
	return testbed.Own(ctx, os.Stdin, func(request []byte) (testbed.Order, error) {
		var r testbedRequest
		if err := json.Unmarshal(request, &r); err != nil {
			return testbed.Order{}, fmt.Errorf("read the testbed's request: %w", err)
		}
		t, err := target.Parse("testbed", []byte(r.Target))
		if err != nil {
			return testbed.Order{}, err
		}
		return r.order(t)
	})
}
