package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a system that answers according to a script: at once, late, with an error, twice,
// never, or only after a Send that blocks.
type hostile struct {
	null
	script []string
	sync.Mutex
	sends   int
	pending sync.WaitGroup
}

func (h *hostile) OpenProducer(context.Context, system.ProducerOptions) (system.Producer, error) {
	return h, nil
}

func (h *hostile) OpenConsumer(context.Context, system.ConsumerOptions) (system.Consumer, error) {
	return h, nil
}

func (h *hostile) Send(m *system.Message) {
	h.Lock()
	act := h.script[h.sends%len(h.script)]
	h.sends++
	h.Unlock()
	switch act {
	case "now":
		m.Done(nil)
	case "late":
		h.pending.Go(func() {
			time.Sleep(7 * time.Millisecond)
			m.Done(nil)
		})
	case "error":
		m.Done(errors.New("no"))
	case "unknown":
		m.Done(fmt.Errorf("lost: %w", system.ErrUnknown))
	case "block":
		time.Sleep(3 * time.Millisecond)
		m.Done(nil)
	case "never":
	}
}

// Whatever the system does and whenever the run is stopped, every scheduled
// message ends in exactly one counter.
func TestEveryMessageEndsInOneCounter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acts := []string{"now", "late", "error", "unknown", "block", "never"}
		h := &hostile{script: rapid.SliceOfN(rapid.SampledFrom(acts), 1, 8).Draw(rt, "script")}
		producers := rapid.IntRange(1, 3).Draw(rt, "producers")
		w := benchWorkload(float64(rapid.IntRange(10, 3000).Draw(rt, "rate")), 300*time.Millisecond,
			producers)
		w.Warmup = time.Duration(rapid.IntRange(0, 200).Draw(rt, "warmup ms")) * time.Millisecond
		w.MaxInFlight = rapid.IntRange(1, 20).Draw(rt, "in flight")
		w.Message.Size = 64
		stopAfter := time.Duration(rapid.IntRange(1, 700).Draw(rt, "stop ms")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) { runHostile(t, h, w, stopAfter) })
	})
}

// begin begins an engine's load, and returns the course that it follows.
func begin(e *Engine, startNs int64) *Course {
	c := NewCourse(&e.plan, startNs, 1000*time.Hour)
	e.Start(c.Window())
	return c
}

// halt stops all hand-overs from a time on.
func halt(e *Engine, c *Course, ns int64) {
	c.window.HaltNs = ns
	e.follow(c.Window())
}

func runHostile(t *testing.T, h *hostile, w *workload.Workload, stopAfter time.Duration) {
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	start := clock.Now()
	course := begin(e, start)
	halt(e, course, start+int64(w.Warmup+w.Duration+50*time.Millisecond))
	time.Sleep(stopAfter)
	stopped := clock.Now()
	halt(e, course, stopped)
	<-e.Sent()
	h.pending.Wait()
	f := e.counters()
	// A message due exactly at the stop may or may not have been handed over.
	end := min(stopped, start+int64(w.Warmup+w.Duration))
	due, atMost := course.DueBy(end), course.DueBy(end+1)
	for p := range due {
		unknown := f.Handed[p] - f.Acked[p] - f.Failed[p]
		if sum := f.Acked[p] + f.Failed[p] + unknown + f.Unsent[p]; sum < due[p] ||
			sum > atMost[p] {
			t.Errorf("phase %d: acked %d + failed %d + unknown %d + unsent %d = %d, due %d to %d",
				p, f.Acked[p], f.Failed[p], unknown, f.Unsent[p], sum, due[p], atMost[p])
		}
	}
	if f.InFlight > int64(w.MaxInFlight*w.Producers) {
		t.Errorf("%d in flight, the bound is %d x %d", f.InFlight, w.MaxInFlight, w.Producers)
	}
	if err := e.Close(time.Second); err != nil {
		t.Error(err)
	}
}

// A system's second answer to a message must not be counted.
func TestSecondAnswerDoesNotCount(t *testing.T) {
	w := benchWorkload(1000, time.Second, 1)
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), null{}); err != nil {
		t.Fatal(err)
	}
	p := e.producers[0]
	f := p.fresh()
	p.prepare(f, 0, clock.Now(), 1)
	p.send(f, clock.Now(), 0)
	f.Done(nil)
	f.Done(nil)
	if got := e.counters(); got.Acked[1] != 1 || got.InFlight != 0 {
		t.Errorf("acked %d, in flight %d", got.Acked[1], got.InFlight)
	}
}

// A message that the system reports as unknown is not a refusal.
func TestUnknownIsNotFailed(t *testing.T) {
	h := &hostile{script: []string{"now", "error", "unknown", "never"}}
	w := benchWorkload(1000, 100*time.Millisecond, 1)
	synctest.Test(t, func(t *testing.T) {
		e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
		if err := e.Open(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		begin(e, clock.Now())
		<-e.Sent()
		f := e.counters()
		if f.Handed[1] != 100 || f.Acked[1] != 25 || f.Failed[1] != 25 || f.InFlight != 25 {
			t.Errorf("%+v", f)
		}
		closeEngine(t, e)
	})
}

func closeEngine(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Close(time.Second); err != nil {
		t.Error(err)
	}
}

// With answers from many goroutines, the pool hands out no message twice and keeps its bound.
func TestPoolUnderConcurrentAnswers(t *testing.T) {
	const bound, rounds = 8, 20_000
	alarm := clock.Precise().NewAlarm()
	defer alarm.Close()
	p := &pool{bound: bound, alarm: alarm, fresh: func() *flight { return &flight{} }}
	out := make(chan *flight, bound)
	var answers sync.WaitGroup
	for range 4 {
		answers.Go(func() {
			for f := range out {
				if !f.open.CompareAndSwap(true, false) {
					t.Error("a message was out twice")
				}
				p.put(f, clock.Now())
			}
		})
	}
	for range rounds {
		f := p.take()
		for f == nil {
			p.waitForAnswer(clock.Never)
			f = p.take()
		}
		if !f.open.CompareAndSwap(false, true) {
			t.Fatal("an idle message is out")
		}
		out <- f
	}
	close(out)
	answers.Wait()
	if p.made > bound {
		t.Errorf("%d messages were made, the bound is %d", p.made, bound)
	}
}
