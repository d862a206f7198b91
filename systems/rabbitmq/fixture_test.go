package rabbitmq

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// post is a message that remembers its end.
type post struct {
	system.Message
	ended chan error
}

func (l *post) Complete(err error) { l.ended <- err }

func newPost(payload string) *post {
	l := &post{ended: make(chan error, 1)}
	l.Payload = []byte(payload)
	l.Bind(l)
	return l
}

// await is the message's end.
func (l *post) await(t testing.TB) error {
	t.Helper()
	select {
	case err := <-l.ended:
		return err
	case <-time.After(time.Minute):
		t.Fatal("a message did not end within a minute")
		return nil
	}
}

// topicOf makes a topic.
func topicOf(t testing.TB, c *cluster, name string, partitions int) system.Topic {
	t.Helper()
	topic := system.Topic{Name: name, Partitions: partitions}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	return topic
}

func producerOn(t testing.TB, c *cluster, topic system.Topic, index int) system.Producer {
	t.Helper()
	p, err := c.OpenProducer(t.Context(), system.ProducerOptions{Topic: topic, Index: index, InFlight: 100, MessageMax: 1024})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sendAndReceive holds that a message goes through a topic of its own.
func sendAndReceive(t *testing.T, c *cluster, name string) {
	t.Helper()
	topic := topicOf(t, c, name, 1)
	got := newBasket()
	openConsumer(t, c, topic, 0, got)
	l := newPost("hello")
	producerOn(t, c, topic, 0).Send(&l.Message)
	if err := l.await(t); err != nil {
		t.Fatal(err)
	}
	got.await(t, "hello")
}

func openConsumer(t testing.TB, c *cluster, topic system.Topic, index int, into *basket) system.Consumer {
	t.Helper()
	r, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "s", Index: index, Delivery: workload.AtLeastOnce, Receive: into.add, Failed: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// basket holds what arrived.
type basket struct {
	mu    sync.Mutex
	all   []string
	times map[string]int
	came  chan struct{}
}

func newBasket() *basket { return &basket{times: make(map[string]int), came: make(chan struct{}, 1)} }

func (b *basket) add(payload []byte) {
	b.mu.Lock()
	b.all = append(b.all, string(payload))
	b.times[string(payload)]++
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

func (b *basket) contents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// missing are those that did not arrive.
func (b *basket) missing(wanted []string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(wanted), func(one string) bool { return b.times[one] > 0 })
}

// await waits until all of these have arrived.
func (b *basket) await(t testing.TB, wanted ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	for {
		missing := b.missing(wanted)
		if len(missing) == 0 {
			return
		}
		select {
		case <-b.came:
		case <-ctx.Done():
			t.Fatalf("%d of %d messages did not arrive, the first is %s", len(missing), len(wanted), missing[0])
		}
	}
}
