package bench_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
)

// dawdler is a watch that takes long for each interval, like a busy machine.
type dawdler struct{ silent }

func (dawdler) Interval(result.Interval) { time.Sleep(1300 * time.Millisecond) }

// The achieved rate refers to the window, however late its intervals were read: a system that
// carries everything achieves the offered rate.
func TestTruthRatesOfALateReading(t *testing.T) {
	w := load(200, time.Second)
	w.Warmup = 300 * time.Millisecond
	s, _ := onSimWatched(t, w, map[string]string{"service_time": "100ms"}, dawdler{})
	sum := s.Run.Summary
	if sum.WindowNs < 1_250_000_000 {
		t.Fatalf("the reading was not late: the intervals span %v", time.Duration(sum.WindowNs))
	}
	within(t, "offered rate", sum.OfferedRate, 200, 0.001)
	within(t, "achieved rate", sum.AchievedRate, 200, 0.006)
	within(t, "received rate", sum.ReceivedRate, 200, 0.006)
}
