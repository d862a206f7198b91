package measure

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// watchEveryNs is the mean time between two looks of the watcher.
const watchEveryNs = 5_000_000

// Watcher is a thread that only sleeps and looks. How late it wakes is a
// hiccup: whatever held it up held the measurement up. What it sees is the
// number of messages in flight; it looks at
// random moments, because looking every five milliseconds at a load with a
// period of a millisecond would always see the same.
type Watcher struct {
	*Recorder
	clock    clock.Clock
	inFlight func() int64
	each     int // wake-ups for each look at the number in flight
	phase    func(ns int64) Phase
	stopped  atomic.Bool
	sleeper  atomic.Pointer[clock.Alarm]

	area    float64 // of in flight over time, in messages x ns
	watched int64   // ns of the measured window that the area covers
}

// watchedAtOnce is how many clients a watcher asks at most, on average, each time that it wakes:
// of a crowd it asks more seldom, so that watching costs the same however large the crowd is.
const watchedAtOnce = 1_000

// NewWatcher returns a watcher of the number that inFlight tells, in the
// phases that phase tells by time. The number is the sum over so many clients.
func NewWatcher(
	c clock.Clock, inFlight func() int64, clients int, phase func(ns int64) Phase,
) *Watcher {
	return &Watcher{Recorder: NewRecorder(result.Hiccup), clock: c, inFlight: inFlight,
		each: max(1, clients/watchedAtOnce), phase: phase}
}

// Looks draws the times at which a Watcher looks. They follow from the seed and from the
// time of the look before.
type Looks struct{ random *rand.Rand }

// NewLooks returns the looks of a seed.
func NewLooks(seed uint64) Looks { return Looks{rand.New(rand.NewPCG(seed, seed))} }

// Next returns when the next look is due after one at lastNs.
func (l Looks) Next(lastNs int64) int64 {
	return lastNs + watchEveryNs/2 + l.random.Int64N(watchEveryNs)
}

// Run watches until Stop. It is to be called on a goroutine of its own.
func (w *Watcher) Run(seed uint64) {
	sleeper := w.clock.NewSleeper()
	defer sleeper.Close()
	w.sleeper.Store(&sleeper)
	looks := NewLooks(seed)
	woke := w.clock.Now()
	last, seen := woke, w.inFlight()
	for n := 1; !w.stopped.Load(); n++ {
		due := looks.Next(woke)
		now := w.clock.Now()
		for now < due && !w.stopped.Load() {
			sleeper.WaitUntil(due)
			now = w.clock.Now()
		}
		if w.stopped.Load() {
			return
		}
		w.wake(now, due)
		woke = now
		if n%w.each == 0 {
			look := w.inFlight()
			w.note(last, now, seen, look)
			last, seen = now, look
		}
	}
}

// wake records how late the watcher woke.
func (w *Watcher) wake(now, due int64) {
	w.Lock()
	defer w.Unlock()
	w.Add(0, w.phase(due), now-due)
}

// note records one look. The area between two looks is that of the straight
// line between them.
func (w *Watcher) note(last, now, before, after int64) {
	w.Lock()
	defer w.Unlock()
	if w.phase(now) == Measured && w.phase(last) == Measured {
		w.area += float64(before+after) / 2 * float64(now-last)
		w.watched += now - last
	}
}

// Stop ends Run soon.
func (w *Watcher) Stop() {
	w.stopped.Store(true)
	if sleeper := w.sleeper.Load(); sleeper != nil {
		(*sleeper).Wake()
	}
}

// MeanInFlight is the mean number in flight over the measured window; 0 without a look.
func (w *Watcher) MeanInFlight() float64 {
	w.Lock()
	defer w.Unlock()
	if w.watched == 0 {
		return 0
	}
	return w.area / float64(w.watched)
}
