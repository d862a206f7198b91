package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/fleet"
	"github.com/plimsoll-bench/plimsoll/internal/leftover"
	"github.com/plimsoll-bench/plimsoll/internal/testbed"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

const (
	hireLimit   = 10 * time.Minute // until all workers have joined
	remindAfter = 30 * time.Second // of waiting for workers
	leaveLimit  = 15 * time.Second // until local workers have ended
)

// hostFlags are the flags of commands whose servers can be started by hosts.
type hostFlags struct {
	Hosts         string `placeholder:"N|local:N" help:"Start the servers on N hosts, which join from their machines (plimsoll host), a node on each; or from N processes of this machine with addresses of their own."`
	Lab           string `type:"path" placeholder:"FILE" help:"The machines by name, with their addresses and folders, instead of --hosts, --workers and --fleet-listen: a file (docs/LAB.md)."`
	FleetListen   string `default:"${any_port}" placeholder:"HOST:PORT" help:"The address at which workers and hosts join: one of this machine that theirs can reach. Port 0: a free one."`
	FleetIdentity string `type:"path" placeholder:"FILE" help:"The coordinator's identity (plimsoll fleet identity), from which the join token follows. Default: a new one."`
}

// fleetFlags are the flags of commands whose load can be offered by other processes.
type fleetFlags struct {
	Workers     string `placeholder:"N|local:N" help:"Offer the load from N workers, which join from their machines (plimsoll worker), or from N processes of this machine."`
	WorkersFrom string `type:"path" placeholder:"FILE" help:"Offer the load from the workers that a file names, one on a line."`
	Pair        bool   `help:"Keep the producers and the consumers of each topic on one worker, so that end-to-end latency is on one clock."`
	hostFlags
}

// away returns the number of other machines that share the load, and the number of hosts that the
// servers start on; 0: this machine has all of it. What cannot be read is refused by hired.
func (f *fleetFlags) away() (machines, hosts int) {
	c, err := f.read()
	if err == nil && !c.localWorkers {
		machines = c.Workers
	}
	return machines, c.Hosts
}

// processesOf reads a number of processes, and whether they are to be started on this machine.
func processesOf(flag, text string, most int) (n int, local bool, err error) {
	if text == "" {
		return 0, false, nil
	}
	number, local := strings.CutPrefix(text, "local:")
	n, err = strconv.Atoi(number)
	if err != nil || n < 1 || n > most {
		return 0, false, fmt.Errorf("%s: %q is not a number from 1 to %d, nor local: and one", flag,
			text, most)
	}
	return n, local, nil
}

// crew is the fleet of a command; without workers and hosts it is none.
type crew struct {
	fleet.Options
	localWorkers bool // they are processes of this machine
	localHosts   bool
	pair         bool
	dir          string // below which local hosts keep their servers' data
	say          func(sentence string)

	coordinator *fleet.Coordinator
	local       []*process.Server
	folder      *leftover.Made // of the join token and the local processes' logs
}

// hired opens the fleet of the flags, waits for its workers, gives the fleet to the jobs, calls
// do, and ends the fleet. Without the flags it only calls do.
func (f *fleetFlags) hired(ctx context.Context, con console, jobs []*bench.Job,
	do func(c *crew) error,
) error {
	c, err := f.read()
	if err != nil {
		return inputError{err}
	}
	for _, job := range jobs {
		c.dir = job.Runs
		if err := c.take(job); err != nil {
			return inputError{fmt.Errorf("target %s: %w", job.Target.Name, err)}
		}
	}
	if c.Workers == 0 && c.Hosts == 0 {
		return do(c)
	}
	c.say = con.note
	defer c.end()
	if err := c.gather(ctx); err != nil {
		return err
	}
	for _, job := range jobs {
		if err := c.take(job); err != nil {
			return err
		}
	}
	return do(c)
}

// take gives a job to the crew, or refuses it.
func (c *crew) take(job *bench.Job) error {
	job.Pair, job.OnHosts = c.pair, c.Hosts
	if c.coordinator != nil && c.Workers > 0 {
		job.Crew = c.coordinator
	}
	if c.coordinator != nil && c.Hosts > 0 {
		job.Hosts = c.coordinator.Hosts()
	}
	if err := job.CheckHosts(); err != nil || c.Workers == 0 {
		return err
	}
	return job.CheckCrew(c.Workers)
}

// gather opens the fleet and waits for its workers.
func (c *crew) gather(ctx context.Context) (err error) {
	c.Joined = func(name, host string) { c.say(name + " has joined from " + host) }
	if c.coordinator, err = fleet.Listen(c.Options); err != nil {
		return inputError{fmt.Errorf("--fleet-listen: %w", err)}
	}
	if c.folder, err = leftover.Dir("", "plimsoll-fleet-"); err != nil {
		return fmt.Errorf("make the fleet's folder: %w", err)
	}
	if c.localWorkers {
		err = c.startWorkers()
	}
	if err == nil && c.localHosts {
		err = c.startHosts()
	}
	if err == nil {
		err = c.invite()
	}
	if err != nil {
		return err
	}
	return c.await(ctx)
}

// await waits until all workers have joined, and says from time to time which are missing. A
// command that is interrupted ends without a further word, so this is its last one.
func (c *crew) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hireLimit)
	defer cancel()
	for {
		within, cancel := context.WithTimeout(ctx, remindAfter)
		err := c.coordinator.Await(within)
		waited := within.Err() != nil
		cancel()
		switch {
		case err == nil || !waited:
			return err
		case errors.Is(ctx.Err(), context.Canceled):
			c.say(c.coordinator.Missing())
			return err
		case ctx.Err() != nil:
			return err
		}
		c.say("still waiting: " + c.coordinator.Missing())
	}
}

// read returns the fleet that the flags ask for, also together with an error.
func (f *hostFlags) read() (c *crew, err error) {
	c = &crew{dir: "runs", Options: fleet.Options{Address: f.FleetListen,
		Version: build().Version, Clock: clock.Precise()}}
	if f.FleetIdentity != "" {
		if c.Identity, err = readIdentity(f.FleetIdentity); err != nil {
			return c, fmt.Errorf("--fleet-identity: %w", err)
		}
	}
	if f.Lab == "" {
		c.Hosts, c.localHosts, err = processesOf("--hosts", f.Hosts, fleet.MostHosts)
		return c, err
	}
	if f.Hosts != "" || f.FleetListen != anyPort {
		return c, errors.New("--lab has the hosts, and the address at which they join: " +
			"leave --hosts and --fleet-listen out")
	}
	lab, err := fleet.ReadLab(f.Lab)
	if err != nil {
		return c, fmt.Errorf("--lab: %w", err)
	}
	c.Lab, c.Address = *lab, lab.Listen
	c.Hosts, c.Workers = len(lab.Hosts), len(lab.Workers)
	return c, nil
}

// anyPort is the default address at which workers and hosts join.
const anyPort = "127.0.0.1:0"

// hasHosts reports whether the servers start on hosts.
func (f *hostFlags) hasHosts() bool { return f.Hosts != "" || f.Lab != "" }

// awaiting returns what waits for the hosts of a testbed, in the process that owns it; nil: it has
// none.
func (f *hostFlags) awaiting() func(context.Context, func(string)) (testbed.Hosts, func(), error) {
	if !f.hasHosts() {
		return nil
	}
	return func(ctx context.Context, progress func(string)) (testbed.Hosts, func(), error) {
		c, err := f.read()
		if err != nil {
			return nil, nil, err
		}
		c.Workers, c.Lab.Workers = 0, nil // a testbed has no load
		c.dir = "."                       // the owner is in the folder of runs
		c.say = func(sentence string) {
			for line := range strings.Lines(sentence) {
				progress(strings.TrimSpace(line))
			}
		}
		if err := c.gather(ctx); err != nil {
			c.end()
			return nil, nil, err
		}
		return c.coordinator.Hosts(), c.end, nil
	}
}

// read returns the fleet that the flags ask for, also together with an error.
func (f *fleetFlags) read() (*crew, error) {
	c, err := f.hostFlags.read()
	c.pair = f.Pair
	switch {
	case err != nil:
	case f.Workers != "" && f.WorkersFrom != "":
		err = errors.New("--workers and --workers-from exclude one another: give one")
	case f.Lab != "" && (f.Workers != "" || f.WorkersFrom != ""):
		err = errors.New("--lab has the workers: leave --workers and --workers-from out")
	case f.WorkersFrom != "":
		c.Lab.Workers, err = namesFrom(f.WorkersFrom)
		c.Workers = len(c.Lab.Workers)
	case f.Lab == "":
		c.Workers, c.localWorkers, err = processesOf("--workers", f.Workers, fleet.MostWorkers)
	}
	return c, err
}

// namesFrom reads the names of the workers that a file lists.
func namesFrom(path string) (all []fleet.Machine, err error) {
	raw, err := strict.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--workers-from: %w", err)
	}
	names := strings.Fields(string(raw))
	if len(names) == 0 || len(names) > fleet.MostWorkers {
		return nil, fmt.Errorf("--workers-from: %s has %d names: write 1 to %d, one on a line",
			path, len(names), fleet.MostWorkers)
	}
	for _, name := range names {
		all = append(all, fleet.Machine{Name: name})
	}
	return all, nil
}

// invite says how processes of other machines join, if there are any: with the token of the
// coordinator's identity, or with one that it writes to a file.
func (c *crew) invite() error {
	var commands []string
	if c.Hosts > 0 && !c.localHosts {
		commands = append(commands, "host")
	}
	if c.Workers > 0 && !c.localWorkers {
		commands = append(commands, "worker")
	}
	if len(commands) == 0 {
		return nil
	}
	token := "the identity's join token"
	if c.Identity == nil {
		token = filepath.Join(c.folder.Path, "join-token")
		err := os.WriteFile(token, []byte(c.coordinator.Token().Text()+"\n"), 0o600)
		if err != nil {
			return fmt.Errorf("write the join token: %w", err)
		}
	}
	var joins []string
	for _, command := range commands {
		joins = append(joins,
			c.Lab.JoinCommands(command, c.coordinator.Address(), "join-token")...)
	}
	c.say(fmt.Sprintf("waiting for %ss: copy %s to each machine, and run there\n  %s",
		strings.Join(commands, "s and "), token, strings.Join(joins, "\n  ")))
	return nil
}

// startWorkers starts workers on this machine.
func (c *crew) startWorkers() error {
	for i := range c.Workers {
		if err := c.start("worker", fmt.Sprintf("local-%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

// localHostPort is a port that is free at the addresses of local hosts.
const localHostPort = 20_000

// startHosts starts hosts on this machine, each with a loopback address of its own.
func (c *crew) startHosts() error {
	addresses, err := process.Addresses(c.Hosts, localHostPort)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return fmt.Errorf("find the folder of the hosts' data: %w", err)
	}
	for i, a := range addresses {
		host, port, err := net.SplitHostPort(a[0])
		if err != nil || port != strconv.Itoa(localHostPort) {
			return errors.New("--hosts local: needs a loopback address for each host, and this " +
				"machine has only one: use Linux, or hosts on other machines")
		}
		err = c.start("host", fmt.Sprintf("host-%d", i+1), "--address", host, "--dir", dir)
		if err != nil {
			return err
		}
	}
	return nil
}

// start starts a process on this machine that joins the fleet.
func (c *crew) start(command, name string, more ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	server, err := process.Start(process.Spec{
		Name: command + " " + name, Path: program, Dir: c.folder.Path, Env: os.Environ(),
		Args: append([]string{command, "--join", c.coordinator.Address(), "--name", name,
			"--token-file", "-"}, more...),
		Log:   filepath.Join(c.folder.Path, name+".log"),
		Input: []byte(c.coordinator.Token().Text()),
	})
	if err == nil {
		c.local = append(c.local, server)
	}
	return err
}

// end ends the fleet. Local processes end by themselves; those that do not are stopped.
func (c *crew) end() {
	if c.coordinator != nil {
		_ = c.coordinator.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	for _, server := range c.local {
		select {
		case <-server.Exited():
		case <-ctx.Done():
		}
		if err := server.Stop(ctx, time.Second); err != nil {
			c.say("warning: " + err.Error())
		}
	}
	if c.folder != nil {
		_ = c.folder.Remove()
	}
}
