package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// relay hands each message to all subscriptions of its topic, unless a partition is configured
// otherwise.
type relay struct {
	null
	mu       sync.Mutex
	readers  map[string]map[string][]func(system.Received) // by topic and subscription
	sent     [][]byte
	refuse   map[int32]int // messages still to refuse
	lose     map[int32]int // deliveries still to lose
	silent   map[int32]bool
	blocking bool
	closed   chan struct{}
	once     sync.Once
}

func newRelay() *relay {
	return &relay{
		readers: make(map[string]map[string][]func(system.Received)), refuse: make(
			map[int32]int), lose: make(map[int32]int),
		silent: make(map[int32]bool), closed: make(chan struct{}),
	}
}

type relayProducer struct {
	*relay
	topic string
}

func (r *relay) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer, error) {
	return &relayProducer{r, o.Topic.Name}, nil
}

func (r *relay) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.readers[o.Topic.Name] == nil {
		r.readers[o.Topic.Name] = make(map[string][]func(system.Received))
	}
	r.readers[o.Topic.Name][o.Subscription] = append(r.readers[o.Topic.Name][o.Subscription],
		o.Receive)
	return null{}, nil
}

func (p *relayProducer) Close(context.Context) error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *relayProducer) Send(m *system.Message) {
	if p.blocking {
		<-p.closed
		m.Done(system.ErrUnknown)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, bytes.Clone(m.Payload))
	partition := m.Partition
	switch {
	case p.silent[partition]:
		return
	case p.refuse[partition] > 0:
		p.refuse[partition]--
		m.Done(errors.New("no leader"))
		return
	case p.lose[partition] > 0:
		p.lose[partition]--
	default:
		for _, sharing := range p.readers[p.topic] {
			sharing[int(partition)%len(sharing)](
				system.Received{Payload: m.Payload, Partition: partition})
		}
	}
	m.Done(nil)
}

// readied opens some workers on the relay and returns the result of Prove within a minute of
// virtual time.
func readied(
	t *testing.T, r *relay, w *workload.Workload, n int,
) (plan Plan, workers []Worker, sent int64, err error) {
	t.Helper()
	plan = Plan{Workload: *w, Run: 7, Prefix: "t"}
	for i := range n {
		plan.Share = Share{Worker: i, Workers: n}
		one := NewLocal(plan, Means{Clock: clock.Timers(), Cluster: r})
		if err := one.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		workers = append(workers, one)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ready, err := Prove(ctx, &plan, workers, nil)
	return plan, workers, ready.Messages, err
}

func crowdOf(topics, partitions, producers, subscriptions, consumers int) *workload.Workload {
	w := benchWorkload(100, time.Second, producers)
	w.Topics, w.Partitions, w.Subscriptions, w.Consumers = topics, partitions, subscriptions,
		consumers
	return w
}

func TestReadyProvesEveryPartitionToEverySubscription(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) { readyOf(t, workers) })
	}
}

// readyOf proves partitions with a number of workers, each with only some consumers of a
// subscription.
func readyOf(t *testing.T, n int) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay()
		r.refuse[3], r.lose[70] = 2, 1
		began := time.Now()
		plan, workers, sent, err := readied(t, r, crowdOf(3, 130, 2, 2, 3), n)
		if err != nil {
			t.Fatal(err)
		}
		// Two of partition 3 were refused, on whichever topics; one of partition 70
		// was lost, and only that one is sent again.
		if want := int64(3*130 + 2 + 1); sent != want || len(r.sent) != int(want) {
			t.Errorf("%d messages, %d seen: want %d", sent, len(r.sent), want)
		}
		if took := time.Since(began); took < resendAfter || took > 2*resendAfter+time.Second {
			t.Errorf("it took %s: want the time after which what is missing is sent again", took)
		}
		// Later copies do not count.
		for _, sharing := range r.readers["t-0"] {
			sharing[0](system.Received{Payload: r.sent[0]})
		}
		var accounts []Account
		for _, w := range workers {
			s, _ := w.Sample(true)
			s.Counters.ReceivedWithin, s.Counters.FreshAt = nil, nil
			if !reflect.DeepEqual(s.Counters, Counters{}) || len(s.Histograms) > 0 {
				t.Errorf("the proofs are in the counters: %+v", s)
			}
			a, _ := w.Account()
			accounts = append(accounts, a)
		}
		all, err := MergeAccounts(accounts...)
		if err != nil {
			t.Fatal(err)
		}
		ledger, _ := plan.Judge(all, Evidence{Passed: true})
		for _, s := range ledger.Subscriptions {
			if s.Foreign+s.Corrupt+s.Received+s.Duplicate+s.Acked != 0 {
				t.Errorf("the proofs are in the account: %+v", s)
			}
		}
	})
}

// A producer beyond the number of partitions proves one again.
func TestReadyUsesEveryProducer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, sent, err := readied(t, newRelay(), crowdOf(2, 3, 8, 1, 1), 1)
		if err != nil || sent != 16 {
			t.Errorf("%d messages, %v: want one of each producer", sent, err)
		}
	})
}

func TestReadyNamesWhatIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(r *relay)
		want string
	}{
		"no answer": {func(r *relay) { r.silent[4] = true },
			"partition 4 of topic t-0 does not acknowledge a message"},
		"refused every time": {func(r *relay) { r.refuse[4] = 1 << 30 }, "no leader"},
		"never delivered": {func(r *relay) { r.lose[4] = 1 << 30 },
			"partition 4 of topic t-0, read by subscription-0, has acknowledged a message that " +
				"has not arrived"},
		"Send hangs": {func(r *relay) { r.blocking = true },
			"of topic t-0 does not acknowledge a message"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRelay()
				c.set(r)
				_, _, _, err := readied(t, r, crowdOf(1, 6, 2, 1, 1), 1)
				if err == nil || !strings.Contains(err.Error(), c.want) ||
					!errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v: want that %s", err, c.want)
				}
			})
		})
	}
}

// If consumers open only when the backlog is complete, acknowledgements are the proof.
func TestReadyWithoutReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay()
		for p := range int32(5) {
			r.lose[p] = 1 << 30
		}
		w := crowdOf(1, 5, 1, 2, 1)
		w.Backlog = &workload.Backlog{Messages: 100, Then: workload.BacklogDrain}
		if _, _, sent, err := readied(t, r, w, 1); err != nil || sent != 5 {
			t.Errorf("%d messages, %v: want 5", sent, err)
		}
	})
}

// A failed consumer ends the wait.
func TestReadyHearsOfConsumersThatStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRelay()
		r.lose[0] = 1 << 30
		e := New(Plan{Workload: *crowdOf(1, 1, 1, 1, 1), Run: 7, Prefix: "t"}, clock.Timers(), nil)
		if err := e.Open(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		e.failed(errors.New("deleted"))
		_, err := e.Ready(t.Context(), nil, time.Second)
		if err == nil || !strings.Contains(err.Error(), "deleted") {
			t.Errorf("%v: want why the consumer stopped", err)
		}
	})
}

// Ten thousand clients of each kind hold no more histograms than sixteen.
func TestHistogramsOfACrowd(t *testing.T) {
	few, many := crowdOf(16, 1, 1, 1, 1), crowdOf(10_000, 1, 1, 1, 1)
	if a, b := Histograms(few), Histograms(many); a != b || a != 2*16*(5+2+3)+2*6 {
		t.Errorf("%d for 16 clients, %d for 10,000", a, b)
	}
}
