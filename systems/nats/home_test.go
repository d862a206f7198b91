package nats

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// No two topics share a subject or a durable consumer, whatever their names, and only numbered
// topics share a stream.
func TestPartitionOf(t *testing.T) {
	s := settings(t, target.Setting{Name: setTopicsPerStream, Value: "10"})
	own, shared := ownHome("orders"), homeOf(s, "crowd-12")
	for subject, want := range map[string]int32{
		own.subject(0): 0, own.subject(99): 99, shared.subject(3): 3,
		"elsewhere": -1, "orders.": -1, "orders.-3": -1, "orders.99999999999": -1,
	} {
		if got := partitionOf(subject); got != want {
			t.Errorf("%s is of partition %d, want %d", subject, got, want)
		}
	}
	subject := own.subject(1234)
	if n := testing.AllocsPerRun(100, func() { partitionOf(subject) }); n > 0 {
		t.Errorf("reading a message's partition allocates %.0f times", n)
	}
}

func TestHomes(t *testing.T) {
	names := []string{"a", "a-0", "a-1", "a-2", "a-3", "a-00", "a--1", "a-1-1", "-1", "a-",
		"a-0-shared-0", "a-shared-0", "a-shared-0-0", "a.b-1", "a_b-1", "a-99999999999"}
	for _, each := range []int{1, 2, 1_000} {
		s := settings(t, target.Setting{Name: setTopicsPerStream, Value: strconv.Itoa(each)})
		holder := make(map[string]string)
		streams := make(map[string]bool)
		for _, name := range names {
			p := homeOf(s, name)
			streams[p.stream] = true
			for _, mine := range []string{p.subject(0), p.subject(11), p.stream + "/" +
				p.durable("s"), p.stream + "/" + p.durable("1-s")} {
				if other, taken := holder[mine]; taken {
					t.Errorf("%d to a stream: %s and %s share %s", each, name, other, mine)
				}
				holder[mine] = name
			}
			if strings.ContainsAny(p.stream, ". *>") {
				t.Errorf("%s: stream %q", name, p.stream)
			}
			if numbered := slices.Contains([]string{"a-0", "a-1", "a-2", "a-3", "a--1", "a-1-1",
				"a-0-shared-0", "a-shared-0", "a-shared-0-0", "a.b-1", "a_b-1"},
				name); p.shared() != (numbered && each > 1) {
				t.Errorf("%d to a stream: %s shares: %t", each, name, p.shared())
			}
		}
		if each == 1 && len(streams) != len(names) {
			t.Errorf("%d streams for %d topics", len(streams), len(names))
		}
	}
}

// topicsShareStreams puts five topics into three streams: each subscription gets the messages of
// its own topic, and a stream lives as long as one of its topics.
func topicsShareStreams(t *testing.T, e *embedded) {
	const total = 5
	s := settings(t, target.Setting{Name: setTopicsPerStream, Value: "2"})
	c := connect(t, optionsOf(e, workload.SyncAsync, s)).(*cluster)
	ctx := within(t, 60*time.Second)
	topics := make([]system.Topic, total)
	for i := range topics {
		topics[i] = system.Topic{Name: fmt.Sprintf("crowd-%d", i), Partitions: 2}
	}
	if err := system.Each(ctx, total, total, nil,
		func(ctx context.Context,
			i int) error {
			return c.CreateTopic(ctx, topics[i])
		}); err != nil {
		t.Fatal(err)
	}
	mustSay(t, c.CreateTopic(ctx, topics[1]), "crowd-shared-0 already")
	evidence, err := c.ReadDurability(ctx, topics)
	if err != nil {
		t.Fatal(err)
	}
	var where []string
	for _, f := range evidence.Facts {
		if f.Name == setReplicas {
			where = append(where, f.Where)
		}
	}
	if want := []string{"crowd-shared-0", "crowd-shared-1", "crowd-shared-2"}; !slices.Equal(where,
		want) {
		t.Errorf("read back from %v, want %v", where, want)
	}
	sharedStreamsDeliver(ctx, t, c, topics)
	sharedStreamsEnd(ctx, t, c, topics)
}

// sharedStreamsDeliver checks that each topic's subscriptions get its messages and no others.
func sharedStreamsDeliver(ctx context.Context, t *testing.T, c *cluster, topics []system.Topic) {
	t.Helper()
	for _, subscription := range []string{"early", "late"} {
		for i, topic := range topics {
			got := make(chan string, 10)
			r, err := c.OpenConsumer(ctx, system.ConsumerOptions{Topic: topic,
				Subscription: subscription, Delivery: workload.AtLeastOnce,
				Receive: func(m system.Received) { got <- string(m.Payload) },
				Failed:  func(err error) { t.Error(err) }})
			if err != nil {
				t.Fatal(err)
			}
			if subscription == "early" {
				sendTo(ctx, t, c, topic)
			}
			for partition := range topic.Partitions {
				select {
				case m := <-got:
					if want := fmt.Sprintf("%s/%d", topic.Name, partition); m != want {
						t.Errorf("%s, topic %d: got %q, want %q", subscription, i, m, want)
					}
				case <-ctx.Done():
					t.Fatalf("%s, topic %d: partition %d did not come", subscription, i, partition)
				}
			}
			if err := r.Close(ctx); err != nil {
				t.Error(err)
			}
			if len(got) > 0 {
				t.Errorf("%s, topic %d: %q too much", subscription, i, <-got)
			}
		}
	}
}

// sharedStreamsEnd checks that a stream is deleted with its last topic.
func sharedStreamsEnd(ctx context.Context, t *testing.T, c *cluster, topics []system.Topic) {
	t.Helper()
	lives := func(stream string) bool {
		_, err := c.js.Stream(ctx, stream)
		if err != nil && err != jetstream.ErrStreamNotFound {
			t.Fatal(err)
		}
		return err == nil
	}
	for i, want := range []bool{true, false, true, false, false} {
		if err := c.DeleteTopic(ctx, topics[i]); err != nil {
			t.Fatal(err)
		}
		if stream := fmt.Sprintf("crowd-shared-%d", i/2); lives(stream) != want {
			t.Errorf("topic %d is deleted: stream %s lives: %t", i, stream, !want)
		}
		if i == 0 {
			mustSay(t, c.CreateTopic(ctx, topics[0]), "was deleted")
			if err := c.DeleteTopic(ctx, topics[0]); err != nil {
				t.Errorf("deleted once more: %v", err)
			}
		}
	}
	if err := c.CreateTopic(ctx, topics[0]); err != nil {
		t.Errorf("when all of its stream are gone: %v", err)
	}
	if err := c.DeleteTopic(ctx, topics[0]); err != nil {
		t.Error(err)
	}
	mustSay(t, c.DeleteTopic(ctx, system.Topic{Name: "others-7", Partitions: 1}), "topic others-7",
		"others-shared-3")
}

// sendTo sends one message to each partition and waits for the answers.
func sendTo(ctx context.Context, t *testing.T, c system.Cluster, topic system.Topic) {
	t.Helper()
	p, err := c.OpenProducer(ctx, system.ProducerOptions{Topic: topic, InFlight: topic.Partitions})
	if err != nil {
		t.Fatal(err)
	}
	room := make(chan struct{}, topic.Partitions)
	all := make([]*outcome, topic.Partitions)
	for partition := range all {
		room <- struct{}{}
		o := &outcome{room: room}
		o.message.Partition = int32(partition)
		o.message.Payload = fmt.Appendf(nil, "%s/%d", topic.Name, partition)
		o.message.Bind(o)
		all[partition] = o
		p.Send(&o.message)
	}
	if err := p.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for partition, o := range all {
		if !o.acked.Load() {
			t.Fatalf("%s: partition %d was not acknowledged", topic.Name, partition)
		}
	}
}
