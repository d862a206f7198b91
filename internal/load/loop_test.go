package load

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func closedWorkload(length time.Duration, producers int, c workload.Closed) *workload.Workload {
	w := benchWorkload(1, length, producers)
	w.Load, w.MaxInFlight, w.Message.Size = workload.Load{Closed: &c}, c.InFlight*c.Batch.Most, 64
	return w
}

// Whatever the system does and whenever the run is stopped, every message that was begun ends in
// exactly one counter, and no more sends are in flight than requested.
func TestClosedLoopEveryMessageEndsInOneCounter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		acts := []string{"now", "late", "error", "unknown", "block", "never"}
		h := &hostile{script: rapid.SliceOfN(rapid.SampledFrom(acts), 1, 8).Draw(rt, "script")}
		if slices.Equal(slices.Compact(slices.Clone(h.script)), []string{"now"}) {
			h.script[0] = "block" // virtual time must pass
		}
		least := rapid.IntRange(1, 4).Draw(rt, "least")
		c := workload.Closed{InFlight: rapid.IntRange(1, 3).Draw(rt, "sends"),
			Batch: workload.Batch{Least: least, Most: rapid.IntRange(least, 6).Draw(rt, "most")}}
		w := closedWorkload(300*time.Millisecond, rapid.IntRange(1, 3).Draw(rt, "producers"), c)
		w.Warmup = time.Duration(rapid.IntRange(0, 200).Draw(rt, "warmup ms")) * time.Millisecond
		stopAfter := time.Duration(rapid.IntRange(1, 700).Draw(rt, "stop ms")) * time.Millisecond
		synctest.Test(t, func(t *testing.T) { runHostileLoop(t, h, w, stopAfter) })
	})
}

func runHostileLoop(t *testing.T, h *hostile, w *workload.Workload, stopAfter time.Duration) {
	e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
	if err := e.Open(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	start := clock.Now()
	course := begin(e, start)
	halt(e, course, start+int64(w.Warmup+w.Duration+50*time.Millisecond))
	time.Sleep(stopAfter)
	halt(e, course, clock.Now())
	<-e.Sent()
	h.pending.Wait()
	f := e.counters()
	begun := f.Begun()
	for p := range begun {
		unknown := f.Handed[p] - f.Acked[p] - f.Failed[p]
		if sum := f.Acked[p] + f.Failed[p] + unknown + f.Unsent[p]; sum != begun[p] || unknown < 0 {
			t.Errorf("phase %d: acked %d + failed %d + unknown %d + unsent %d = %d, begun %d",
				p, f.Acked[p], f.Failed[p], unknown, f.Unsent[p], sum, begun[p])
		}
	}
	if most := int64(w.MaxInFlight * w.Producers); f.InFlight > most {
		t.Errorf("%d in flight, the bound is %d", f.InFlight, most)
	}
	if err := e.Close(time.Second); err != nil {
		t.Error(err)
	}
}

// A system that refuses at once does not get sends as fast as it refuses.
func TestClosedLoopPausesAfterAFailure(t *testing.T) {
	h := &hostile{script: []string{"error"}}
	w := closedWorkload(time.Second, 1,
		workload.Closed{InFlight: 1, Batch: workload.Batch{Least: 1, Most: 1}})
	synctest.Test(t, func(t *testing.T) {
		e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
		if err := e.Open(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		begin(e, clock.Now())
		<-e.Sent()
		if f := e.counters(); f.Failed[1] != int64(time.Second)/pauseNs {
			t.Errorf("%+v", f)
		}
		closeEngine(t, e)
	})
}

// Batch sizes are within their bounds, have the right mean, and are the same for the same seed.
func TestClosedLoopBatchSizes(t *testing.T) {
	seen, sum := map[int]int{}, 0
	l := loop{seed: mix(1), batch: workload.Batch{Least: 1, Most: 10}}
	const sends = 100_000
	for l.sends = range int64(sends) {
		n := l.size()
		if again := l.size(); again != n {
			t.Fatalf("send %d has %d messages, then %d", l.sends, n, again)
		}
		seen[n]++
		sum += n
	}
	if len(seen) != 10 || seen[1] < sends/11 || seen[10] < sends/11 {
		t.Errorf("%v", seen)
	}
	if mean := float64(sum) / sends; mean < 5.45 || mean > 5.55 {
		t.Errorf("the mean is %v", mean)
	}
}

// batches is a system that accepts a send in one call and answers late.
type batches struct {
	*hostile
	calls [][]int32 // the partitions of each
}

func (b *batches) SendBatch(batch []*system.Message) {
	var partitions []int32
	for _, m := range batch {
		partitions = append(partitions, m.Partition)
		b.Send(m)
	}
	b.calls = append(b.calls, partitions)
}

// A producer that accepts batches gets each send in one call.
func TestClosedLoopHandsBatchesOver(t *testing.T) {
	w := closedWorkload(time.Second, 1,
		workload.Closed{InFlight: 2, Batch: workload.Batch{Least: 3, Most: 3}})
	b := &batches{hostile: &hostile{script: []string{"late"}}}
	synctest.Test(t, func(t *testing.T) {
		e := New(Plan{Workload: *w, Run: 1, Prefix: "t"}, clock.Timers(), nil)
		if err := e.Open(t.Context(), &null{}); err != nil {
			t.Fatal(err)
		}
		e.producers[0].system = b
		begin(e, clock.Now())
		<-e.Sent()
		b.pending.Wait()
		cells := measure.NewCells(result.SendCall, result.Send)
		cells.Add(e.Collect())
		calls, sends := cells.Of(result.SendCall, measure.Measured).Histogram, cells.Of(result.Send,
			measure.Measured).Histogram
		// 7 ms a send, two at a time, for a second: 143 turns of two.
		if len(b.calls) != 286 || calls.TotalCount() != 286 || sends.TotalCount() != 3*286 {
			t.Errorf("%d calls, %d timed, %d messages", len(b.calls), calls.TotalCount(),
				sends.TotalCount())
		}
		if got := b.calls[1]; !slices.Equal(got, []int32{3, 4, 5}) {
			t.Errorf("the second send went to partitions %v", got)
		}
		closeEngine(t, e)
	})
}
