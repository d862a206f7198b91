package clock

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Precise returns the most precise clock of this machine.
func Precise() Clock { return precise{} }

type precise struct{}

func (precise) Now() int64   { return Now() }
func (precise) Name() string { return "CLOCK_MONOTONIC, absolute futex waits" }

func (precise) ThreadStates() string {
	if threadTimesKnown() {
		return "schedstat"
	}
	return ""
}

// Slept is the difference of CLOCK_BOOTTIME and CLOCK_MONOTONIC, which only the former counts
// (clock_gettime(2)).
func (precise) Slept() (ns int64, known bool) {
	var boot unix.Timespec
	before := monotonic()
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot); err != nil || before == 0 {
		return 0, false
	}
	return max(0, boot.Nano()-monotonic()/2-before/2), true
}

// Futex operations and the argument that matches any waker; see futex(2).
const (
	futexWait       = 9 // FUTEX_WAIT_BITSET, whose timeout is absolute
	futexWake       = 1
	futexPrivate    = 128
	futexAnyWaker   = 0xffffffff
	timerSlackNs    = 1
	alarmNiceness   = -15
	futexAlarmIdle  = 0
	futexAlarmRung  = 1
	futexAlarmWaits = 2
)

// NewAlarm locks the calling goroutine to its OS thread and lets the kernel
// end that thread's waits without delay.
func (precise) NewAlarm() Alarm {
	runtime.LockOSThread()
	// With the default slack, waits end up to 50 us late, which schedule lag shows.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlackNs, 0, 0, 0)
	// A thread that must be on time takes priority over the threads that share its
	// cores, where the user has the right to raise it.
	a := &futexAlarm{nice: niceness(), places: placesToHold()}
	a.thread.open()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), alarmNiceness)
	return a
}

// shortWaitNs bounds the waits that keep their place in Go's scheduler. Giving the place
// away wakes the scheduler's monitor, which then polls every 20 us: that costs more CPU
// than the waits themselves. A signal of the scheduler, such as before a garbage
// collection, ends the wait. A goroutine that becomes ready on a held place moves to another
// place, after a pause of the scheduler (docs/design/pacing-threads.md).
const shortWaitNs = 2_000_000

// holding is the number of waits that hold their place now.
var holding atomic.Int32

// placesToHold returns how many of the scheduler's places waits may hold: all but one for each
// core.
func placesToHold() int32 {
	return int32(max(0, runtime.GOMAXPROCS(0)-runtime.NumCPU()))
}

// niceness returns the niceness of the calling thread.
func niceness() int {
	// The system call returns 20 less the niceness, so that it is never negative.
	value, err := unix.Getpriority(unix.PRIO_PROCESS, unix.Gettid())
	if err != nil {
		return 0
	}
	return 20 - value
}

// futexAlarm has a word with three states: idle, rung (a Wake that no wait has seen) and
// waits (the owner is in the kernel, or about to be).
type futexAlarm struct {
	word   atomic.Uint32
	nice   int   // the thread's niceness before the alarm
	places int32 // scheduler places that waits may hold
	thread threadTimes
}

func (a *futexAlarm) Asleep() (ns int64, known bool) { return a.thread.asleep() }

func (a *futexAlarm) WaitUntil(ns int64) {
	if !a.word.CompareAndSwap(futexAlarmIdle, futexAlarmWaits) {
		a.word.Store(futexAlarmIdle)
		return
	}
	if now := Now(); ns > now {
		wait := unix.Syscall6
		if ns-now <= shortWaitNs {
			if holding.Add(1) <= a.places {
				wait = unix.RawSyscall6
			}
			defer holding.Add(-1)
		}
		deadline := unix.NsecToTimespec(max(ns, 0))
		// The kernel returns at once when the word is no longer "waits". A signal
		// may end the wait early, which WaitUntil allows.
		_, _, _ = wait(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&a.word)), futexWait|futexPrivate,
			futexAlarmWaits, uintptr(unsafe.Pointer(&deadline)), 0, futexAnyWaker)
	}
	a.word.Store(futexAlarmIdle)
}

func (a *futexAlarm) Wake() {
	if a.word.Load() == futexAlarmRung {
		return
	}
	if a.word.Swap(futexAlarmRung) == futexAlarmWaits {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&a.word)),
			futexWake|futexPrivate, 1, 0, 0, 0)
	}
}

// Close restores the thread's niceness and slack, and unlocks it from its goroutine.
func (a *futexAlarm) Close() {
	a.thread.close()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), a.nice)
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0)
	runtime.UnlockOSThread()
}

func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
