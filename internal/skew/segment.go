package skew

import (
	"math"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// segment is the disciplined time as a function of the worker's own: from at on it
// approaches a line for slewFor, and then follows it. It is immutable.
type segment struct {
	at, value  int64 // at the own time at, the disciplined time is value
	slewFor    int64
	slew       float64 // how much faster than the own clock it runs until then
	afterValue int64   // the disciplined time at the end of the slew
	rate       float64 // how much faster than the own clock it runs from then on
	change     *change // nil: the segment is valid
}

// time returns the disciplined time, x nanoseconds after the segment's beginning.
func (s *segment) time(x int64) int64 {
	if x < s.slewFor {
		return s.value + x + int64(float64(x)*s.slew)
	}
	x -= s.slewFor
	return s.afterValue + x + int64(float64(x)*s.rate)
}

// from returns the least x for which time(x) is at least ns.
func (s *segment) from(ns int64) int64 {
	value, rate, begin := s.value, s.slew, int64(0)
	if ns >= s.afterValue {
		value, rate, begin = s.afterValue, s.rate, s.slewFor
	}
	y := ns - value
	x := begin + y - int64(math.Ceil(float64(y)*(rate/(1+rate))))
	for s.time(x) < ns {
		x++
	}
	return x
}

// change is a segment that is about to begin. Its first reader decides when.
//
// A reader takes the own time before it loads the segment, so all own times that were used
// with the old segment lie before the change was stored. The change begins at an own time
// that is read after that. The disciplined time is therefore one continuous function of the
// own time for all readers, however long any of them, or the writer, is held up.
type change struct {
	old   *segment
	line  Line
	jump  bool
	begin atomic.Int64 // unset: no reader has decided
}

const unset = math.MinInt64

// pending is a segment that stands for the change: no own time lies behind its beginning.
func pending(old *segment, line Line, jump bool) *segment {
	c := &change{old: old, line: line, jump: jump}
	c.begin.Store(unset)
	return &segment{at: math.MaxInt64, change: c}
}

// decide returns the segment that the change leads to.
func (c *change) decide(base clock.Clock) segment {
	begin := c.begin.Load()
	if begin == unset {
		c.begin.CompareAndSwap(unset, base.Now())
		begin = c.begin.Load()
	}
	line := c.line.offsetAt(begin)
	if c.jump {
		return straight(begin, begin+line, c.line.DriftPPM/million)
	}
	value := c.old.time(max(0, begin-c.old.at))
	return approach(begin, value, line-(value-begin), c.line.DriftPPM/million)
}

// straight returns a segment that is on its line.
func straight(at, value int64, rate float64) segment {
	return segment{at: at, value: value, afterValue: value, rate: rate}
}

// The clock approaches the line within slewNs or, if that is slower, at MaxSlewPPM: as fast
// as the kernel slews a clock. A shorter time would pass the jitter of the estimate on to
// the clock's rate, and a longer time would leave it off the line.
const (
	MaxSlewPPM = 500
	slewNs     = int64(1e9)
	maxSlew    = MaxSlewPPM / million
)

// approach returns a segment that is awayNs below a line at its beginning.
func approach(at, value, awayNs int64, rate float64) segment {
	away := float64(awayNs)
	slew, takes := away/float64(slewNs), slewNs
	if math.Abs(slew) > maxSlew {
		slew = math.Copysign(maxSlew, slew)
		takes = clock.Never
		if needed := away / slew; needed < float64(clock.Never) {
			takes = int64(needed)
		}
	}
	s := segment{at: at, value: value, slewFor: takes, slew: slew + rate, rate: rate}
	s.afterValue = value + takes + int64(float64(takes)*s.slew)
	if s.afterValue < value {
		s.afterValue = math.MaxInt64
	}
	return s
}
