package observe

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// process is an observed process.
type process struct {
	target.Process
	proc    procfs.Proc
	command string // the command line; empty: unknown
	// started is the start time in ticks since the machine's start. It tells the process
	// from a later one with the same number.
	started uint64
	alive   uint64         // the last reading at which it ran, in such ticks
	cpu     float64        // seconds at the last reading
	io      *procfs.ProcIO // at the last reading
	// descendants are the processes that descend from it, as last looked up. The use of ended ones
	// is in its own account, as long as it has waited for them.
	descendants []procfs.Proc
	compilers   compilers
	logged      int64 // the size of the file of its standard output at the last reading; -1: none

	// The counts since the last reading, which syncs and network add to.
	syncs, mapSyncs, received, sent tally
	hidden                          bool // its connections are unknown
}

// read returns the use of the process and its descendants since the last reading, and whether
// the process runs.
func (p *process) read(notes *methods) (result.ProcessUse, bool) {
	stat, err := p.proc.Stat()
	if err != nil || over(stat) || p.started != 0 && stat.Starttime != p.started {
		return result.ProcessUse{}, false
	}
	p.started, p.alive = stat.Starttime, ticks()
	io, ioErr := p.proc.IO()
	cpu := cpuWithChildren(stat)
	own, shared := int64(stat.ResidentMemory()), int64(0)
	if len(p.descendants) > 0 { // otherwise the reading can be saved
		own, shared = memoryOf(p.proc)
	}
	for _, d := range p.descendants {
		more, err := d.Stat()
		if err != nil {
			continue // it has ended, and is its parent's
		}
		cpu += cpuWithChildren(more)
		its, most := memoryOf(d)
		own, shared = own+its, max(shared, most)
		if of, err := d.IO(); err == nil {
			io.ReadBytes += of.ReadBytes
			io.WriteBytes += of.WriteBytes
		}
	}
	use := result.ProcessUse{Name: p.Name, PID: p.PID, CPUSeconds: hundredths(since(cpu, p.cpu)),
		RSSBytes: own + shared}
	p.cpu = max(cpu, p.cpu) // less: a descendant ended while they were read
	if p.Name != result.Self {
		use.LogBytes = p.readLog()
		use.CompileNs = p.compilers.read(append([]procfs.Proc{p.proc}, p.descendants...)...)
	}
	if ioErr != nil {
		notes.add("The disk reads and writes of %s are not known, because /proc/%d/io cannot be "+
			"read: run as root or as its user.", p.Name, p.PID)
		return use, true
	}
	if p.io != nil {
		read := int64(since(io.ReadBytes, p.io.ReadBytes))
		written := int64(since(io.WriteBytes, p.io.WriteBytes))
		use.ReadBytes, use.WriteBytes = &read, &written
		io.ReadBytes = max(io.ReadBytes, p.io.ReadBytes)
		io.WriteBytes = max(io.WriteBytes, p.io.WriteBytes)
	}
	p.io = &io
	return use, true
}

// readLog returns the bytes by which the file of the process's standard output has grown since the
// last reading. Nil: there was none, or the output goes to no file that can be seen. A file that
// was cut counts as one that has not grown.
func (p *process) readLog() *int64 {
	before := p.logged
	info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/1", p.PID))
	if err != nil || !info.Mode().IsRegular() {
		p.logged = -1
		return nil
	}
	p.logged = info.Size()
	if before < 0 {
		return nil
	}
	grown := max(0, p.logged-before)
	return &grown
}

// cpuWithChildren is the CPU time in seconds of a process and of the children that it has
// waited for.
func cpuWithChildren(stat procfs.ProcStat) float64 {
	return float64(int(stat.UTime+stat.STime)+stat.CUTime+stat.CSTime) / ticksPerSecond
}

// ticksPerSecond is the kernel's unit of times in /proc.
const ticksPerSecond = 100

// memoryOf returns a process's own resident memory, and what it may share with others (files and
// shared memory), in bytes. A family shares about as much as its member with the most. A forked
// process counts unchanged memory as its own.
func memoryOf(p procfs.Proc) (own, shared int64) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/statm")
	if err != nil {
		return 0, 0
	}
	var total, resident, sharing int64
	if _, err := fmt.Sscan(string(raw), &total, &resident, &sharing); err != nil {
		return 0, 0
	}
	page := int64(os.Getpagesize())
	return (resident - sharing) * page, sharing * page
}

// commandLine returns a process' command line, or "" when it cannot be read.
func commandLine(p procfs.Proc) string {
	words, err := p.CmdLine()
	if err != nil {
		return ""
	}
	return strings.Join(words, "\x00")
}

// ticks returns the time since the machine's start in hundredths of a second, the unit of
// the kernel's start times.
func ticks() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano() / 10_000_000)
}

// successor returns the only process with the same command line that started after p was last
// seen. It returns nil when there is none or more than one.
func (p *process) successor(all procfs.Procs) *process {
	if p.command == "" {
		return nil
	}
	var found *process
	for _, candidate := range all {
		if commandLine(candidate) != p.command {
			continue
		}
		stat, err := candidate.Stat()
		if err != nil || over(stat) || stat.Starttime < p.alive {
			continue
		}
		if found != nil {
			return nil
		}
		found = &process{
			Process: target.Process{Name: p.Name, PID: candidate.PID}, proc: candidate,
			command: p.command, started: stat.Starttime, alive: stat.Starttime,
			io: &procfs.ProcIO{}, logged: p.logged,
		}
	}
	return found
}

// over reports whether a process has ended, also when its parent has not collected it. A
// process whose main thread alone has ended still runs.
func over(stat procfs.ProcStat) bool {
	switch stat.State {
	case "Z":
		return stat.NumThreads <= 1
	case "X", "x":
		return true
	}
	return false
}

// hundredths rounds to ticks of 10 ms, to remove the residue of floating point.
func hundredths(seconds float64) float64 { return math.Round(seconds*100) / 100 }
