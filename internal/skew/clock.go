package skew

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Clock is a clock.Clock that shows the coordinator's time on a worker. Until the first
// Jump or Add it shows the worker's own. It is safe for concurrent use.
type Clock struct {
	base    clock.Clock
	name    string
	current atomic.Pointer[segment]

	mu         sync.Mutex
	estimator  Estimator
	greatestNs int64 // the greatest bound since the last call of GreatestBoundNs
}

// New returns a disciplined clock over the worker's own.
func New(own clock.Clock) *Clock {
	c := &Clock{base: own, name: own.Name() + ", disciplined to the coordinator's clock"}
	now := own.Now()
	s := straight(now, now, 0)
	c.current.Store(&s)
	return c
}

// Own returns the time of the worker's own clock, for an Exchange.
func (c *Clock) Own() int64 { return c.base.Now() }

// Now returns the coordinator's time, as far as it is known.
func (c *Clock) Now() int64 {
	own := c.base.Now()
	s := c.current.Load()
	if x := own - s.at; x >= 0 {
		return s.time(x)
	}
	valid, own := c.read()
	return valid.time(own - valid.at)
}

// read returns a segment that is valid, and an own time within it.
func (c *Clock) read() (segment, int64) {
	valid := *c.current.Load()
	if valid.change != nil {
		valid = valid.change.decide(c.base)
	}
	// The segment began before now. Only an own clock that goes back makes a difference:
	// the disciplined one then stands still.
	return valid, max(c.base.Now(), valid.at)
}

// Name describes how waits are timed.
func (c *Clock) Name() string { return c.name }

// ThreadStates names the source of clock.Stint's times.
func (c *Clock) ThreadStates() string { return c.base.ThreadStates() }

// Slept returns how long the worker's own machine has slept.
func (c *Clock) Slept() (ns int64, known bool) { return c.base.Slept() }

// Add takes an exchange with the coordinator, whose own times lie in the past of Own, and
// has the clock follow the line. It returns the step that the exchange proves, if any. An
// exchange that cannot be true is an error and changes nothing.
func (c *Clock) Add(x Exchange) (*Step, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.base.Now()
	if x.ReturnedNs > own {
		c.estimator.rejected++
		return nil, errFuture
	}
	c.greatestNs = max(c.greatestNs, c.boundNs())
	step, err := c.estimator.Add(x)
	if err != nil {
		return nil, err
	}
	if line, known := c.estimator.At(own); known {
		c.follow(line, false)
	}
	c.greatestNs = max(c.greatestNs, c.boundNs())
	return step, nil
}

// Jump sets the clock to the line at once, also back. It is for the time before a run
// begins: whatever was timed on the clock is wrong afterwards. It fails until an exchange
// has told the offset.
func (c *Clock) Jump() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, known := c.estimator.At(c.base.Now())
	if !known {
		return errUnknown
	}
	c.follow(line, true)
	c.greatestNs = c.boundNs()
	return nil
}

func (c *Clock) follow(line Line, jump bool) {
	next := pending(c.current.Load(), line, jump)
	c.current.Store(next)
	valid := next.change.decide(c.base)
	c.current.Store(&valid)
}

// State returns what is known of the clock now.
func (c *Clock) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &c.estimator
	s := State{
		BoundNs: Unbounded, Exchanges: e.accepted, Rejected: e.rejected,
		LeastRoundTripNs: e.leastTripNs, StepsNoticed: e.stepped, Steps: slices.Clone(e.steps),
	}
	line, deviation, known := c.distance()
	if !known {
		return s
	}
	s.BoundNs = bound(line, deviation)
	s.OffsetNs, s.DeviationNs = line.OffsetNs, deviation
	s.DriftPPM, s.DriftBoundPPM = line.DriftPPM, line.DriftBoundPPM
	return s
}

// GreatestBoundNs returns the greatest bound since its last call or the last Jump. It looks
// at the ends of the times between exchanges, where the bound is greatest.
func (c *Clock) GreatestBoundNs() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.boundNs()
	greatest := max(c.greatestNs, now)
	c.greatestNs = now
	return greatest
}

func (c *Clock) boundNs() int64 {
	line, deviation, known := c.distance()
	if !known {
		return Unbounded
	}
	return bound(line, deviation)
}

// bound is the greatest error of a clock that deviates from a line.
func bound(line Line, deviationNs int64) int64 {
	return min(Unbounded, line.BoundNs+max(deviationNs, -deviationNs))
}

// distance returns the line now, and the disciplined clock less it.
func (c *Clock) distance() (line Line, deviationNs int64, known bool) {
	valid, own := c.read()
	line, known = c.estimator.At(own)
	return line, valid.time(own-valid.at) - own - line.OffsetNs, known
}

// NewAlarm returns an alarm that waits for times of this clock.
func (c *Clock) NewAlarm() clock.Alarm { return &alarm{c.base.NewAlarm(), c} }

// NewSleeper returns a sleeper that waits for times of this clock.
func (c *Clock) NewSleeper() clock.Alarm { return &alarm{c.base.NewSleeper(), c} }

type alarm struct {
	clock.Alarm
	clock *Clock
}

// wholeWaitNs is the longest wait that is made in one piece. A longer one returns early, by
// far more than the clock's rate can change while it lasts, and the caller waits again.
// While a wait of this length lasts, the greatest change of the rate moves its end by 4 us.
const (
	wholeWaitNs = 4_000_000
	earlyPart   = 256
)

func (a *alarm) WaitUntil(ns int64) {
	s, own := a.clock.read()
	if ns >= clock.Never {
		a.Alarm.WaitUntil(clock.Never)
		return
	}
	if ns <= s.time(own-s.at) {
		a.Alarm.WaitUntil(own)
		return
	}
	until := s.at + s.from(ns)
	if left := until - own; left > wholeWaitNs {
		until -= left / earlyPart
	}
	a.Alarm.WaitUntil(until)
}
