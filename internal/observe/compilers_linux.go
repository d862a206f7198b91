package observe

import (
	"slices"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// compilerThreads begin the names of the threads that compile hot code, as HotSpot, GraalVM, OpenJ9
// and .NET name them. The kernel keeps 15 bytes of a name.
var compilerThreads = []string{
	"C1 Compiler", "C2 Compiler", "JVMCI", "JIT Compilation", ".NET Tiered",
}

// compilers reads the CPU time of the threads of a process that compile its code while it runs.
type compilers struct {
	is   map[int]bool    // by thread: whether it compiles
	used map[int]float64 // seconds at the last reading, of those that do
}

// read returns the CPU time in ns since the last reading; nil for a process without such threads.
// The last moments of threads that have ended are missing.
func (c *compilers) read(processes ...procfs.Proc) *int64 {
	if c.is == nil {
		c.is, c.used = map[int]bool{}, map[int]float64{}
	}
	var ns *int64
	seen := map[int]bool{}
	for _, p := range processes {
		threads, err := procfs.AllThreads(p.PID)
		if err != nil {
			continue // it has ended
		}
		own, _ := p.Comm()
		for _, t := range threads {
			seen[t.PID] = true
			if !c.compiles(t, own) {
				continue
			}
			stat, err := t.Stat()
			if err != nil {
				continue
			}
			if ns == nil {
				ns = new(int64)
			}
			*ns += int64(since(stat.CPUTime(), c.used[t.PID]) * 1e9)
			c.used[t.PID] = stat.CPUTime()
		}
	}
	for thread := range c.is {
		if !seen[thread] {
			delete(c.is, thread)
			delete(c.used, thread)
		}
	}
	return ns
}

// compiles reports whether a thread compiles. While a thread has the name of its process, that is
// not decided: a thread gets its own name after its start.
func (c *compilers) compiles(t procfs.Proc, own string) bool {
	is, known := c.is[t.PID]
	if known {
		return is
	}
	name, err := t.Comm()
	if err != nil || name == own {
		return false
	}
	is = slices.ContainsFunc(compilerThreads,
		func(begin string) bool { return strings.HasPrefix(name, begin) })
	c.is[t.PID] = is
	return is
}

// compilersNice is the nice value of compilers that run before all else.
const compilersNice = -15

// CompilersFirst lets the threads of processes that compile hot code run before all others, until
// the returned function is called. It does nothing without the right to do so.
func CompilersFirst(processes ...int) (undo func()) {
	changed := map[int]int{} // by thread: its nice value before
	for _, pid := range processes {
		p, err := procfs.NewProc(pid)
		if err != nil {
			continue
		}
		threads, err := procfs.AllThreads(pid)
		if err != nil {
			continue
		}
		own, _ := p.Comm()
		c := compilers{is: map[int]bool{}}
		for _, t := range threads {
			stat, err := t.Stat()
			if err == nil && c.compiles(t, own) &&
				unix.Setpriority(unix.PRIO_PROCESS, t.PID, compilersNice) == nil {
				changed[t.PID] = stat.Nice
			}
		}
	}
	return func() {
		for thread, nice := range changed {
			_ = unix.Setpriority(unix.PRIO_PROCESS, thread, nice) // it may have ended
		}
	}
}
