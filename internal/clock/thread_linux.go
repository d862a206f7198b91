package clock

import (
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// threadTimes measures how long one thread has slept: the elapsed time, less the thread's
// time on a core (CLOCK_THREAD_CPUTIME_ID), less its wait for a core (the second field of
// its schedstat; see the kernel's Documentation/scheduler/sched-stats.rst). The first field
// of schedstat cannot give the time on a core: the kernel updates it only when the thread
// leaves the core.
type threadTimes struct {
	file    *os.File // nil: the kernel does not count these times
	beganNs int64
	usedNs  int64 // on a core or waiting for a core, at the call of open
}

// open starts the measurement of the calling thread, which must be locked to its goroutine.
func (t *threadTimes) open() {
	if !threadTimesKnown() {
		return
	}
	file, err := os.Open("/proc/thread-self/schedstat")
	if err != nil {
		return
	}
	t.file, t.beganNs = file, Now()
	t.usedNs, _ = t.used()
}

func (t *threadTimes) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
	t.file = nil
}

func (t *threadTimes) asleep() (ns int64, known bool) {
	if t.file == nil {
		return 0, false
	}
	used, ok := t.used()
	if !ok {
		return 0, false
	}
	return max(0, Now()-t.beganNs-(used-t.usedNs)), true
}

// used returns how long the thread has run or waited for a core, in nanoseconds.
func (t *threadTimes) used() (ns int64, ok bool) {
	var line [96]byte
	n, err := unix.Pread(int(t.file.Fd()), line[:], 0)
	if err != nil {
		return 0, false
	}
	waited, ok := secondNumber(line[:n])
	var ran unix.Timespec
	if !ok || unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ran) != nil {
		return 0, false
	}
	return ran.Nano() + waited, true
}

// secondNumber reads the second of several decimal numbers that are separated by spaces.
// It does not allocate, because pacers call it while they send.
func secondNumber(line []byte) (n int64, ok bool) {
	field := 0
	for _, c := range line {
		switch {
		case c == ' ' || c == '\n':
			if field++; field == 2 {
				return n, ok
			}
		case c < '0' || c > '9':
			return 0, false
		case field == 1:
			n, ok = n*10+int64(c-'0'), true
		}
	}
	return n, ok && field == 1
}

// threadTimesKnown reports whether the kernel counts how long threads wait for a core. A
// kernel that does not count writes zeros.
var threadTimesKnown = sync.OnceValue(func() bool {
	raw, err := os.ReadFile("/proc/self/schedstat")
	if err != nil {
		return false
	}
	_, ok := secondNumber(raw)
	ran, _, _ := strings.Cut(string(raw), " ")
	return ok && ran != "0"
})
