package measure

import (
	"bytes"
	"encoding/gob"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
)

// The bitmap against a plain set.
func TestBitmapIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bitmap
		var pool pagePool
		model := map[int64]bool{}
		for range rapid.IntRange(0, 300).Draw(t, "operations") {
			from := rapid.Int64Range(0, 3*PageBits).Draw(t, "from")
			for seq := from; seq < from+rapid.Int64Range(1, 2000).Draw(t, "run"); seq++ {
				if fresh := b.add(seq, &pool); fresh == model[seq] {
					t.Fatalf("add(%d) says new: %v", seq, fresh)
				}
				model[seq] = true
			}
		}
		if b.count() != int64(len(model)) {
			t.Fatalf("count %d, want %d", b.count(), len(model))
		}
		for seq := range b.length() {
			if has := b.word(seq/64)>>(seq%64)&1 == 1; has != model[seq] {
				t.Fatalf("%d in the bitmap: %v", seq, has)
			}
		}
	})
}

// A stream without gaps must not cost memory by its length.
func TestFullPagesAreGivenBack(t *testing.T) {
	var b bitmap
	var pool pagePool
	for seq := range int64(1_000_000) {
		b.add(seq, &pool)
	}
	if pool.created > 2 {
		t.Errorf("%d pages were made for a stream in order", pool.created)
	}
	if b.bytes() > 5000 {
		t.Errorf("a million messages in order take %d bytes", b.bytes())
	}
}

// The account of one lane and any number of consumers, against counting.
func TestAccountCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "messages")
		consumers := rapid.IntRange(1, 3).Draw(t, "consumers")
		sent := NewSent(1)
		var arrived []*Arrived
		for range consumers {
			arrived = append(arrived, NewArrived(1))
		}
		var want result.SubscriptionLedger
		came := map[int64]int64{} // distinct messages from a number on
		for seq := range int64(n) {
			acked := rapid.IntRange(0, 20).Draw(t, "acked") > 0
			copies := rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 0, 2, 3}).Draw(t, "copies")
			if acked {
				sent.Acked(0, seq, 0, 0)
				want.Acked++
			}
			for range copies {
				arrived[rapid.IntRange(0, consumers-1).Draw(t, "consumer")].Received(0, seq,
					Arrival{})
			}
			switch {
			case copies == 0 && acked:
				want.Lost++
			case copies > 0:
				for from := range seq + 1 {
					came[from]++
				}
				want.Received++
				want.Duplicate += int64(copies - 1)
				if !acked {
					want.Unacked++
				}
			}
		}
		var got result.SubscriptionLedger
		from := int64(rapid.IntRange(0, n).Draw(t, "from"))
		counted := judged(&got, sent, arrived, from, func(int) LaneName { return LaneName{} })
		if counted != came[from] {
			t.Fatalf("%d messages arrived from %d on, want %d", counted, from, came[from])
		}
		got.LostRanges = nil
		if got.Acked != want.Acked || got.Received != want.Received || got.Lost != want.Lost ||
			got.Duplicate != want.Duplicate || got.Unacked != want.Unacked || got.Reordered != 0 {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// judged judges what was recorded of a producer and some consumers, after a journey over a
// wire.
func judged(
	into *result.SubscriptionLedger, sent *Sent, arrived []*Arrived, from int64,
	name func(int) LaneName,
) int64 {
	lanes := sent.Lanes(true)
	for i := range lanes {
		lanes[i].MeasuredFrom = from
	}
	var all []ArrivedAccount
	for _, a := range arrived {
		all = append(all, a.Account())
	}
	everythingMissingIsLost := Evidence{Audited: true}
	return Judge(into, overWire([]SentAccount{{Lanes: lanes}}), overWire(all),
		everythingMissingIsLost, name)
}

// overWire returns what another process gets.
func overWire[T any](sent T) (got T) {
	var wire bytes.Buffer
	err := errors.Join(gob.NewEncoder(&wire).Encode(sent), gob.NewDecoder(&wire).Decode(&got))
	if err != nil {
		panic(err)
	}
	return got
}

func TestLostRangesAreJoinedAndBounded(t *testing.T) {
	sent := NewSent(1)
	got := NewArrived(1)
	for seq := range int64(1000) {
		sent.Acked(0, seq, 0, 0)
		if seq%10 >= 3 {
			got.Received(0, seq, Arrival{})
		}
	}
	var l result.SubscriptionLedger
	judged(&l, sent, []*Arrived{got}, 0, func(int) LaneName { return LaneName{Topic: "t"} })
	if l.Lost != 300 || len(l.LostRanges) != maxRanges {
		t.Errorf("lost %d in %d ranges", l.Lost, len(l.LostRanges))
	}
	if r := l.LostRanges[1]; r.First != 10 || r.Last != 12 {
		t.Errorf("second range is %+v", r)
	}
}

// The order is that of a subscription, whichever of its consumers a message came to.
func TestReorderedIsWhatCameAfterALaterOne(t *testing.T) {
	order, consumers := NewOrder(2), []*Arrived{NewArrived(2), NewArrived(2)}
	receive := func(at, lane int, seq int64) {
		late := order.Late(lane, seq)
		consumers[at].Received(lane, seq,
			Arrival{Late: late, Elsewhere: late && consumers[1-at].Has(lane, seq)})
	}
	for i, seq := range []int64{0, 2, 1, 3, 3, 6, 5, 4} {
		receive(i%2, 0, seq)
	}
	receive(0, 1, 9) // another lane is another order
	receive(0, 0, 7)
	reordered := consumers[0].reordered + consumers[1].reordered
	var l result.SubscriptionLedger
	judged(&l, NewSent(2), consumers, 0, func(int) LaneName { return LaneName{} })
	if reordered != 1 || l.Reordered != 1 || l.Overtaken != 2 || l.Duplicate != 1 ||
		l.Received != 9 {
		t.Errorf("%d reordered, %+v", reordered, l)
	}
}

// Of consumers that receive at the same time, each number is new to the order once.
func TestOrderTakesEachNumberOnce(t *testing.T) {
	order := NewOrder(100)
	var fresh atomic.Int64
	var receiving sync.WaitGroup
	for range 4 {
		receiving.Go(func() {
			for seq := range int64(2000) {
				if !order.Late(99, seq) {
					fresh.Add(1)
				}
			}
		})
	}
	receiving.Wait()
	if n := fresh.Load(); n > 2000 || n < 1 || !order.Late(99, 1999) {
		t.Errorf("%d of 2000 numbers were new", n)
	}
}

func TestRecorderClampsAndCounts(t *testing.T) {
	r := NewRecorder(result.Publish, result.Send)
	r.Lock()
	r.Add(0, Measured, -5)
	r.Add(0, Measured, 2*result.HistogramMaxNs)
	r.Add(0, Warmup, 1000)
	r.Add(1, Measured, 2000)
	r.Unlock()
	into := NewCells(result.Send, result.Publish)
	all, spare := r.Collect(NewLive(result.Publish, result.Send))
	into.Add(all)
	c := into.Of(result.Publish, Measured)
	if c.Negative != 1 || c.Clamped != 1 || c.Histogram.TotalCount() != 2 {
		t.Errorf("negative %d, clamped %d, count %d", c.Negative, c.Clamped,
			c.Histogram.TotalCount())
	}
	if n := into.Of(result.Send, Measured).Histogram.TotalCount(); n != 1 {
		t.Errorf("send has %d", n)
	}
	if again, _ := r.Collect(spare); len(again) > 0 {
		t.Errorf("what was collected is still there: %+v", again)
	}
	if again, _ := r.Collect(NewLive(result.Publish, result.Send)); len(again) > 0 {
		t.Errorf("the spare holds %+v", again)
	}
	if into.Of(result.Lag, Measured) != nil {
		t.Error("cells of a series that is not held")
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r := NewRecorder(result.Publish)
	a, order := NewArrived(1), NewOrder(1)
	seq := int64(0)
	got := testing.AllocsPerRun(100_000, func() {
		r.Lock()
		r.Add(0, Measured, seq)
		a.Received(0, seq, Arrival{Late: order.Late(0, seq)})
		r.Unlock()
		seq++
	})
	if got != 0 {
		t.Errorf("%v allocations a message", got)
	}
}

// What came twice or late is named, also where the copies came to different
// consumers; what was lost has the times that its account keeps.
func TestEvidenceIsNamed(t *testing.T) {
	sent := NewSent(2)
	sent.KeepTimes(3)
	for seq := range int64(6) {
		sent.Acked(1, seq, 100+seq, 200+seq)
	}
	one, other, order := NewArrived(2), NewArrived(2), NewOrder(2)
	for _, seq := range []int64{0, 5, 4, 4} {
		one.Received(1, seq, Arrival{Late: order.Late(1, seq)})
	}
	other.Received(1, 5, Arrival{Late: true, Elsewhere: true})
	var l result.SubscriptionLedger
	name := func(lane int) LaneName { return LaneName{Partition: lane} }
	judged(&l, sent, []*Arrived{one, other}, 0, name)
	want := result.SubscriptionLedger{
		Acked: 6, Received: 3, Lost: 3, Duplicate: 2, Reordered: 1,
		// of 3 the times were not kept
		LostRanges: []result.Range{{Partition: 1, First: 1, Last: 3}},
		DuplicateRanges: []result.Range{{Partition: 1, First: 5, Last: 5},
			{Partition: 1, First: 4, Last: 4}},
		ReorderedRanges: []result.Range{{Partition: 1, First: 4, Last: 4}},
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("got %+v, want %+v", l, want)
	}
	l = result.SubscriptionLedger{}
	for seq := range int64(2) {
		sent.Acked(0, seq, 50+seq, 90-seq)
	}
	judged(&l, sent, []*Arrived{NewArrived(2)}, 0, name)
	if w := l.LostRanges[0].When; w == nil ||
		*w != (result.Span{FirstDueNs: 50, LastDueNs: 51, FirstAckNs: 89, LastAckNs: 90}) {
		t.Errorf("lost in %+v", w)
	}
}

// Whatever is recorded, the buckets hold what a histogram of the library would; and what
// several recorders hold adds up to what one would.
func TestBucketsAreThoseOfTheHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, all := NewCells(result.Publish), [][]Histogram{}
		want := result.NewHistogram()
		for range rapid.IntRange(1, 3).Draw(t, "recorders") {
			r := NewRecorder(result.Publish)
			for range rapid.IntRange(0, 80).Draw(t, "latencies") {
				ns := rapid.Int64Range(-1, 1<<rapid.IntRange(0, 43).Draw(t, "bits")).Draw(t, "ns")
				r.Add(0, Measured, ns)
				if err := want.RecordValue(max(0, min(ns, result.HistogramMaxNs))); err != nil {
					t.Fatal(err)
				}
			}
			held, _ := r.Collect(NewLive(result.Publish))
			all = append(all, overWire(held))
			if again, _ := r.Collect(NewLive(result.Publish)); len(again) > 0 {
				t.Fatalf("collected twice: %+v", again)
			}
		}
		one.Add(MergeHistograms(all...))
		if got := one.Of(result.Publish, Measured).Histogram; !got.Equals(want) {
			t.Fatalf("%d latencies, mean %v, max %d; want %d, %v, %d", got.TotalCount(), got.Mean(),
				got.Max(),
				want.TotalCount(), want.Mean(), want.Max())
		}
	})
}
