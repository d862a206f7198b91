package load

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Whenever a schedule is ended, at any rate and with any number of producers, every message due
// before the end is sent once, and none due later counts.
func TestEndingKeepsWhatWasDueBefore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.SampledFrom([]float64{0.3, 1, 7, 90, 700}).Draw(rt, "rate")
		w := benchWorkload(rate, 40*time.Second, rapid.IntRange(1, 3).Draw(rt, "producers"))
		w.Message.Size, w.Partitions = 64, 1
		w.Load.Arrivals = rapid.SampledFrom([]workload.Arrivals{workload.ArrivalsConstant,
			workload.ArrivalsPoisson}).Draw(rt, "arrivals")
		after := time.Duration(rapid.Int64Range(1, int64(45*time.Second)).Draw(rt, "ended after"))
		later := time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(rt, "later"))
		synctest.Test(t, func(t *testing.T) { endOnce(t, w, after, later) })
	})
}

// The last message of a schedule is drawn when the one before it is handed over.
func TestEndingKeepsTheLastMessageOfTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := benchWorkload(0.3, 40*time.Second, 1)
		w.Message.Size, w.Partitions = 64, 1
		endOnce(t, w, 33_333_333_334, 0)
	})
}

func endOnce(t *testing.T, w *workload.Workload, after, later time.Duration) {
	system := &noting{}
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), system); err != nil {
		t.Fatal(err)
	}
	start := clock.Now()
	course := begin(e, start)
	time.Sleep(after)
	now := clock.Now()
	window, ended := course.EndAt(now, now+int64(later))
	e.follow(window)
	endNs := window.EndNs
	if !ended {
		endNs = start + NewSchedule(w.Load, w.Warmup, w.Seed).EndNs()
	} else if endNs < now+int64(later) {
		t.Fatalf("ended %v before it should", time.Duration(now+int64(later)-endNs))
	}
	<-e.Sent()
	_, all := walk(NewSchedule(w.Load, w.Warmup, w.Seed).Cursor(0, 1))
	var want []int64
	for _, due := range all {
		if start+due < endNs {
			want = append(want, start+due)
		}
	}
	slices.Sort(system.dues)
	if !slices.Equal(system.dues, want) {
		t.Fatalf("%d messages were sent, %d were due before the end", len(system.dues), len(want))
	}
	f, due := e.counters(), course.DueBy(clock.Never)
	if f.Handed != due || f.Unsent != [2]int64{} {
		t.Fatalf("handed over %v, unsent %v, due %v", f.Handed, f.Unsent, due)
	}
	if len(e.failures) > 0 {
		t.Error(<-e.failures)
	}
	if err := e.Close(time.Second); err != nil {
		t.Error(err)
	}
}

// A message that two readers of a subscription received counts once.
func TestCopiesAreNotRead(t *testing.T) {
	w := benchWorkload(10, time.Second, 1)
	w.Partitions, w.Subscriptions, w.Consumers = 2, 2, 2
	w.Backlog = &workload.Backlog{Messages: 1, Then: workload.BacklogDrain}
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	for s := range 2 {
		for i := range 2 {
			e.readers.consumers = append(e.readers.consumers, e.newConsumer(0, s, i))
		}
	}
	var payload [workload.StampBytes]byte
	receive := func(reader, lane int, from, to int64) {
		for seq := from; seq < to; seq++ {
			stamp{run: 1, lane: uint32(lane), seq: seq}.put(payload[:])
			e.readers.consumers[reader].receive(system.Received{Payload: payload[:], Partition: -1})
		}
	}
	read := func() int64 {
		var c Counters
		c.ReceivedWithin = make([]int64, w.Subscriptions)
		c.FreshAt = make([]int64, w.AllSubscriptions())
		for _, one := range e.readers.consumers {
			one.countInto(&c)
		}
		return c.Read
	}
	receive(0, 0, 0, 10_000) // two pages and a part are full
	receive(1, 0, 8_000, 10_500)
	receive(1, 1, 0, 3)
	receive(2, 0, 0, 5)
	receive(3, 0, 5, 10)
	receive(3, 0, 5, 10) // received again by the same reader
	if got := read(); got != 10_500+3+10 {
		t.Errorf("%d were read, want 10,513", got)
	}
	receive(3, 0, 10, 20)
	if got := read(); got != 10_500+3+20 {
		t.Errorf("%d were read since, want 10,523", got)
	}
	var order int64
	for _, c := range e.readers.consumers {
		order += c.account().Reordered
	}
	if order != 0 {
		t.Errorf("%d copies count as out of order", order)
	}
}
