package clock

import (
	"maps"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// threadID returns the number of the calling thread.
func threadID() int { return unix.Gettid() }

// threadUsed returns how long the calling thread, of that number, has run or waited for a core, in
// nanoseconds: the first two fields of its schedstat (see the kernel's
// Documentation/scheduler/sched-stats.rst). The kernel updates the first one when the thread leaves
// the core, and at its own ticks, so it may be too low by the time since then.
func threadUsed(thread int) (ns int64, known bool) {
	ran, waited, known := readSchedstat(thread)
	return ran + waited, known
}

// threadUsedNow is threadUsed, but exact: it takes CLOCK_THREAD_CPUTIME_ID in place of the first
// field. The call has the kernel look whether another thread should have the core. A pacer that
// makes it each time that it wakes is late by milliseconds on a full machine.
func threadUsedNow(thread int) (ns int64, known bool) {
	_, waited, known := readSchedstat(thread)
	var ran unix.Timespec
	if !known || unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ran) != nil {
		return 0, false
	}
	return ran.Nano() + waited, true
}

func readSchedstat(thread int) (ranNs, waitedNs int64, known bool) {
	fd, known := schedstats.of(thread)
	if !known {
		return 0, 0, false
	}
	var line [96]byte
	n, err := unix.Pread(fd, line[:], 0)
	if err != nil {
		return 0, 0, false
	}
	return twoNumbers(line[:n])
}

// maxSchedstats bounds the open files of schedstats. Go's scheduler ends hardly any thread.
const maxSchedstats = 256

// schedstats are the schedstat files of this process's threads, which stay open.
var schedstats threadFiles

// threadFiles keeps a file for each thread that asked for it. The map is never changed, but
// replaced, so that readers need no lock.
type threadFiles struct {
	files atomic.Pointer[map[int]int] // by thread
	mu    sync.Mutex                  // guards the replacement
}

// of returns the file of the calling thread; known is false if there are too many.
func (t *threadFiles) of(thread int) (fd int, known bool) {
	files := t.files.Load()
	if files != nil {
		if fd, known = (*files)[thread]; known {
			return fd, true
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	next := make(map[int]int)
	if files = t.files.Load(); files != nil {
		if len(*files) >= maxSchedstats {
			return 0, false
		}
		maps.Copy(next, *files)
	}
	fd, err := unix.Open("/proc/thread-self/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	next[thread] = fd
	t.files.Store(&next)
	return fd, true
}

// twoNumbers reads the first two of several decimal numbers that are separated by spaces.
// It does not allocate, because pacers call it while they send.
func twoNumbers(line []byte) (first, second int64, ok bool) {
	var n [2]int64
	field, digits := 0, 0
	for _, c := range line {
		switch {
		case c == ' ' || c == '\n':
			if digits == 0 {
				return 0, 0, false
			}
			if field++; field == len(n) {
				return n[0], n[1], true
			}
			digits = 0
		case c < '0' || c > '9':
			return 0, 0, false
		default:
			n[field] = n[field]*10 + int64(c-'0')
			digits++
		}
	}
	return n[0], n[1], field == 1 && digits > 0
}

// threadTimesKnown reports whether the kernel counts how long threads wait for a core. A
// kernel that does not count writes zeros.
var threadTimesKnown = sync.OnceValue(func() bool {
	raw, err := os.ReadFile("/proc/self/schedstat")
	if err != nil {
		return false
	}
	ran, _, ok := twoNumbers(raw)
	return ok && ran > 0
})
