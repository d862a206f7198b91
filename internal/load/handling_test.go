package load

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// fast is a clock that runs faster than timers, as if each timer rang late.
type fast struct{ clock.Clock }

func (f fast) Now() int64 { return f.Clock.Now() / 20 * 21 }

// A consumer that is busy all the time handles as many messages as asked, though timers ring late,
// and makes up for no pause.
func TestHandlingMakesUpForLateTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(&consumer{clock: fast{clock.Timers()}}, &workload.Workload{
			Handling: workload.Handling{Time: workload.HandlingTime{
				Parts: []workload.TimePart{{Share: 1, Time: 8 * time.Millisecond}}}},
		}, make(chan struct{}))
		const messages = 1_000
		began := h.consumer.clock.Now()
		for seq := range int64(messages) {
			h.handle(0, seq)
		}
		took := float64(h.consumer.clock.Now() - began)
		if want := float64(messages * 8 * time.Millisecond); math.Abs(took/want-1) > 0.001 {
			t.Errorf("took %v, want %v", time.Duration(took), time.Duration(want))
		}
		h.lateNs = int64(time.Second)
		h.wait(8 * time.Millisecond)
		if h.lateNs > int64(maxMadeUp) {
			t.Errorf("makes up for %v", time.Duration(h.lateNs))
		}
	})
}
