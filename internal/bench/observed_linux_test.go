package bench

import (
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/observe"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// lateClock is a clock whose reading costs CPU time before it is taken.
type lateClock struct {
	clock.Clock
	busy time.Duration // of CPU time
}

func (c *lateClock) Now() int64 {
	for end := spentNs() + int64(c.busy); spentNs() < end; {
	}
	return c.Clock.Now()
}

// spentNs is the CPU time of this process.
func spentNs() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 1 << 62
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// An interval covers the same time as its counters, however long the machine takes to read them.
func TestAnIntervalHasTheTimeOfItsCounters(t *testing.T) {
	late := &lateClock{Clock: clock.Precise(), busy: 300 * time.Millisecond}
	s := &session{job: &Job{Clock: late}}
	var err error
	if s.writer, err = result.Create(t.TempDir(), &s.run); err != nil {
		t.Fatal(err)
	}
	defer s.writer.Discard()
	if s.observer, err = observe.New(nil); err != nil {
		t.Fatal(err)
	}
	defer s.observer.Close()
	if err := s.spent(result.PhaseWarmup); err != nil {
		t.Fatal(err)
	}
	late.busy = 0
	if err := s.spent(result.PhaseMeasure); err != nil {
		t.Fatal(err)
	}
	o := s.run.Observation
	if own := s.run.OwnUse(); own == nil || own.CPUSeconds > float64(o.WindowNs)/1e9+0.1 {
		t.Errorf("%+v in %v", own, time.Duration(o.WindowNs))
	}
}
