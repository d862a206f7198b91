package bench_test

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// late is virtual time on a machine that wakes every thread late.
type late struct {
	clock.Clock
	by time.Duration
}

func (c late) NewAlarm() clock.Alarm { return lateAlarm{c.Clock.NewAlarm(), c.by} }

type lateAlarm struct {
	clock.Alarm
	by time.Duration
}

func (a lateAlarm) WaitUntil(ns int64) { a.Alarm.WaitUntil(ns + int64(a.by)) }

// A generator that is 2 ms late is the limit of a system that answers in 0.2 ms, also if the system
// answers 4% of messages in 900 ms.
func TestTruthAHeavyTailExcusesNoLateGenerator(t *testing.T) {
	for by, want := range map[time.Duration]string{0: result.Holds,
		2 * time.Millisecond: result.Broken} {
		s := onSimAs(t, load(2000, 5*time.Second), map[string]string{"service": "bimodal",
			"service_time": "200us", "service_slow": "900ms", "service_slow_share": "0.04"},
			func(job *bench.Job, _ *sim.System) { job.Clock = late{clock.Virtual(), by} })
		verdict.JudgeSaved(s)
		v := s.Run.Verdicts[0]
		if v.Outcome != want || want == result.Broken && !strings.Contains(v.Sentence, "p50") {
			t.Errorf("late by %v: %s: %s", by, v.Outcome, v.Sentence)
		}
		if p, _ := s.Run.Summary.Series(result.Publish).Point(50); p.OwnError != (by > 0) {
			t.Errorf("late by %v: %+v", by, p)
		}
	}
}
