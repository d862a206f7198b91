package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// costly is a system whose client spends time in each Send. It is too short to count as a wait for
// the system, so it is the pacer's own.
type costly struct {
	null
	each time.Duration
}

func (c costly) OpenProducer(context.Context, system.ProducerOptions) (system.Producer, error) {
	return c, nil
}

func (c costly) Send(m *system.Message) {
	time.Sleep(c.each)
	m.Done(nil)
}

// A pacer that hands over messages late hands over the twin's messages as late, and the twin's
// latencies say so.
func TestTheTwinIsAsLateAsItsPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// 2,000 messages a second that take 0.9 ms each: the last one is 8 s late.
		w := benchWorkload(2_000, 10*time.Second, 1)
		e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Virtual(), nil)
		if err := e.Open(t.Context(), costly{each: 900 * time.Microsecond}); err != nil {
			t.Fatal(err)
		}
		begin(e, clock.Now())
		<-e.Sent()
		closeEngine(t, e)
		cells := measure.NewCells(result.OwnLag, result.Twin, result.TwinReceive)
		cells.Add(e.Collect())
		own := cells.Of(result.OwnLag, measure.Measured).Histogram
		for _, s := range []result.Series{result.Twin, result.TwinReceive} {
			got := cells.Of(s, measure.Measured).Histogram
			if got.TotalCount() < 800 {
				t.Fatalf("%s: %d messages in 10 s", s, got.TotalCount())
			}
			for _, p := range []float64{50, 90, 99} {
				want := float64(own.ValueAtPercentile(p))
				if ns := float64(got.ValueAtPercentile(p)); ns < 0.9*want || ns > 1.1*want {
					t.Errorf("%s p%v is %v, want the pacer's own lag of %v", s, p,
						time.Duration(ns), time.Duration(want))
				}
			}
		}
	})
}
