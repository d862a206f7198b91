package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// keeper is a system that answers the messages of a Gather at its Flush, which takes time.
type keeper struct {
	null
	gathering bool
	kept      []*system.Message
	since     time.Time // when the first of them was handed over
	longest   time.Duration
	flushes   int
}

func (k *keeper) OpenProducer(context.Context, system.ProducerOptions) (system.Producer, error) {
	return k, nil
}

func (k *keeper) OpenConsumer(context.Context, system.ConsumerOptions) (system.Consumer, error) {
	return k, nil
}

func (k *keeper) Gather() { k.gathering = true }

func (k *keeper) Send(m *system.Message) {
	if !k.gathering {
		m.Done(nil)
		return
	}
	if len(k.kept) == 0 {
		k.since = time.Now()
	}
	k.kept = append(k.kept, m)
}

func (k *keeper) Flush() {
	k.flushes++
	k.gathering = false
	if len(k.kept) > 0 {
		k.longest = max(k.longest, time.Since(k.since))
	}
	time.Sleep(100 * time.Microsecond)
	for _, m := range k.kept {
		m.Done(nil)
	}
	k.kept = k.kept[:0]
}

func offerKept(
	t *testing.T, k *keeper, w *workload.Workload, stopAfter time.Duration,
) (acked int64) {
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	course := begin(e, clock.Now())
	time.Sleep(stopAfter)
	halt(e, course, clock.Now())
	<-e.Sent()
	f := e.counters()
	acked = f.Acked[0] + f.Acked[1]
	if handed := f.Handed[0] + f.Handed[1]; acked != handed || len(k.kept) > 0 {
		t.Errorf("of %d messages %d were acknowledged, %d are kept", handed, acked, len(k.kept))
	}
	if k.longest > 0 {
		t.Errorf("a message was kept for %s", k.longest)
	}
	closeEngine(t, e)
	return acked
}

// However messages are due, however few may be in flight, and whenever the run is stopped, no
// message is kept while the pacer waits.
func TestNoMessageIsKeptDuringAWait(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := benchWorkload(float64(rapid.IntRange(10, 30_000).Draw(rt, "rate")),
			100*time.Millisecond, 1)
		if closed := rapid.Bool().Draw(rt, "closed"); closed {
			w = closedWorkload(time.Millisecond, 1, workload.Closed{InFlight: 1,
				Batch: workload.Batch{Least: 2, Most: rapid.IntRange(2, 20).Draw(rt, "most")}})
		} else {
			w.Load.Burst = rapid.IntRange(0, 20).Draw(rt, "burst")
			w.MaxInFlight = rapid.IntRange(1, 20).Draw(rt, "in flight")
		}
		w.Message.Size = 64
		stopAfter := time.Duration(rapid.IntRange(1, 200).Draw(rt, "stop ms")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) { offerKept(t, &keeper{}, w, stopAfter) })
	})
}

// Messages that are due together leave together.
func TestBurstLeavesTogether(t *testing.T) {
	w := benchWorkload(1000, time.Second, 1)
	w.Load.Burst, w.Message.Size = 5, 64
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{}
		if acked := offerKept(t, k, w, 2*time.Second); acked != 1000 || k.flushes != 200 {
			t.Errorf("%d acknowledged, after %d flushes", acked, k.flushes)
		}
	})
}
