package observe

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	family "github.com/plimsoll-bench/plimsoll/system/process"
	"github.com/plimsoll-bench/plimsoll/target"
)

const sysMountPoint = "/sys"

// Observer reads the resources that the host and some processes use. It must be used by one
// goroutine.
type Observer struct {
	host      *host
	processes []*process // those that run
	gone      []*process // servers that have ended and may be restarted
	sought    bool       // they were looked for since the last of them ended
	servers   []string
	syncs     *syncs   // nil: not counted
	network   *network // nil: not counted
	notes     methods
}

// New returns an Observer of the servers and of this process. Its first Read counts from now.
// In-process servers are observed as this process. It is an error when a server does not run.
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
	o.note("CPU time, memory and disk bytes of the processes are the kernel's own accounts " +
		"(/proc/PID/stat, /proc/PID/io), with those of all processes that descend from them; CPU " +
		"time has steps of 10 ms, and a written byte counts with the whole folio of the page " +
		"cache that has it. The CPU time of a virtual machine's compilers is that of the " +
		"threads with their names.")
	for _, s := range servers {
		if s.PID == os.Getpid() {
			s.Name = result.Self
			o.note("The servers run inside plimsoll: their use cannot be separated from the " +
				"load's.")
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
	// The optional counters come last, so that no earlier error leaves them open.
	o.network = newNetwork(o.processes, &o.notes)
	o.syncs = newSyncs(o.processes, &o.notes)
	// This reading is the common start of all counts.
	if _, ended, _ := o.Read(); len(ended) > 0 {
		err := fmt.Errorf("observe %s: process %d ended", ended[0].Name, ended[0].PID)
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Observer) note(sentence string) { o.notes.add("%s", sentence) }

// watch adds a process that runs.
func (o *Observer) watch(proc procfs.FS, p target.Process) error {
	if err := exists(p.PID); err != nil {
		return fmt.Errorf("observe %s: %w", p.Name, err)
	}
	at, err := proc.Proc(p.PID)
	if err != nil {
		return fmt.Errorf("observe %s: %w", p.Name, err)
	}
	w := &process{Process: p, proc: at, command: commandLine(at), logged: -1}
	if _, alive := w.read(&o.notes); !alive {
		return fmt.Errorf("observe %s: process %d ended", p.Name, p.PID)
	}
	o.processes = append(o.processes, w)
	return nil
}

// Follow adds a server that joined the others. Its use counts from now.
func (o *Observer) Follow(p target.Process) error {
	if err := o.watch(o.host.proc, p); err != nil {
		return err
	}
	added := o.processes[len(o.processes)-1]
	o.syncs.add(added)
	o.network.add(added, &o.notes)
	o.findDescendants()
	o.servers = append(o.servers, p.Name)
	return nil
}

// ServersHave names the CPUs that servers have of their own, whose use is known from the second
// Read after it.
func (o *Observer) ServersHave(cpus []int) { o.host.own = cpus }

// Read returns the use since the last Read, the servers that have ended since, and the
// servers that were restarted. The caller knows the interval and the phase.
func (o *Observer) Read() (r result.Resources, ended, back []target.Process) {
	var aside clock.Aside
	aside.Step()
	r.Host, r.Disks = o.host.read(clock.Now(), &o.notes)
	aside.Step()
	back = o.welcome()
	mayBeNew := o.host.forked || len(back) > 0
	if mayBeNew {
		o.findDescendants()
	}
	o.syncs.read(&o.notes)
	if mayBeNew {
		o.syncs.forgetDescendants()
		o.countDescendants()
	}
	aside.Step()
	r.Host.LoopbackBytes = o.network.read(&o.notes)
	var living []*process
	for _, p := range o.processes {
		aside.Step()
		use, alive := p.read(&o.notes)
		if !alive {
			ended = append(ended, p.Process)
			// Another process may get its number.
			p.hidden = true
			o.syncs.forget(p)
			o.gone, o.sought = append(o.gone, p), false
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

// findDescendants looks up which processes descend from the servers. Those of this process
// are the servers, and what it starts for a moment. It goes through all processes of the machine,
// so it is called only when there may be new ones.
func (o *Observer) findDescendants() {
	of := make(map[int]*process, len(o.processes))
	var pids []int
	for _, p := range o.processes {
		if p.Name != result.Self {
			of[p.PID], p.descendants = p, p.descendants[:0]
			pids = append(pids, p.PID)
		}
	}
	for pid, ancestor := range family.Descendants(pids...) {
		if pid == ancestor {
			continue
		}
		if d, err := o.host.proc.Proc(pid); err == nil {
			of[ancestor].descendants = append(of[ancestor].descendants, d)
		}
	}
	o.countDescendants() // beside those that have ended since the last reading
}

func (o *Observer) countDescendants() {
	for _, p := range o.processes {
		for _, d := range p.descendants {
			o.syncs.addDescendant(d.PID, p)
		}
	}
}

// welcome observes restarted servers again. The successor of an ended server is the only
// younger process with the same command line. Its use counts from its start.
func (o *Observer) welcome() (back []target.Process) {
	if len(o.gone) == 0 || o.sought && !o.host.forked {
		return nil
	}
	o.sought = true
	all, err := o.host.proc.AllProcs()
	if err != nil {
		return nil // the next reading tries again
	}
	all = slices.DeleteFunc(all, func(p procfs.Proc) bool {
		return slices.ContainsFunc(o.processes, func(known *process) bool {
			return known.PID == p.PID
		})
	})
	var missing []*process
	for _, old := range o.gone {
		found := old.successor(all)
		if found == nil {
			missing = append(missing, old)
			continue
		}
		o.processes = append(o.processes, found)
		o.syncs.add(found)
		o.network.add(found, &o.notes)
		back = append(back, found.Process)
	}
	o.gone = missing
	return back
}

// Servers returns the names of the servers among the observed processes.
func (o *Observer) Servers() []string { return o.servers }

// Methods returns sentences that say how figures were measured and why some are missing.
func (o *Observer) Methods() []string { return slices.Clone(o.notes) }

// Close stops the counters.
func (o *Observer) Close() error { return errors.Join(o.syncs.close(), o.network.close()) }

// exists returns an error when a process does not run.
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

// tally is a count since the last reading.
type tally int64

// take returns the count and resets it.
func (t *tally) take() *int64 {
	n := int64(*t)
	*t = 0
	return &n
}

// since returns the growth of a counter. It returns 0 for a counter that went back, because
// its object was replaced and its growth is unknown.
func since[N int | int64 | uint | uint64 | float64](now, before N) N {
	if now < before {
		return 0
	}
	return now - before
}
