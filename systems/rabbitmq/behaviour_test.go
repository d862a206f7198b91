package rabbitmq

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Every type of exchange routes to the partitions.
func TestExchangeTypes(t *testing.T) {
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
			got := systemtest.NewBasket()
			systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			for i := range partitions {
				l := systemtest.NewLetter(fmt.Sprint(i))
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

// A message that no queue takes comes back and is a failure, not a success.
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
		taken, returned := systemtest.NewLetter("taken"), systemtest.NewLetter("returned")
		returned.Partition = 1
		p.Send(&returned.Message)
		p.Send(&taken.Message)
		if err := returned.Await(t); err == nil || errors.Is(err, system.ErrUnknown) || !strings.Contains(err.Error(), "no queue takes it") {
			t.Errorf("the message without a queue: %v", err)
		}
		if err := taken.Await(t); err != nil {
			t.Errorf("the message with a queue: %v", err)
		}
	}
}

// Settle shares the partitions out evenly, and what a consumer leaves goes to
// the others, in order.
func TestConsumersShareThePartitions(t *testing.T) {
	for _, kind := range []struct {
		name  string
		level workload.Level
	}{{quorum, workload.SyncSync}, {streamed, workload.SyncAsync}} {
		t.Run(kind.name, func(t *testing.T) {
			c := connect(t, optionsOf(t, sharedCluster(t), kind.level, setQueueType, kind.name))
			topic := systemtest.Topic(t, c, "shared-"+kind.name, 4)
			first, second := systemtest.NewBasket(), systemtest.NewBasket()
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
					l := systemtest.NewLetter(fmt.Sprintf("%s-%d", round, i))
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

// A node that is killed under load costs no message that was acknowledged, and
// the run goes on: clients go to another node, queues get another leader.
func TestKilledNodeLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a cluster, for about 25 s")
	}
	servers := provisionWith(t, workload.SyncSync)
	var loads []*load
	for _, kind := range []struct {
		name  string
		level workload.Level
	}{{quorum, workload.SyncSync}, {mirrored, workload.SyncSync}, {streamed, workload.SyncAsync}} {
		loads = append(loads, newLoad(t, servers, kind.name, kind.level))
	}
	for i := range 200 {
		for _, l := range loads {
			l.round(t, i)
		}
	}
	killed := time.Now()
	if err := syscall.Kill(servers.Nodes()[1].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Until every partition takes messages again, and some more.
	for i, more := 200, 100; more > 0 && time.Since(killed) < time.Minute; i++ {
		well := true
		for _, l := range loads {
			l.since = killed
			l.round(t, i)
			well = well && !slices.Contains(l.recovered, 0)
		}
		if well {
			more--
		}
	}
	for _, l := range loads {
		t.Logf("%s: %d acknowledged, others %v; partitions took messages %v after the kill", l.kind, len(l.acked), l.others, l.recovered)
		if slices.Contains(l.recovered, 0) {
			t.Errorf("%s: not every partition takes messages again", l.kind)
		}
		l.got.AwaitAll(t, l.acked...)
	}
}

// load is a producer and a consumer of one topic, both on the second node.
type load struct {
	kind      string
	topic     system.Topic
	producer  system.Producer
	got       *systemtest.Basket
	acked     []string
	others    map[string]int
	since     time.Time // when the node was killed
	recovered []time.Duration
}

func newLoad(t *testing.T, servers *provisionedCluster, kind string, level workload.Level) *load {
	t.Helper()
	c := connect(t, optionsOf(t, servers, level, setQueueType, kind))
	l := &load{kind: kind, topic: systemtest.Topic(t, c, "killed-"+kind, 3), got: systemtest.NewBasket(), others: make(map[string]int)}
	systemtest.Consumer(t, c, l.topic, 1, workload.AtLeastOnce, l.got)
	l.producer = systemtest.Producer(t, c, l.topic, 1, workload.AtLeastOnce)
	l.recovered = make([]time.Duration, l.topic.Partitions)
	return l
}

// round sends a message to each partition and notes their ends.
func (l *load) round(t *testing.T, number int) {
	t.Helper()
	all := make([]*systemtest.Letter, l.topic.Partitions)
	for partition := range all {
		all[partition] = systemtest.NewLetter(fmt.Sprintf("%d-%d", number, partition))
		all[partition].Partition = int32(partition)
		l.producer.Send(&all[partition].Message)
	}
	for partition, one := range all {
		name := string(one.Payload)
		switch err := one.Await(t); {
		case err == nil:
			l.acked = append(l.acked, name)
			if !l.since.IsZero() && l.recovered[partition] == 0 {
				l.recovered[partition] = time.Since(l.since)
			}
		case errors.Is(err, system.ErrUnknown):
			l.others["unknown"]++
		default:
			l.others[err.Error()]++
		}
	}
}
