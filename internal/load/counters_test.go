package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// How long a message takes on post, and its second copy.
const (
	postAnswers   = 4500 * time.Microsecond
	postDelivers  = 10500 * time.Microsecond
	postCopiesOne = 2 * time.Millisecond
)

// post is a system whose times and faults are known: of each hundred messages one is refused and
// one is never decided, which are not delivered, and of each ten one is delivered twice.
type post struct {
	null
	sync.Mutex
	sends   int
	readers []func(system.Received)
	asked   func(took time.Duration) // system.ProducerOptions.Answered
	pending sync.WaitGroup
}

func (p *post) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer, error) {
	p.Lock()
	defer p.Unlock()
	p.asked = o.Answered
	return p, nil
}

func (p *post) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	p.Lock()
	defer p.Unlock()
	p.readers = append(p.readers, o.Receive)
	return null{}, nil
}

func (p *post) Send(m *system.Message) {
	p.Lock()
	n := p.sends
	p.sends++
	p.Unlock()
	sent := system.Received{Payload: bytes.Clone(m.Payload), Partition: m.Partition}
	p.pending.Go(func() {
		time.Sleep(postAnswers)
		switch n % 100 {
		case 7:
			m.Done(errors.New("no"))
			return
		case 13:
			m.Done(fmt.Errorf("who knows: %w", system.ErrUnknown))
			return
		}
		m.Done(nil)
		p.asked(postAnswers / 2)
		time.Sleep(postDelivers - postAnswers)
		p.deliver(sent)
		if n%10 == 0 {
			time.Sleep(postCopiesOne)
			p.deliver(sent)
		}
	})
}

// deliver hands a message to the only consumer of each subscription, one message at a time.
func (p *post) deliver(m system.Received) {
	p.Lock()
	defer p.Unlock()
	for _, receive := range p.readers {
		receive(m)
	}
}

// posted offers 1,000 messages a second, for a warm-up of a second and a window of two, to two
// subscriptions, and hands over the worker's sample and account.
func posted(t *testing.T, check func(plan Plan, startNs int64, s Sample, a Account)) {
	synctest.Test(t, func(t *testing.T) {
		w := benchWorkload(1000, 2*time.Second, 2)
		w.Warmup, w.Subscriptions, w.Partitions, w.Message.Size = time.Second, 2, 4, 128
		plan := Plan{Workload: *w, Run: 1, Prefix: "t", Alone: true}
		p := &post{}
		one := NewLocal(plan, Means{Clock: clock.Virtual(), Name: "here", Cluster: p})
		if err := one.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := clock.Now()
		if err := one.Start(NewCourse(&plan, start, time.Hour).Window()); err != nil {
			t.Fatal(err)
		}
		<-one.engine.Sent()
		p.pending.Wait()
		s, err := one.Sample(true)
		if err != nil {
			t.Fatal(err)
		}
		if err := one.Close(time.Second); err != nil {
			t.Fatal(err)
		}
		a, err := one.Account()
		if err != nil {
			t.Fatal(err)
		}
		check(plan, start, s, a)
	})
}

// Every count of a sample is that of what the system did.
func TestASampleCountsWhatHappened(t *testing.T) {
	posted(t, func(_ Plan, start int64, s Sample, _ Account) {
		at := func(d time.Duration) int64 { return start + int64(d) }
		want := Counters{
			Handed: [2]int64{1000, 2000}, Acked: [2]int64{980, 1960}, Failed: [2]int64{10, 20},
			// Two subscriptions, and a copy of a tenth of all messages.
			Received: [2]int64{2 * (980 + 100), 2 * (1960 + 200)},
			Fresh:    2 * 2940, FreshAt: []int64{2940, 2940},
			AckedBytes: 2940 * 128, AckedWithin: 1960, BytesWithin: 1960 * 128,
			ReceivedWithin: []int64{1960, 1960}, FirstHandedNs: start,
			LastReceived: at(2999*time.Millisecond + postDelivers), Sent: true,
		}
		if found := difference(want, s.Counters); found != "" {
			t.Error("Counters" + found)
		}
		if s.Interval != 1 || s.Clock != "here" || s.FirstAckNs != at(postAnswers) ||
			s.LastAckNs != at(2999*time.Millisecond+postAnswers) {
			t.Errorf("interval %d on %q, acknowledgements from %v to %v", s.Interval, s.Clock,
				time.Duration(s.FirstAckNs-start), time.Duration(s.LastAckNs-start))
		}
	})
}

// Every latency is as long as the system made it, and belongs to the phase of its message.
func TestLatenciesAreThoseOfTheSystem(t *testing.T) {
	posted(t, func(_ Plan, _ int64, s Sample, _ Account) {
		series := slices.Concat(result.AllSeries, result.Beside)
		cells := measure.NewCells(series...)
		cells.Add(s.Histograms)
		for of, c := range map[result.Series]struct {
			warmup, measured int64
			long             time.Duration
		}{
			result.Publish:     {980, 1960, postAnswers},
			result.Send:        {980, 1960, postAnswers},
			result.LessOwnLag:  {980, 1960, postAnswers},
			result.Waited:      {10, 20, postAnswers},
			result.Request:     {0, 1960, postAnswers / 2},
			result.EndToEnd:    {2 * 980, 2 * 1960, postDelivers},
			result.Copies:      {2 * 100, 2 * 200, postDelivers + postCopiesOne},
			result.Lag:         {1000, 2000, 0},
			result.OwnLag:      {1000, 2000, 0},
			result.Redelivered: {},
			result.Twin:        {},
		} {
			for phase, want := range map[measure.Phase]int64{measure.Warmup: c.warmup,
				measure.Measured: c.measured} {
				h := cells.Of(of, phase).Histogram
				if n := h.TotalCount(); n != want {
					t.Errorf("%s has %d latencies in phase %d, want %d", of, n, phase, want)
					continue
				}
				for _, p := range []float64{1, 100} {
					ns := h.ValueAtPercentile(p)
					if want > 0 && math.Abs(float64(ns-int64(c.long))) > 0.001*float64(c.long) {
						t.Errorf("%s p%v is %v, want %v", of, p, time.Duration(ns), c.long)
					}
				}
			}
		}
	})
}

// The account has what was acknowledged and what came, by subscription, and the errors.
func TestAnAccountHasEveryMessage(t *testing.T) {
	posted(t, func(plan Plan, _ int64, _ Sample, a Account) {
		ledger, arrived := plan.Judge(a, Evidence{Passed: true})
		if !ledger.Accounted || arrived != 2*1960 || len(ledger.Subscriptions) != 2 {
			t.Fatalf("%d arrived of the window: %+v", arrived, ledger)
		}
		for _, l := range ledger.Subscriptions {
			if l.Acked != 2940 || l.Received != 2940 || l.Duplicate != 300 ||
				l.Lost+l.Unread+l.Unacked+l.Corrupt+l.Foreign+l.Misplaced+l.RefusedReceived != 0 {
				t.Errorf("%+v", l)
			}
		}
		if plan.Missing(a, 2) {
			t.Error("something is missing, and everything came")
		}
		slices.SortFunc(a.Errors, func(x, y result.Error) int { return len(x.Message) - len(y.Message) })
		if len(a.Errors) != 2 || a.Errors[0] != (result.Error{Message: "no", Count: 30}) ||
			a.Errors[1].Count != 30 {
			t.Errorf("errors %+v", a.Errors)
		}
		// By Little's law, 1,000 a second that take 4.5 ms each.
		if a.MeanInFlight < 4.2 || a.MeanInFlight > 4.8 {
			t.Errorf("%v in flight on average, want 4.5", a.MeanInFlight)
		}
	})
}

// Two readings of one process count once: the later one. Those of several processes add up, but for
// the longest pause.
func TestProcessesOfWorkersAddUp(t *testing.T) {
	early := Process{ID: "a", CPUSeconds: 1, GCCount: 2, GCPauseNs: 9, RSSBytes: 4, HeapBytes: 5,
		Goroutines: 6, CPULimitCores: 7, MemoryLimitBytes: 8, ThrottledNs: 10}
	late := Process{ID: "a", CPUSeconds: 10, GCCount: 20, GCPauseNs: 30, RSSBytes: 40,
		HeapBytes: 50, Goroutines: 60, CPULimitCores: 70, MemoryLimitBytes: 80, ThrottledNs: 100}
	other := Process{ID: "b", CPUSeconds: 100, GCCount: 200, GCPauseNs: 20, RSSBytes: 400,
		HeapBytes: 500, Goroutines: 600, CPULimitCores: 700, MemoryLimitBytes: 800,
		ThrottledNs: 1000}
	for _, order := range [][]Process{{early, late, other}, {late, other, early}} {
		var samples []Sample
		for _, p := range order {
			samples = append(samples, Sample{Processes: []Process{p}})
		}
		merged, err := MergeSamples(samples...)
		if err != nil {
			t.Fatal(err)
		}
		want := Process{CPUSeconds: 110, GCCount: 220, GCPauseNs: 30, RSSBytes: 440,
			HeapBytes: 550, Goroutines: 660, CPULimitCores: 770, MemoryLimitBytes: 880,
			ThrottledNs: 1100}
		if got := merged.Spent(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// What waits for consumers is what was acknowledged less what came first, of each subscription.
func TestTheBacklogOfASample(t *testing.T) {
	w := benchWorkload(1, time.Second, 1)
	w.Subscriptions = 3
	c := Counters{Acked: [2]int64{10, 20}, Fresh: 50}
	if got := c.Backlog(w); got != 40 {
		t.Errorf("%d wait, want 40", got)
	}
	c.Fresh = 91
	if got := c.Backlog(w); got != 0 {
		t.Errorf("%d wait after messages came before their acknowledgements", got)
	}
	c = Counters{Handed: [2]int64{1, 2}, Unsent: [2]int64{30, 40}}
	if got := c.Begun(); got != [2]int64{31, 42} {
		t.Errorf("%v were begun", got)
	}
}
