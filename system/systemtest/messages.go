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

// awaitWithin bounds every wait for a message's result or arrival.
const awaitWithin = time.Minute

// TestMessage is a message that keeps its result.
type TestMessage struct {
	system.Message
	Transaction uint32 // the number that Enlist received; 0: none
	ended       chan error
}

// Enlist keeps the number of the message's transaction.
func (m *TestMessage) Enlist(transaction uint32) { m.Transaction = transaction }

// Complete keeps the result.
func (m *TestMessage) Complete(err error) { m.ended <- err }

// NewTestMessage returns a message to partition 0 with the payload.
func NewTestMessage(payload string) *TestMessage {
	m := &TestMessage{ended: make(chan error, 2)} // room for a second, wrong result
	m.Payload = []byte(payload)
	m.Bind(m)
	return m
}

// Await returns the result of the message.
func (m *TestMessage) Await(t testing.TB) error {
	t.Helper()
	select {
	case err := <-m.ended:
		return err
	case <-time.After(awaitWithin):
		t.Fatalf("a message did not end within %s", awaitWithin)
		return nil
	}
}

// EndedAgain reports whether there was a second result.
func (m *TestMessage) EndedAgain() bool { return len(m.ended) > 0 }

// Inbox holds the payloads that arrived. It is safe for concurrent use.
type Inbox struct {
	mu   sync.Mutex
	all  []string
	came chan struct{}
}

// NewInbox returns an empty inbox.
func NewInbox() *Inbox { return &Inbox{came: make(chan struct{}, 1)} }

// Add keeps the message's payload. It serves as a consumer's Receive.
func (b *Inbox) Add(m system.Received) {
	b.mu.Lock()
	b.all = append(b.all, string(m.Payload))
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

// Contents returns the payloads in the order of their arrival.
func (b *Inbox) Contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// Await waits until n payloads have arrived.
func (b *Inbox) Await(t testing.TB, n int) {
	t.Helper()
	b.await(t, func() (count int, first string) { return n - len(b.Contents()), "any" })
}

// AwaitAll waits until all wanted payloads have arrived.
func (b *Inbox) AwaitAll(t testing.TB, wanted ...string) {
	t.Helper()
	b.await(t, func() (count int, first string) {
		have := make(map[string]bool)
		for _, payload := range b.Contents() {
			have[payload] = true
		}
		missing := slices.DeleteFunc(slices.Clone(wanted),
			func(payload string) bool { return have[payload] })
		if len(missing) == 0 {
			return 0, ""
		}
		return len(missing), missing[0]
	})
}

func (b *Inbox) await(t testing.TB, missing func() (int, string)) {
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

// Topic creates a topic.
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
	into *Inbox) system.Consumer {
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

// SendAndReceive creates a topic and checks that a message passes through it.
func SendAndReceive(t testing.TB, c system.Cluster, name string) system.Topic {
	t.Helper()
	topic, got := Topic(t, c, name, 1), NewInbox()
	Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	m := NewTestMessage("hello")
	Producer(t, c, topic, 0, workload.AtLeastOnce).Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "hello")
	return topic
}
