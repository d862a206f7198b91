package rabbitmq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Every type of exchange routes to the partitions.
func TestExchangeTypes(t *testing.T) {
	needServer(t)
	systemtest.Ahead(shared, secured)
	servers := sharedCluster(t)
	for _, kind := range []string{direct, "topic", headers, fanout} {
		t.Run(kind, func(t *testing.T) {
			c := connect(t, optionsOf(t, servers, workload.AsyncAsync, setExchangeType, kind))
			partitions := 3
			if kind == fanout {
				partitions = 1
				err := c.CreateTopic(t.Context(), system.Topic{Name: "fans", Partitions: 2})
				systemtest.Refused(t, time.Now(), err, "one partition and not 2", "take direct")
			}
			topic := systemtest.Topic(t, c, "exchange-"+kind, partitions)
			got := systemtest.NewInbox()
			systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			for i := range partitions {
				l := systemtest.NewTestMessage(fmt.Sprint(i))
				l.Partition = int32(i)
				p.Send(&l.Message)
				if err := l.Await(t); err != nil {
					t.Fatal(err)
				}
				got.AwaitAll(t, fmt.Sprint(i))
			}
			if n := len(got.Contents()); n != partitions {
				t.Errorf("%d messages arrived of %d", n, partitions)
			}
		})
	}
}

// Queues are lazy, and have levels of priority, if the settings ask for it, and carry messages.
func TestLazyQueuesWithPriorities(t *testing.T) {
	needLevel(t, mirrored, workload.SyncAsync) // RabbitMQ 4 has neither mirrored nor lazy queues
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync, setQueueType, mirrored,
		setQueueMode, lazy, setMaxPriority, "5"))
	topic, got := systemtest.Topic(t, c, "lazy", 1), systemtest.NewInbox()
	systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
	m := systemtest.NewTestMessage("kept on disk")
	systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce).Send(&m.Message)
	if err := m.Await(t); err != nil {
		t.Fatal(err)
	}
	got.AwaitAll(t, "kept on disk")
	evidence, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{argQueueMode: lazy, argMaxPriority: "5"} {
		if !slices.ContainsFunc(evidence.Facts, func(f system.Fact) bool {
			return f.Name == name && f.Value == want
		}) {
			t.Errorf("no %s %s in %+v", name, want, evidence.Facts)
		}
	}
}

// A message that no queue takes is returned and counts as a failure.
func TestReturnedMessageFails(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.AsyncAsync, setChannels, "2"))
	topic := systemtest.Topic(t, c, "returned", 2)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	err := c.withChannel(t.Context(), 0, func(ch *amqp.Channel) error {
		return ch.QueueUnbind(queueName(topic, unread, 1), "1", topic.Name, nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		taken, returned := systemtest.NewTestMessage("taken"), systemtest.NewTestMessage("returned")
		returned.Partition = 1
		p.Send(&returned.Message)
		p.Send(&taken.Message)
		if err := returned.Await(t); err == nil || errors.Is(err, system.ErrUnknown) ||
			!strings.Contains(err.Error(), "no queue takes it") {
			t.Errorf("the message without a queue: %v", err)
		}
		if err := taken.Await(t); err != nil {
			t.Errorf("the message with a queue: %v", err)
		}
	}
}

// AwaitAssignment shares the partitions evenly, and the partitions of a closed consumer go to the
// others, in order.
func TestConsumersShareThePartitions(t *testing.T) {
	for _, kind := range []struct {
		name  string
		level workload.Level
	}{{quorum, workload.SyncSync}, {streamed, workload.SyncAsync}} {
		t.Run(kind.name, func(t *testing.T) {
			c := connect(t, optionsOf(t, sharedCluster(t), kind.level, setQueueType, kind.name))
			topic := systemtest.Topic(t, c, "shared-"+kind.name, 4)
			first, second := systemtest.NewInbox(), systemtest.NewInbox()
			a := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, first)
			b := systemtest.Consumer(t, c, topic, 1, workload.AtLeastOnce, second)
			for _, one := range []system.Consumer{a, b} {
				if err := one.(system.AssignmentWaiter).AwaitAssignment(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			send := func(round string) (all []string) {
				for i := range topic.Partitions {
					l := systemtest.NewTestMessage(fmt.Sprintf("%s-%d", round, i))
					l.Partition = int32(i)
					p.Send(&l.Message)
					if err := l.Await(t); err != nil {
						t.Fatal(err)
					}
					all = append(all, string(l.Payload))
				}
				return all
			}
			all := send("both")
			first.AwaitAll(t, all[0], all[2])
			second.AwaitAll(t, all[1], all[3])
			if err := a.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			second.AwaitAll(t, send("one")...)
			if n := len(first.Contents()); n != 2 {
				t.Errorf("the first consumer has %v", first.Contents())
			}
		})
	}
}

// After a write that failed, further messages wait for the next connection: only one is unknown.
func TestFailedWrite(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.AsyncAsync))
	topic := systemtest.Topic(t, c, "unwritten", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	w := p.(*producer).publishers[0].wire.Load()
	w.flushing.Lock()
	w.broken = true
	w.flushing.Unlock()
	for i := range 10 {
		m := systemtest.NewTestMessage(fmt.Sprint(i))
		p.Send(&m.Message)
		if err := m.Await(t); errors.Is(err, system.ErrUnknown) != (i == 0) {
			t.Errorf("message %d: %v", i, err)
		}
	}
}
