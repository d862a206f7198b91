package load

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// noting is a system that acknowledges at once and records each message's due time.
type noting struct {
	null
	sync.Mutex
	dues []int64
}

func (n *noting) OpenProducer(context.Context, system.ProducerOptions) (system.Producer, error) {
	return n, nil
}

func (n *noting) OpenConsumer(context.Context, system.ConsumerOptions) (system.Consumer, error) {
	return n, nil
}

func (n *noting) Send(m *system.Message) {
	s, state := readStamp(m.Payload, 1)
	if state != stampGood {
		panic("a stamp that is not ours")
	}
	n.Lock()
	n.dues = append(n.dues, s.dueNs)
	n.Unlock()
	m.Done(nil)
}

// Whenever a warm-up is ended, at any rate and with any number of producers, every message is sent
// once, is due as in a schedule with that warm-up, and has the phase of its due time.
func TestSettlingKeepsTheScheduleAPureFunction(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom([]float64{0.3, 1, 7, 90, 700}).Draw(rt, "rate")
		w := benchWorkload(rate, 5*time.Second, rapid.IntRange(1, 3).Draw(rt, "producers"))
		w.Message.Size, w.Partitions = 64, 1
		w.Load.Arrivals = rapid.SampledFrom([]workload.Arrivals{workload.ArrivalsConstant,
			workload.ArrivalsPoisson}).Draw(rt, "arrivals")
		w.Load.Segments[0].To = rate * rapid.Float64Range(0.5, 3).Draw(rt, "to")
		w.Warmup, w.Settle = 60*time.Second, true
		after := time.Duration(rapid.Int64Range(1, int64(70*time.Second)).Draw(rt, "settled after"))
		synctest.Test(t, func(t *testing.T) { settleOnce(t, w, after) })
	})
}

func settleOnce(t *testing.T, w *workload.Workload, after time.Duration) {
	system := &noting{}
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), system); err != nil {
		t.Fatal(err)
	}
	start := clock.Now()
	course := begin(e, start)
	time.Sleep(after)
	now := clock.Now()
	window, settled := course.Settle(now)
	e.follow(window)
	measureNs := window.MeasureNs
	want := NewSchedule(w.Load, w.Warmup, w.Seed)
	if settled {
		warmup := measureNs - start
		if warmup%int64(time.Second) != 0 || measureNs < now+settleAheadNs ||
			warmup >= int64(w.Warmup) {
			t.Fatalf("settled after %v, the window begins at %v", after, time.Duration(warmup))
		}
		want = NewSchedule(w.Load, time.Duration(warmup), w.Seed)
	}
	<-e.Sent()
	_, dues := walk(want.Cursor(0, 1))
	if len(dues) != len(system.dues) {
		t.Fatalf("%d messages were sent, the schedule has %d", len(system.dues), len(dues))
	}
	sent := map[int64]int{}
	for _, due := range system.dues {
		sent[due-start]++
	}
	var phases [2]int64
	for _, due := range dues {
		sent[due]--
		phases[phaseOf(due, want)]++
	}
	for due, n := range sent {
		if n != 0 {
			t.Fatalf("%+d messages due at %v", n, time.Duration(due))
		}
	}
	if f, due := e.counters(), course.DueBy(clock.Never); f.Handed != phases || due != phases {
		t.Fatalf("handed over by phase %v, due %v, want %v", f.Handed, due, phases)
	}
	if got := e.window.fromNs.Load(); got != start+want.WarmupNs() {
		t.Fatalf("consumers count from %d on, want %d", got-start, want.WarmupNs())
	}
	if len(e.failures) > 0 {
		t.Error(<-e.failures)
	}
	if err := e.Close(time.Second); err != nil {
		t.Error(err)
	}
}
