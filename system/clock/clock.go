package clock

import "time"

// Clock tells the time and makes alarms. Implementations are safe for concurrent use.
type Clock interface {
	// Now returns the current time in nanoseconds of the monotonic clock.
	Now() int64
	// NewAlarm returns an alarm. Its owner must Close it.
	NewAlarm() Alarm
	// NewSleeper returns an alarm for a goroutine that does nothing but sleep and look at the
	// time. The calling goroutine owns it and must Close it.
	NewSleeper() Alarm
	// Name describes how waits are timed. It goes into the environment of a result.
	Name() string
	// ThreadStates names the source of Stint.Asleep. It is empty without a source.
	ThreadStates() string
	// Slept returns how long the machine has slept since it started, in nanoseconds. Now
	// does not count this time. known is false where the machine does not tell.
	Slept() (ns int64, known bool)
}

// Alarm waits for a time or for a call of Wake. Only its owner may wait on it.
type Alarm interface {
	// WaitUntil returns when Now has reached ns, or when Wake has been called since
	// the last WaitUntil, whichever comes first. It may also return early.
	WaitUntil(ns int64)
	// Wake ends the current wait, or else the next wait. Any goroutine may call it,
	// also after Close. It is cheap when nothing waits.
	Wake()
	// Close releases what the alarm holds.
	Close()
}

// Never is a time that the clock never reaches.
const Never = int64(1)<<62 - 1

// base ties Go's monotonic readings to the machine's clock, so that all processes of one
// machine share one time.
var base, baseNs = readBase()

func readBase() (time.Time, int64) {
	return time.Now(), monotonic()
}

// Now returns the current time in nanoseconds of the machine's monotonic clock.
func Now() int64 { return baseNs + int64(time.Since(base)) }

// Timers returns the clock whose waits use Go's timers. It serves tests in a synctest
// bubble, and operating systems without a better clock.
func Timers() Clock { return timers{} }

// VirtualName is the name of the clock of a synctest bubble.
const VirtualName = "virtual time"

// Virtual returns the clock of Timers for a synctest bubble. Its name tells readers that
// the machine's CPU times mean nothing on this clock.
func Virtual() Clock { return virtual{} }

type virtual struct{ timers }

func (virtual) Name() string { return VirtualName }

type timers struct{}

func (timers) Now() int64           { return Now() }
func (timers) Name() string         { return "Go timers" }
func (timers) ThreadStates() string { return "" }

func (timers) Slept() (ns int64, known bool) { return 0, false }
func (timers) NewAlarm() Alarm               { return newTimerAlarm() }
func (timers) NewSleeper() Alarm             { return newTimerAlarm() }

type timerAlarm struct {
	wake  chan struct{}
	timer *time.Timer
}

func newTimerAlarm() *timerAlarm { return &timerAlarm{wake: make(chan struct{}, 1)} }

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
