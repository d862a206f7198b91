package systemtest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// awaitWithin bounds every wait for a letter's end or its arrival.
const awaitWithin = time.Minute

// Letter is a message that remembers its end.
type Letter struct {
	system.Message
	Transaction uint32 // that it was enlisted in; 0: in none
	ended       chan error
}

// Enlist keeps the number of the transaction.
func (l *Letter) Enlist(transaction uint32) { l.Transaction = transaction }

// Complete keeps the end.
func (l *Letter) Complete(err error) { l.ended <- err }

// NewLetter is a letter that says payload, to partition 0.
func NewLetter(payload string) *Letter {
	l := &Letter{ended: make(chan error, 2)} // a second end is a fault, and must not hang
	l.Payload = []byte(payload)
	l.Bind(l)
	return l
}

// Await is the letter's end.
func (l *Letter) Await(t testing.TB) error {
	t.Helper()
	select {
	case err := <-l.ended:
		return err
	case <-time.After(awaitWithin):
		t.Fatalf("a message did not end within %s", awaitWithin)
		return nil
	}
}

// EndedAgain says whether there was another end than the one awaited.
func (l *Letter) EndedAgain() bool { return len(l.ended) > 0 }

// Basket holds what arrived. Its methods may be called from any goroutine.
type Basket struct {
	mu   sync.Mutex
	all  []string
	came chan struct{}
}

// NewBasket is an empty one.
func NewBasket() *Basket { return &Basket{came: make(chan struct{}, 1)} }

// Add puts a payload in; it is a consumer's Receive.
func (b *Basket) Add(m system.Received) {
	b.mu.Lock()
	b.all = append(b.all, string(m.Payload))
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

// Contents are the payloads in the order in which they came.
func (b *Basket) Contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// Await waits until n payloads are there.
func (b *Basket) Await(t testing.TB, n int) {
	t.Helper()
	b.await(t, func() (missing int, first string) { return n - len(b.Contents()), "any" })
}

// AwaitAll waits until each of these is there.
func (b *Basket) AwaitAll(t testing.TB, wanted ...string) {
	t.Helper()
	b.await(t, func() (missing int, first string) {
		have := make(map[string]bool)
		for _, one := range b.Contents() {
			have[one] = true
		}
		gone := slices.DeleteFunc(slices.Clone(wanted), func(one string) bool { return have[one] })
		if len(gone) == 0 {
			return 0, ""
		}
		return len(gone), gone[0]
	})
}

func (b *Basket) await(t testing.TB, missing func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), awaitWithin)
	defer cancel()
	for {
		n, first := missing()
		if n <= 0 {
			return
		}
		select {
		case <-b.came:
		case <-ctx.Done():
			t.Fatalf("%d messages did not arrive, the first is %s", n, first)
		}
	}
}

// Topic makes a topic.
func Topic(t testing.TB, c system.Cluster, name string, partitions int) system.Topic {
	t.Helper()
	topic := system.Topic{Name: name, Partitions: partitions}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	return topic
}

// Producer opens a producer of small messages. The cluster's Close ends it.
func Producer(t testing.TB, c system.Cluster, topic system.Topic, index int,
	d workload.Delivery) system.Producer {
	t.Helper()
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, Index: index,
		InFlight: 100, MessageMax: 1024, Delivery: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Consumer opens a consumer of the topic's subscription s. The cluster's Close
// ends it.
func Consumer(t testing.TB, c system.Cluster, topic system.Topic, index int, d workload.Delivery,
	into *Basket) system.Consumer {
	t.Helper()
	r, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "s", Index: index, Delivery: d, Receive: into.Add,
		Failed: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// SendAndReceive holds that a message goes through a topic of its own.
func SendAndReceive(t testing.TB, c system.Cluster, name string) system.Topic {
	t.Helper()
	topic, got := Topic(t, c, name, 1), NewBasket()
	Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	l := NewLetter("hello")
	Producer(t, c, topic, 0, workload.AtLeastOnce).Send(&l.Message)
	if err := l.Await(t); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "hello")
	return topic
}
