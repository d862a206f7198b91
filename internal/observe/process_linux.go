package observe

import (
	"math"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// process is one that is observed.
type process struct {
	target.Process
	proc    procfs.Proc
	command string  // its command line; empty: it cannot be told
	started uint64  // when, in ticks since the machine's: another process may get its number
	alive   uint64  // the last time it was seen to run, in such ticks
	cpu     float64 // at the last reading, as are these:
	io      *procfs.ProcIO

	// Since the last reading; syncs and network add to them.
	syncs, mapSyncs, received, sent tally
	hidden                          bool // its connections cannot be told
}

// read returns what the process spent since the last reading, and whether it
// still runs.
func (p *process) read(said *methods) (result.ProcessUse, bool) {
	stat, err := p.proc.Stat()
	if err != nil || over(stat) || p.started != 0 && stat.Starttime != p.started {
		return result.ProcessUse{}, false
	}
	p.started, p.alive = stat.Starttime, ticks()
	use := result.ProcessUse{
		Name: p.Name, PID: p.PID,
		CPUSeconds: hundredths(since(stat.CPUTime(), p.cpu)), RSSBytes: int64(stat.ResidentMemory()),
	}
	p.cpu = stat.CPUTime()
	io, err := p.proc.IO()
	if err != nil {
		said.say("What %s read from and wrote to disks is not known, because /proc/%d/io cannot be read: run as root or as its user.", p.Name, p.PID)
		return use, true
	}
	if p.io != nil {
		read, written := int64(since(io.ReadBytes, p.io.ReadBytes)), int64(since(io.WriteBytes, p.io.WriteBytes))
		use.ReadBytes, use.WriteBytes = &read, &written
	}
	p.io = &io
	return use, true
}

// commandLine is what a process was started with; empty when it cannot be
// told.
func commandLine(p procfs.Proc) string {
	words, err := p.CmdLine()
	if err != nil {
		return ""
	}
	return strings.Join(words, "\x00")
}

// ticks is now, as the kernel tells when a process started: in hundredths of a
// second since the machine did.
func ticks() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano() / 10_000_000)
}

// successor is the one process among all that was started as p was and after p
// was last seen; nil: there is none, or it is not clear which.
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
			Process: target.Process{Name: p.Name, PID: candidate.PID}, proc: candidate, command: p.command,
			started: stat.Starttime, alive: stat.Starttime, io: &procfs.ProcIO{},
		}
	}
	return found
}

// over reports whether a process has ended and only waits to be looked at. One
// whose first thread alone has ended still runs.
func over(stat procfs.ProcStat) bool {
	switch stat.State {
	case "Z":
		return stat.NumThreads <= 1
	case "X", "x":
		return true
	}
	return false
}

// hundredths takes away what floating point adds to ticks of 10 ms.
func hundredths(seconds float64) float64 { return math.Round(seconds*100) / 100 }
