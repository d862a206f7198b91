package observe

import (
	"math"

	"github.com/prometheus/procfs"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/target"
)

// process is one that is observed.
type process struct {
	target.Process
	proc    procfs.Proc
	started uint64  // when, in ticks since the machine's: another process may get its number
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
	p.started = stat.Starttime
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
