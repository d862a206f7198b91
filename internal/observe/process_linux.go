package observe

import (
	"math"
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

	// The counts since the last reading, which syncs and network add to.
	syncs, mapSyncs, received, sent tally
	hidden                          bool // its connections are unknown
}

// read returns the process' use since the last reading, and whether the process runs.
func (p *process) read(notes *methods) (result.ProcessUse, bool) {
	stat, err := p.proc.Stat()
	if err != nil || over(stat) || p.started != 0 && stat.Starttime != p.started {
		return result.ProcessUse{}, false
	}
	p.started, p.alive = stat.Starttime, ticks()
	use := result.ProcessUse{
		Name: p.Name, PID: p.PID, CPUSeconds: hundredths(since(stat.CPUTime(), p.cpu)),
		RSSBytes: int64(stat.ResidentMemory()),
	}
	p.cpu = stat.CPUTime()
	io, err := p.proc.IO()
	if err != nil {
		notes.add("The disk reads and writes of %s are not known, because /proc/%d/io cannot be "+
			"read: run as root or as its user.", p.Name, p.PID)
		return use, true
	}
	if p.io != nil {
		read := int64(since(io.ReadBytes, p.io.ReadBytes))
		written := int64(since(io.WriteBytes, p.io.WriteBytes))
		use.ReadBytes, use.WriteBytes = &read, &written
	}
	p.io = &io
	return use, true
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
			io: &procfs.ProcIO{},
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
