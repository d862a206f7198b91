package clock

import "time"

// Clock tells the time and makes alarms. Implementations are safe for use by
// many goroutines.
type Clock interface {
	// Now is the current time in nanoseconds of the monotonic clock.
	Now() int64
	// NewAlarm returns an alarm owned by the calling goroutine, which must
	// Close it.
	NewAlarm() Alarm
	// Name says how waits are timed, for the environment of a result.
	Name() string
	// ThreadStates names the source of Alarm.Asleep; empty: there is none.
	ThreadStates() string
}

// Alarm is a wait for a time, or for a call. Only its owner may wait on it.
type Alarm interface {
	// WaitUntil returns when Now has reached ns or Wake has been called since
	// the last WaitUntil, whichever is first. It may also return early.
	WaitUntil(ns int64)
	// Wake ends the present wait, or the next one. Any goroutine may call it,
	// also after Close. It is cheap when nobody waits.
	Wake()
	// Asleep is for how long the owner's thread has neither run nor waited for a
	// core since the alarm was made, in nanoseconds: it slept. Only the owner may
	// call it. known is false where the machine does not tell this per thread.
	Asleep() (ns int64, known bool)
	// Close gives back what the alarm holds of its owner.
	Close()
}

// Never is a time that is not reached.
const Never = int64(1)<<62 - 1

// base ties Go's monotonic readings to the machine's clock, so that all
// processes of one machine share it.
var base, baseNs = readBase()

func readBase() (time.Time, int64) {
	return time.Now(), monotonic()
}

// Now is the current time in nanoseconds of the machine's monotonic clock.
func Now() int64 { return baseNs + int64(time.Since(base)) }

// Timers returns the clock whose waits use Go's timers. It is the clock of
// tests in a synctest bubble, and of systems without a better one.
func Timers() Clock { return timers{} }

// VirtualName is the name of the clock whose time is a test's.
const VirtualName = "virtual time"

// Virtual returns the clock of Timers for a synctest bubble. Its name says that nothing
// which the machine spends in its time means anything.
func Virtual() Clock { return virtual{} }

type virtual struct{ timers }

func (virtual) Name() string { return VirtualName }

type timers struct{}

func (timers) Now() int64           { return Now() }
func (timers) Name() string         { return "Go timers" }
func (timers) ThreadStates() string { return "" }
func (timers) NewAlarm() Alarm      { return &timerAlarm{wake: make(chan struct{}, 1)} }

type timerAlarm struct {
	wake  chan struct{}
	timer *time.Timer
}

func (a *timerAlarm) WaitUntil(ns int64) {
	wait := time.Duration(ns - Now())
	if wait <= 0 {
		select {
		case <-a.wake:
		default:
		}
		return
	}
	if a.timer == nil {
		a.timer = time.NewTimer(wait)
	} else {
		a.timer.Reset(wait)
	}
	select {
	case <-a.timer.C:
	case <-a.wake:
		a.timer.Stop()
	}
}

func (a *timerAlarm) Asleep() (ns int64, known bool) { return 0, false }

func (a *timerAlarm) Wake() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *timerAlarm) Close() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
