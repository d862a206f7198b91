package observe

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

const sysMountPoint = "/sys"

// Observer reads what the host and a few processes spend. It has one owner.
type Observer struct {
	host      *host
	processes []*process // those that have not ended
	gone      []*process // servers that have ended and may come back
	servers   []string
	syncs     *syncs   // nil: not counted
	network   *network // nil: not counted
	said      methods
}

// New returns an Observer of the servers and of this process, whose first Read
// counts from now. Servers that live in this process are observed as this
// process. It is an error when a server does not run.
func New(servers []target.Process) (*Observer, error) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("observe the machine: %w", err)
	}
	block, err := blockdevice.NewFS(procfs.DefaultMountPoint, sysMountPoint)
	if err != nil {
		return nil, fmt.Errorf("observe the machine: %w", err)
	}
	o := &Observer{host: &host{proc: proc, block: block}}
	o.say("CPU time, memory and disk bytes of the processes are what the kernel accounts to them (/proc/PID/stat, /proc/PID/io); CPU time comes in steps of 10 ms.")
	for _, s := range servers {
		if s.PID == os.Getpid() {
			s.Name = result.Self
			o.say("The servers live inside plimsoll: what they spend and what the load spends cannot be told apart.")
		}
		if !slices.Contains(o.servers, s.Name) {
			o.servers = append(o.servers, s.Name)
		}
		if s.PID == os.Getpid() {
			continue
		}
		if err := o.watch(proc, s); err != nil {
			return nil, err
		}
	}
	if err := o.watch(proc, target.Process{Name: result.Self, PID: os.Getpid()}); err != nil {
		return nil, err
	}
	// What can be left open is opened last.
	o.network = newNetwork(o.processes, &o.said)
	o.syncs = newSyncs(o.processes, &o.said)
	// All begin to count together.
	if _, ended, _ := o.Read(); len(ended) > 0 {
		return nil, errors.Join(fmt.Errorf("observe %s: process %d ended", ended[0].Name, ended[0].PID), o.Close())
	}
	return o, nil
}

func (o *Observer) say(sentence string) { o.said.say("%s", sentence) }

// watch adds a process.
func (o *Observer) watch(proc procfs.FS, p target.Process) error {
	if err := exists(p.PID); err != nil {
		return fmt.Errorf("observe %s: %w", p.Name, err)
	}
	at, err := proc.Proc(p.PID)
	if err != nil {
		return fmt.Errorf("observe %s: %w", p.Name, err)
	}
	w := &process{Process: p, proc: at, command: commandLine(at)}
	if _, alive := w.read(&o.said); !alive {
		return fmt.Errorf("observe %s: process %d ended", p.Name, p.PID)
	}
	o.processes = append(o.processes, w)
	return nil
}

// Read returns what was spent since the last Read, the servers that have ended
// since, and those that came back. The caller knows which interval and phase it
// was.
func (o *Observer) Read() (r result.Resources, ended, back []target.Process) {
	back = o.welcome()
	r.Host, r.Disks = o.host.read(clock.Now(), &o.said)
	o.syncs.read(&o.said)
	r.Host.LoopbackBytes = o.network.read(&o.said)
	var living []*process
	for _, p := range o.processes {
		use, alive := p.read(&o.said)
		if !alive {
			ended = append(ended, p.Process)
			// Its number may become another's.
			p.hidden = true
			o.syncs.forget(p)
			o.gone = append(o.gone, p)
			continue
		}
		living = append(living, p)
		if o.syncs != nil {
			use.Syncs, use.MapSyncs = p.syncs.take(), p.mapSyncs.take()
		}
		if o.network != nil && !p.hidden {
			use.NetReceivedBytes, use.NetSentBytes = p.received.take(), p.sent.take()
		}
		r.Processes = append(r.Processes, use)
	}
	o.processes = living
	return r, ended, back
}

// welcome observes the servers that ended and were started again, under other
// process numbers: each is the one younger process with the same command line. All that it spent since its start counts.
func (o *Observer) welcome() (back []target.Process) {
	if len(o.gone) == 0 {
		return nil
	}
	all, err := o.host.proc.AllProcs()
	if err != nil {
		return nil // the next time, maybe
	}
	all = slices.DeleteFunc(all, func(p procfs.Proc) bool {
		return slices.ContainsFunc(o.processes, func(known *process) bool { return known.PID == p.PID })
	})
	var away []*process
	for _, old := range o.gone {
		found := old.successor(all)
		if found == nil {
			away = append(away, old)
			continue
		}
		o.processes = append(o.processes, found)
		o.syncs.add(found)
		o.network.add(found)
		back = append(back, found.Process)
	}
	o.gone = away
	return back
}

// Servers says which of the observed processes are the servers.
func (o *Observer) Servers() []string { return o.servers }

// Methods says in sentences how figures were found and why some are missing.
func (o *Observer) Methods() []string { return slices.Clone(o.said) }

// Close ends the observation.
func (o *Observer) Close() error { return errors.Join(o.syncs.close(), o.network.close()) }

// exists says in a sentence that a process does not run.
func exists(pid int) error {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	if _, err := proc.Proc(pid); err != nil {
		return fmt.Errorf("no process %d runs on this machine", pid)
	}
	return nil
}

// tally is a count since the last look.
type tally int64

func (t *tally) take() *int64 {
	n := int64(*t)
	*t = 0
	return &n
}

// since is how much a counter grew. One that was set back, as counters are
// when what they count of was replaced, grew by nothing that is known.
func since[N int | int64 | uint | uint64 | float64](now, before N) N {
	if now < before {
		return 0
	}
	return now - before
}
