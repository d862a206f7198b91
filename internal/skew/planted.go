package skew

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Planted is an error of a clock, for trials of the fleet on machines that share one clock.
type Planted struct {
	OffsetNs int64
	DriftPPM float64
	// StepNs is added at once, StepAfterNs after the clock was made.
	StepNs, StepAfterNs int64
}

// Plant returns a clock that is wrong by what is planted.
func Plant(right clock.Clock, p Planted) clock.Clock {
	now := right.Now()
	s := straight(now, now+p.OffsetNs, p.DriftPPM/million)
	if p.StepNs != 0 {
		s.slewFor, s.slew = p.StepAfterNs, s.rate
		s.afterValue += s.slewFor + int64(float64(s.slewFor)*s.slew) + p.StepNs
	}
	c := &Clock{base: right, name: fmt.Sprintf("%s, planted %+v", right.Name(), p)}
	c.current.Store(&s)
	return c
}
