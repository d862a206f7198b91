package skew_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// disciplined returns a clock over a planted one, after some exchanges with the right one.
func disciplined(t testing.TB, right clock.Clock, p skew.Planted) *skew.Clock {
	t.Helper()
	c := skew.New(skew.Plant(right, p))
	for range 50 {
		ask(t, c, right)
	}
	if err := c.Jump(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask makes an exchange in a bubble: 100 us there and 200 us back.
func ask(t testing.TB, c *skew.Clock, right clock.Clock) {
	t.Helper()
	x := skew.Exchange{SentNs: c.Own()}
	time.Sleep(100 * time.Microsecond)
	x.ReceivedNs = right.Now()
	x.AnsweredNs = right.Now()
	time.Sleep(200 * time.Microsecond)
	x.ReturnedNs = c.Own()
	if _, err := c.Add(x); err != nil {
		t.Error(err)
	}
	time.Sleep(100 * time.Millisecond)
}

// Waits end when the disciplined clock says so: never early, and late by no more than the
// clock's rate changed during the last part of the wait.
func TestAlarmsWaitForTheDisciplinedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right := clock.Virtual()
		c := disciplined(t, right, skew.Planted{OffsetNs: 40e6, DriftPPM: 100})
		stop := make(chan struct{})
		var exchanges sync.WaitGroup
		exchanges.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					ask(t, c, right)
				}
			}
		})
		alarm := c.NewAlarm()
		defer alarm.Close()
		due := c.Now()
		for i := range 2000 {
			due += int64(1+i%1000) * 50_000
			waits := 0
			for c.Now() < due {
				alarm.WaitUntil(due)
				waits++
			}
			if late := c.Now() - due; late > 4_000 {
				t.Errorf("a wait ended %d ns late", late)
			}
			if waits > 2 {
				t.Errorf("a wait took %d turns", waits)
			}
			s := c.State()
			if off := c.Now() - right.Now(); max(off, -off) > s.BoundNs {
				t.Errorf("the clock is wrong by %d ns: %+v", off, s)
			}
		}
		close(stop)
		exchanges.Wait()
		if s := c.State(); s.BoundNs > 300_000 || s.DriftPPM > -90 || s.DriftPPM < -110 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAlarmsOfTimesFarAwayAndPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := disciplined(t, clock.Virtual(), skew.Planted{OffsetNs: -40e6, DriftPPM: -100})
		alarm := c.NewAlarm()
		defer alarm.Close()
		began := c.Now()
		for _, past := range []int64{began, began - 1, began - second, -1 << 63} {
			alarm.WaitUntil(past)
		}
		if c.Now() != began {
			t.Error("a wait for the past took time")
		}
		for _, never := range []int64{clock.Never, clock.Never + 1, 1<<63 - 1} {
			time.AfterFunc(time.Second, alarm.Wake)
			alarm.WaitUntil(never)
		}
		if took := time.Duration(c.Now() - began); took < 3*time.Second ||
			took > 3001*time.Millisecond {
			t.Errorf("three waits that were woken took %s", took)
		}
		alarm.Wake()
		began = c.Now()
		alarm.WaitUntil(clock.Never)
		if c.Now() != began {
			t.Error("a wake before the wait was lost")
		}
	})
}

// Readers on all threads see a time that never goes back, while the clock changes its rate
// as often as it can.
func TestClockIsMonotonicForAllReaders(t *testing.T) {
	own := clock.Precise()
	c := skew.New(own)
	var latest atomic.Int64
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !stop.Load() {
				before := latest.Load()
				now := c.Now()
				if now < before {
					t.Errorf("the clock went back by %d ns", before-now)
					return
				}
				for now > before && !latest.CompareAndSwap(before, now) {
					before = latest.Load()
				}
			}
		})
	}
	last, away := own.Now(), int64(400_000)
	for range 20_000 {
		// The coordinator's clock is far ahead, then far behind: steps are noticed, and the
		// clock slews at its greatest rate each way.
		away = -away
		now := max(own.Now(), last+2)
		x := skew.Exchange{SentNs: now - 1, ReceivedNs: now + away, AnsweredNs: now + away}
		for last = now; own.Now() < now; {
		}
		x.ReturnedNs = now
		if _, err := c.Add(x); err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	readers.Wait()
	if s := c.State(); s.StepsNoticed < 1000 || len(s.Steps) > 16 {
		t.Errorf("%d steps, %d kept", s.StepsNoticed, len(s.Steps))
	}
}

// Exchanges are frequent at first and after a silence, and rare once they cannot add much.
func TestPace(t *testing.T) {
	w := newWorld(5)
	w.lost, w.jitter, w.heavy = 0, 0.05, false
	exchange := func() {
		w.own.now += int64(w.clock.Pace())
		w.burstEndNs = w.own.now + second // without congestion
		w.burstTo = [2]float64{}
		x, _ := w.exchange()
		if _, err := w.clock.Add(x); err != nil {
			t.Fatal(err)
		}
	}
	began := w.own.now
	for range 50 {
		exchange()
	}
	if took := w.own.now - began; took > 6*second || w.clock.Pace() != skew.CalmPace {
		t.Errorf("50 exchanges took %d ns, then the pace is %s", took, w.clock.Pace())
	}
	w.own.now += 20 * second
	if pace := w.clock.Pace(); pace != skew.EagerPace {
		t.Errorf("after a silence the pace is %s: %+v", pace, w.clock.State())
	}
	for range 10 {
		exchange()
	}
	if pace := w.clock.Pace(); pace != skew.CalmPace {
		t.Errorf("a second after a silence the pace is %s: %+v", pace, w.clock.State())
	}
}

// A planted clock is wrong by what was planted.
func TestPlant(t *testing.T) {
	right := &manual{now: 1000 * second}
	p := skew.Plant(right, skew.Planted{
		OffsetNs: 7, DriftPPM: 100, StepNs: -5_000_000, StepAfterNs: 10 * second,
	})
	for _, want := range []struct{ after, wrong int64 }{
		{0, 7}, {second, 100_007}, {10*second - 1, 1_000_006}, {10 * second, 7 + 1_000_000 - 5_000_000},
		{11 * second, 7 + 1_100_000 - 5_000_000},
	} {
		right.now = 1000*second + want.after
		if got := p.Now() - right.now; got != want.wrong {
			t.Errorf("after %d wrong by %d, want %d", want.after, got, want.wrong)
		}
	}
}

func TestReadingTheTimeDoesNotAllocate(t *testing.T) {
	c := skew.New(clock.Precise())
	if n := testing.AllocsPerRun(1000, func() { c.Now() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkNow(b *testing.B) {
	own := clock.Precise()
	c := skew.New(own)
	for range 100 {
		x := skew.Exchange{SentNs: c.Own()}
		x.ReceivedNs, x.AnsweredNs = x.SentNs+1_000_000, x.SentNs+1_000_000
		for x.ReturnedNs = c.Own(); x.ReturnedNs < x.SentNs+100; x.ReturnedNs = c.Own() {
		}
		if _, err := c.Add(x); err != nil {
			b.Fatal(err)
		}
	}
	for name, c := range map[string]clock.Clock{"own": own, "disciplined": c} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Now()
			}
		})
	}
}

// BenchmarkAdd is an exchange when the window is full.
func BenchmarkAdd(b *testing.B) {
	w := newWorld(5)
	w.lost, w.jitter = 0, 0.5
	next := func() skew.Exchange {
		w.own.now += 100_000_000
		x, _ := w.exchange()
		return x
	}
	for range 1000 {
		if _, err := w.clock.Add(next()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.clock.Add(next()); err != nil {
			b.Fatal(err)
		}
	}
}
