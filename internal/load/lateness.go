package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// lateness records how late a simulated system gave its answers, by its own schedule.
// nil: the system does not report it.
type lateness struct {
	*measure.Recorder
	clock clock.Clock
	phase atomic.Pointer[func(ns int64) measure.Phase]
	spare *measure.Live
}

// newLateness makes a cluster report its lateness; nil if it cannot.
func newLateness(c system.Cluster, now clock.Clock) *lateness {
	reporter, able := c.(system.Simulation)
	if !able {
		return nil
	}
	l := &lateness{
		Recorder: measure.NewRecorder(result.SimulatedLate), clock: now,
		spare: measure.NewLive(result.SimulatedLate),
	}
	reporter.ReportLateness(l.add)
	return l
}

// begin begins to record: events before the load do not count.
func (l *lateness) begin(phase func(ns int64) measure.Phase) {
	if l != nil {
		l.phase.Store(&phase)
	}
}

func (l *lateness) add(lateNs int64) {
	phase := l.phase.Load()
	if phase == nil {
		return
	}
	l.Lock()
	l.Add(0, (*phase)(l.clock.Now()), lateNs)
	l.Unlock()
}

func (l *lateness) collect() (late []measure.Histogram) {
	if l != nil {
		late, l.spare = l.Collect(l.spare)
	}
	return late
}
