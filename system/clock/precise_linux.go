package clock

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Precise returns the most precise clock of this machine.
func Precise() Clock { return precise{} }

type precise struct{}

func (precise) Now() int64 { return Now() }

func (precise) Name() string {
	name := "CLOCK_MONOTONIC, absolute timer descriptors"
	if hasShortSlices(0) {
		name += fmt.Sprintf(", threads in slices of %dus", sliceNs/1000)
	}
	return name
}

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

// NewAlarm returns an alarm with a timer descriptor of its own (timerfd_create(2)). If the
// process cannot have another descriptor, the alarm uses Go's timers, and its lateness shows.
func (precise) NewAlarm() Alarm {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newTimerAlarm()
	}
	a := &polledAlarm{file: os.NewFile(uintptr(fd), "timer")}
	if a.raw, err = a.file.SyscallConn(); err != nil {
		_ = a.file.Close()
		return newTimerAlarm()
	}
	a.step, a.ring = a.wait, func(fd uintptr) { expire(fd, 1) }
	return a
}

// polledAlarm waits as Go's connections do: its goroutine gives up its place, and the scheduler's
// poll of descriptors makes it ready at the due time. The timer has no slack.
type polledAlarm struct {
	file *os.File
	raw  syscall.RawConn
	rung atomic.Bool      // Wake has been called, and no wait has ended since
	ring func(fd uintptr) // makes the timer expire at once

	// For the owner.
	step  func(fd uintptr) bool // the method wait
	dueNs int64
	armed bool
}

func (a *polledAlarm) WaitUntil(ns int64) {
	if !a.rung.Load() && Now() < ns {
		a.dueNs, a.armed = ns, false
		_ = a.raw.Read(a.step)
	}
	a.rung.Store(false)
}

// wait arms the timer in the first call. Its second call comes when the timer has expired.
func (a *polledAlarm) wait(fd uintptr) (over bool) {
	if a.armed {
		return true
	}
	a.armed = true
	expire(fd, a.dueNs)
	// If Wake was called before, its own time has just been replaced.
	return a.rung.Load()
}

func (a *polledAlarm) Wake() {
	if !a.rung.Swap(true) {
		_ = a.raw.Control(a.ring) // nothing, if the descriptor is closed
	}
}

// expire makes a timer descriptor expire at a time, in place of the time before.
func expire(fd uintptr, ns int64) {
	at := unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}
	_ = unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &at, nil)
}

func (a *polledAlarm) Close() { _ = a.file.Close() }

// Futex operations and the argument that matches any waker; see futex(2).
const (
	futexWait     = 9 // FUTEX_WAIT_BITSET, whose timeout is absolute
	futexWake     = 1
	futexPrivate  = 128
	futexAnyWaker = 0xffffffff

	sleeperIdle  = 0
	sleeperRung  = 1 // a Wake that no sleep has seen
	sleeperWaits = 2 // in the kernel, or about to be
)

const (
	timerSlackNs    = 1
	sleeperNiceness = -15
	// holdNs bounds the sleeps that hold their place in Go's scheduler. After 10 ms, the
	// scheduler's monitor sends a signal to a thread that holds its place.
	holdNs = 10_000_000
)

// NewSleeper locks the calling goroutine to its OS thread until Close, and raises the thread's
// priority where the user has the right.
func (precise) NewSleeper() Alarm {
	runtime.LockOSThread()
	// With the default slack, waits end up to 50 us late.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlackNs, 0, 0, 0)
	s := &sleeper{nice: niceness(), holds: runtime.GOMAXPROCS(0) > runtime.NumCPU()}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), sleeperNiceness)
	return s
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

// sleeper is a thread that sleeps in the kernel, in a futex. If there is a place in Go's scheduler
// for it beside one for each core, a sleep holds it, so the scheduler's monitor never falls asleep
// for want of work. If it did, the next system call of any goroutine would have to wake it, and it
// would poll every 20 us for a while (docs/design/waiting.md).
type sleeper struct {
	word  atomic.Uint32
	nice  int // the thread's niceness before
	holds bool
}

// WaitUntil also returns when a signal arrives, such as the scheduler's before a garbage
// collection.
func (s *sleeper) WaitUntil(ns int64) {
	if now := Now(); ns > now && s.word.CompareAndSwap(sleeperIdle, sleeperWaits) {
		wait := unix.Syscall6
		if s.holds && ns-now <= holdNs {
			wait = unix.RawSyscall6
		}
		until := unix.NsecToTimespec(ns)
		// The kernel returns at once when the word is no longer "waits".
		_, _, _ = wait(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.word)), futexWait|futexPrivate,
			sleeperWaits, uintptr(unsafe.Pointer(&until)), 0, futexAnyWaker)
	}
	s.word.Store(sleeperIdle)
}

func (s *sleeper) Wake() {
	if s.word.Swap(sleeperRung) == sleeperWaits {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.word)),
			futexWake|futexPrivate, 1, 0, 0, 0)
	}
}

// Close restores the thread's niceness and slack, and unlocks it from its goroutine.
func (s *sleeper) Close() {
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), s.nice)
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
