package measure

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// However large a crowd is, watching it costs the same, and every wake-up is a hiccup's.
func TestACrowdIsAskedSeldom(t *testing.T) {
	for clients, want := range map[int]int{1: 2_000, 1_999: 2_000, 100_000: 20} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			w := NewWatcher(clock.Virtual(), func() int64 { looks++; return int64(looks) },
				clients, func(int64) Phase { return Measured })
			over := make(chan struct{})
			go func() {
				defer close(over)
				w.Run(1)
			}()
			time.Sleep(10 * time.Second)
			w.Stop()
			<-over
			if looks < want*9/10 || looks > want*11/10+1 {
				t.Errorf("%d clients: %d looks in 10 s, want about %d", clients, looks, want)
			}
			mean, half := w.MeanInFlight(), float64(looks)/2
			if mean < half*0.9 || mean > half*1.1+1 {
				t.Errorf("%d clients: %v in flight on average, want about %v", clients, mean, half)
			}
			cells := NewCells(result.Hiccup)
			all, _ := w.Collect(NewLive(result.Hiccup))
			cells.Add(all)
			n := cells.Of(result.Hiccup, Measured).Histogram.TotalCount()
			if n < 1_800 || n > 2_200 {
				t.Errorf("%d clients: %d wake-ups in 10 s", clients, n)
			}
		})
	}
}

// tardy is a clock whose sleepers wake late.
type tardy struct {
	clock.Clock
	by time.Duration
}

func (c tardy) NewSleeper() clock.Alarm { return tardyAlarm{c.Clock.NewSleeper(), c.by} }

type tardyAlarm struct {
	clock.Alarm
	by time.Duration
}

func (a tardyAlarm) WaitUntil(ns int64) { a.Alarm.WaitUntil(ns + int64(a.by)) }

// A hiccup is as long as the watcher woke late.
func TestHiccupsHaveTheirLength(t *testing.T) {
	for _, by := range []time.Duration{0, 3 * time.Millisecond, 200 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			w := NewWatcher(tardy{clock.Virtual(), by}, func() int64 { return 0 }, 1,
				func(int64) Phase { return Measured })
			over := make(chan struct{})
			go func() {
				defer close(over)
				w.Run(1)
			}()
			time.Sleep(10 * time.Second)
			w.Stop()
			<-over
			cells := NewCells(result.Hiccup)
			all, _ := w.Collect(NewLive(result.Hiccup))
			cells.Add(all)
			got := cells.Of(result.Hiccup, Measured).Histogram
			if n := got.TotalCount(); n < int64(9*time.Second/(by+8*time.Millisecond)) {
				t.Errorf("woken %v late: %d hiccups in 10 s", by, n)
			}
			for _, p := range []float64{1, 50, 100} {
				ns := float64(got.ValueAtPercentile(p))
				if want := float64(by); ns < want*0.99 || ns > want*1.01 {
					t.Errorf("woken %v late: p%v of hiccups is %v", by, p, time.Duration(ns))
				}
			}
		})
	}
}
