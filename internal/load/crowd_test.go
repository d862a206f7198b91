package load

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// manyTopics is a workload of many topics with a message each.
func manyTopics(topics int) *workload.Workload {
	w := benchWorkload(float64(topics), time.Second, 1)
	w.Topics, w.Partitions, w.MaxInFlight = topics, 1, 16
	return w
}

// BenchmarkCrowd opens a producer and a consumer of each of many topics, hands each a message,
// and reports the time of each step that goes through all of them, and the memory.
func BenchmarkCrowd(b *testing.B) {
	for _, topics := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("topics=%d", topics), func(b *testing.B) {
			took := make(map[string]time.Duration)
			timed := func(step string, do func()) {
				began := time.Now()
				do()
				took[step] += time.Since(began)
			}
			var live uint64
			for b.Loop() {
				live = crowdSteps(b, manyTopics(topics), timed)
			}
			for step, all := range took {
				b.ReportMetric(all.Seconds()*1e3/float64(b.N), step+"-ms")
			}
			b.ReportMetric(float64(live)/float64(topics), "B/topic")
		})
	}
}

func crowdSteps(
	b *testing.B, w *workload.Workload, timed func(string, func()),
) (live uint64) {
	plan := Plan{Workload: *w, Run: 1, Prefix: "bench", Alone: true}
	l := NewLocal(plan, Means{Clock: clock.Precise(), Name: "bench", Cluster: null{}})
	timed("open", func() {
		if err := l.Open(b.Context()); err != nil {
			b.Fatal(err)
		}
	})
	now := clock.Now()
	timed("offer", func() {
		w := NewCourse(&plan, now-int64(w.Duration), time.Hour).Window()
		if err := l.Start(w); err != nil {
			b.Fatal(err)
		}
		<-l.engine.Sent()
	})
	for i, p := range l.engine.producers {
		l.engine.consumers[i].receive(system.Received{Payload: p.flights[0].Payload})
	}
	timed("sample", func() { _, _ = l.Sample(true) })
	var account Account
	timed("account", func() {
		var err error
		if account, err = l.Account(); err != nil {
			b.Fatal(err)
		}
		if account, err = MergeAccounts(account); err != nil {
			b.Fatal(err)
		}
	})
	timed("judge", func() {
		ledger, _ := plan.Judge(account, Evidence{Passed: true})
		if ledger.Subscriptions[0].Received < int64(w.Topics)/2 {
			b.Fatalf("%+v", ledger)
		}
	})
	account = Account{}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	timed("close", func() {
		if err := l.Close(time.Minute); err != nil {
			b.Fatal(err)
		}
	})
	return m.HeapAlloc
}

// The producers of a pacer draw each gap of Poisson arrivals once, and agree with one walk
// through all messages: whichever part of the producers the pacer has.
func TestAPacerSharesTheDrawsOfItsProducers(t *testing.T) {
	const all = 7
	s := NewSchedule(workload.Load{Arrivals: workload.ArrivalsPoisson,
		Segments: []workload.Segment{{From: 500, To: 1500, For: time.Second}}}, 0, 7)
	_, dues := walk(s.Cursor(0, 1))
	for _, c := range []struct{ first, step, own int }{{2, 1, 3}, {0, 3, 3}, {1, 3, 2}, {6, 4, 1}} {
		turns := turnsOf(s, c.first, c.step, c.own, all)
		n := 0
		for {
			_, dueNs, _, ok := turns.next()
			if !ok {
				break
			}
			seq := turns.seq
			want := int64(n/c.own*all + c.first + n%c.own*c.step)
			if seq != want || dueNs != dues[seq] {
				t.Fatalf("%+v: turn %d is message %d due at %d, want %d at %d", c, n, seq, dueNs,
					want, dues[want])
			}
			n++
		}
		if least := len(dues) / all * c.own; n < least ||
			turns.cursor.drawn > int64(len(dues)+2*all) {
			t.Errorf("%+v: %d turns and %d draws of %d messages", c, n, turns.cursor.drawn,
				len(dues))
		}
	}
}

// turnsOf returns the turns of so many producers of all, every step-th from the first on.
func turnsOf(s *Schedule, first, step, own, all int) *turns {
	p := &pacer{schedule: s, producers: make([]*producer, own), first: int64(first),
		step: int64(step), all: int64(all), replaced: new(atomic.Pointer[Schedule])}
	p.replaced.Store(s)
	return newTurns(p)
}

// However many producers share a rate, no worker waits while the others offer: of the messages
// that follow one another, each has every so-many-th.
func TestWorkersOffer(t *testing.T) {
	const all = 1003
	s := NewSchedule(workload.Load{Arrivals: workload.ArrivalsConstant,
		Segments: []workload.Segment{{From: 1000, To: 1000, For: 3 * time.Second}}}, 0, 7)
	for _, workers := range []int{1, 2, 4, 7} {
		offers := make([]int, 3000) // the worker, plus 1, of each message
		for worker := range workers {
			share := Share{Worker: worker, Workers: workers}
			first, step, own := share.producers(all)
			turns := turnsOf(s, first, step, own, all)
			for _, _, _, ok := turns.next(); ok; _, _, _, ok = turns.next() {
				seq := turns.seq
				if offers[seq] != 0 {
					t.Fatalf("%d workers: message %d is offered twice", workers, seq)
				}
				offers[seq] = worker + 1
			}
		}
		last := make([]int, workers+1)
		for seq, worker := range offers {
			if worker == 0 || seq-last[worker] > 2*workers {
				t.Fatalf("%d workers: message %d is worker %d's, whose last one was %d", workers, seq,
					worker-1, last[max(worker, 0)])
			}
			last[worker] = seq
		}
	}
}

// Errors that differ by client do not make the result of a crowd large.
func TestErrorsOfACrowdAreBounded(t *testing.T) {
	counts := map[string]int64{"usual": 5, otherErrors: 2}
	for i := range 3 * maxMerged {
		counts[fmt.Sprintf("topic-%d: gone", i)] = 1
	}
	errs := errorsOf(counts)
	var sum int64
	for _, e := range errs {
		sum += e.Count
	}
	if len(errs) > maxMerged || sum != 3*maxMerged+7 {
		t.Errorf("%d errors that count %d, want at most %d that count %d", len(errs), sum,
			maxMerged, 3*maxMerged+7)
	}
	if errs[0].Message != otherErrors || errs[1].Message != "usual" {
		t.Errorf("%v come first", errs[:2])
	}
}
