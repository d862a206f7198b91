package clock

import "runtime"

// Stint measures for how long the thread of a goroutine sleeps while the goroutine works, between
// two of its own waits. A goroutine that is blocked in a call sleeps. One that runs, or waits for a
// core, does not. Only its owner may use it. All methods of nil do nothing.
type Stint struct {
	beganNs int64
	thread  *threadUse // of the thread, at or shortly before the beginning
	recent  [8]threadUse
}

// threadUse is how long a thread had run or waited for a core, at a time; at least.
type threadUse struct {
	thread       int
	atNs, usedNs int64
	known        bool
}

// freshNs is how long a reading of a thread serves for the beginning of a stint. A pacer wakes
// thousands of times a second, and a reading costs as much as handing over a message. What the
// thread did in between is counted as the stint's, so its sleep may be too short by that, and is
// never too long.
const freshNs = 1_000_000

// NewStint returns a stint of the calling goroutine that has not begun; nil if the clock does not
// know what threads do.
func NewStint(c Clock) *Stint {
	if c.ThreadStates() == "" {
		return nil
	}
	return &Stint{}
}

// Begin locks the goroutine to its OS thread until End, and takes the thread's times.
func (s *Stint) Begin() {
	if s == nil {
		return
	}
	runtime.LockOSThread()
	s.beganNs = Now()
	thread := threadID()
	s.thread = &s.recent[thread%len(s.recent)]
	if s.thread.thread != thread || s.beganNs-s.thread.atNs > freshNs {
		*s.thread = threadUse{thread: thread, atNs: s.beganNs}
		s.thread.usedNs, s.thread.known = threadUsed(thread)
	}
}

// End unlocks the goroutine from its thread.
func (s *Stint) End() {
	if s != nil {
		runtime.UnlockOSThread()
	}
}

// Asleep returns how long the thread has slept since Begin, in nanoseconds. known is false where
// the machine does not count this per thread.
func (s *Stint) Asleep() (ns int64, known bool) {
	if s == nil || !s.thread.known {
		return 0, false
	}
	used, ok := threadUsedNow(s.thread.thread)
	return max(0, Now()-s.beganNs-(used-s.thread.usedNs)), ok
}
