package clock_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/clock"
)

func TestTimersKeepVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Timers()
		alarm := c.NewAlarm()
		defer alarm.Close()
		start := c.Now()
		alarm.WaitUntil(start + int64(3*time.Second))
		if got := c.Now() - start; got != int64(3*time.Second) {
			t.Errorf("waited %d ns, want 3 s exactly", got)
		}
	})
}

func TestTimersWakeEndsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.Timers()
		alarm := c.NewAlarm()
		defer alarm.Close()
		start := c.Now()
		time.AfterFunc(time.Second, alarm.Wake)
		alarm.WaitUntil(clock.Never)
		if got := c.Now() - start; got != int64(time.Second) {
			t.Errorf("woke after %d ns, want 1 s", got)
		}
	})
}

// precise calls f with each kind of alarm of the precise clock.
func precise(t *testing.T, f func(t *testing.T, alarm clock.Alarm)) {
	for name, open := range map[string]func() clock.Alarm{
		"alarm": clock.Precise().NewAlarm, "sleeper": clock.Precise().NewSleeper,
	} {
		t.Run(name, func(t *testing.T) {
			alarm := open()
			defer alarm.Close()
			f(t, alarm)
		})
	}
}

// A Wake that comes before the wait must not be lost. Otherwise the last message of a run
// could wait for ever.
func TestPreciseWakeBeforeWaitIsKept(t *testing.T) {
	precise(t, func(_ *testing.T, alarm clock.Alarm) {
		alarm.Wake()
		alarm.WaitUntil(clock.Never)
	})
}

func TestPreciseWakeFromAnotherGoroutine(t *testing.T) {
	precise(t, func(_ *testing.T, alarm clock.Alarm) {
		const rounds = 10_000
		asked, done := make(chan struct{}), make(chan struct{})
		go func() {
			for range rounds {
				<-asked
				alarm.Wake()
			}
			close(done)
		}()
		for range rounds {
			asked <- struct{}{}
			alarm.WaitUntil(clock.Never)
		}
		<-done
	})
}

func TestPreciseNeverEarlyWithoutWake(t *testing.T) {
	precise(t, func(t *testing.T, alarm clock.Alarm) {
		for range 100 {
			due := clock.Now() + 50_000
			for clock.Now() < due {
				alarm.WaitUntil(due)
			}
			if late := clock.Now() - due; late < 0 {
				t.Fatalf("returned %d ns early", -late)
			}
		}
	})
}

// A closed alarm can still be woken: an answer may come after its pacer has ended.
func TestPreciseWakeAfterClose(t *testing.T) {
	precise(t, func(_ *testing.T, alarm clock.Alarm) {
		alarm.Close()
		alarm.Wake()
		alarm.Wake()
	})
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		clock.Now()
	}
}

// BenchmarkWaitError measures how late a wait of 100 us ends.
func BenchmarkWaitError(b *testing.B) {
	c := clock.Precise()
	alarm := c.NewAlarm()
	defer alarm.Close()
	var late int64
	for b.Loop() {
		due := c.Now() + 100_000
		alarm.WaitUntil(due)
		late += c.Now() - due
	}
	b.ReportMetric(float64(late)/float64(b.N), "late-ns/op")
}

// Asleep counts sleep only. It counts neither computing nor waiting for a core that other
// threads use.
func TestAsleepIsNeitherRunningNorWaitingForACore(t *testing.T) {
	if clock.Precise().ThreadStates() == "" {
		t.Skip("this kernel does not count how long threads wait for a core")
	}
	stint := clock.NewStint(clock.Precise())
	once := func(do func()) (took, slept int64) {
		stint.Begin()
		defer stint.End()
		began := clock.Now()
		do()
		slept, known := stint.Asleep()
		if !known {
			t.Fatal("not known")
		}
		return clock.Now() - began, slept
	}
	// A host that takes the machine's cores away for a moment looks like sleep: the least of
	// several times is the thread's own.
	asleep := func(do func()) (took, slept int64) {
		took, slept = once(do)
		for try := 1; try < 5 && slept > took/4; try++ {
			took, slept = once(do)
		}
		return took, slept
	}
	spin := func() {
		for end := clock.Now() + 30_000_000; clock.Now() < end; {
		}
	}
	if took, slept := asleep(spin); slept > took/4 {
		t.Errorf("a thread computed for %d ns, and Asleep counted %d ns as sleep", took, slept)
	}
	// Each thread needs a scheduler place of its own. Without one it would wait in Go's
	// scheduler, which the kernel counts as sleep.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4*runtime.NumCPU() + 2))
	var others sync.WaitGroup
	compete := func() {
		for range 4 * runtime.NumCPU() {
			others.Go(spin)
		}
		spin()
	}
	if took, slept := asleep(compete); slept > took/4 {
		t.Errorf("a thread competed for cores for %d ns, and Asleep counted %d ns as sleep",
			took, slept)
	}
	others.Wait()
	if took, slept := once(func() { time.Sleep(30 * time.Millisecond) }); slept < took/2 {
		t.Errorf("a thread slept for %d ns, and Asleep counted only %d ns", took, slept)
	}
}

// BenchmarkStint measures what a pacer pays at the end of each of its waits.
func BenchmarkStint(b *testing.B) {
	stint := clock.NewStint(clock.Precise())
	b.ReportAllocs()
	for b.Loop() {
		stint.Begin()
		stint.End()
	}
}
