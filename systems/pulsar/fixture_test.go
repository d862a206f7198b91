package pulsar

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// letter is a message that remembers its end.
type letter struct {
	system.Message
	ended chan error
}

func (l *letter) Complete(err error) { l.ended <- err }

func newLetter(payload string) *letter {
	l := &letter{ended: make(chan error, 2)}
	l.Payload = []byte(payload)
	l.Bind(l)
	return l
}

// await is the message's end.
func (l *letter) await(t testing.TB) error {
	t.Helper()
	select {
	case err := <-l.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("a message did not end within a minute")
		return nil
	}
}

// topicOf makes a topic of one partition.
func topicOf(t testing.TB, c *cluster, name string) system.Topic {
	t.Helper()
	topic := system.Topic{Name: name, Partitions: 1}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	return topic
}

func producerOn(t testing.TB, c *cluster, topic system.Topic, d workload.Delivery) system.Producer {
	t.Helper()
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, InFlight: 100, MessageMax: 1024, Delivery: d})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sendAndReceive holds that a message goes through a topic of its own.
func sendAndReceive(t *testing.T, c *cluster, name string) system.Topic {
	t.Helper()
	topic := topicOf(t, c, name)
	got := newBasket()
	openConsumer(t, c, topic, workload.AtLeastOnce, got)
	l := newLetter("hello")
	producerOn(t, c, topic, workload.AtLeastOnce).Send(&l.Message)
	if err := l.await(t); err != nil {
		t.Fatal(err)
	}
	got.await(t, 1)
	return topic
}

func openConsumer(t testing.TB, c *cluster, topic system.Topic, d workload.Delivery, into *basket) system.Consumer {
	t.Helper()
	r, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "s", Delivery: d, Receive: into.add, Failed: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// basket holds what arrived.
type basket struct {
	mu   sync.Mutex
	all  []string
	came chan struct{}
}

func newBasket() *basket { return &basket{came: make(chan struct{}, 1)} }

func (b *basket) add(payload []byte) {
	b.mu.Lock()
	b.all = append(b.all, string(payload))
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

func (b *basket) contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.all...)
}

// await waits until n messages arrived.
func (b *basket) await(t testing.TB, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for len(b.contents()) < n {
		select {
		case <-b.came:
		case <-ctx.Done():
			t.Fatalf("%d of %d messages arrived", len(b.contents()), n)
		}
	}
}
