package rabbitmq

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The tests of this file break the shared cluster, so they run last.

// Killing a node under load loses no acknowledged message, and the run goes on: clients go to
// another node, and queues get another leader.
func TestKilledNodeLosesNothing(t *testing.T) {
	needServer(t)
	servers := shared.Take(t)
	var loads []*load
	for _, kind := range []struct {
		name  string
		level workload.Level
	}{{quorum, workload.SyncSync}, {mirrored, workload.SyncSync}, {streamed, workload.SyncAsync}} {
		if len(levelsOf(t, plan{kind: kind.name}, kind.level)) == 0 {
			continue
		}
		loads = append(loads, newLoad(t, servers, kind.name, kind.level))
	}
	together(t, "before", loads, func(t *testing.T, l *load) {
		for i := range 200 {
			l.round(t, i)
		}
	})
	killed := time.Now()
	if err := syscall.Kill(servers.Nodes()[1].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// Until every partition accepts messages again, and a while longer.
	together(t, "after", loads, func(t *testing.T, l *load) {
		l.since = killed
		for i, more := 200, 100; more > 0 && time.Since(killed) < time.Minute; i++ {
			if l.round(t, i); !slices.Contains(l.recovered, 0) {
				more--
			}
		}
	})
	for _, l := range loads {
		t.Logf("%s: %d acknowledged, others %v; partitions took messages %v after the kill", l.kind,
			len(l.acked), l.others, l.recovered)
		if slices.Contains(l.recovered, 0) {
			t.Errorf("%s: not every partition takes messages again", l.kind)
		}
		l.got.AwaitAll(t, l.acked...)
	}
}

// together calls do for all loads at the same time.
func together(t *testing.T, name string, loads []*load, do func(*testing.T, *load)) {
	t.Run(name, func(t *testing.T) {
		for _, l := range loads {
			t.Run(l.kind, func(t *testing.T) {
				t.Parallel()
				do(t, l)
			})
		}
	})
}

// load is a producer and a consumer of one topic, both on the second node.
type load struct {
	kind      string
	topic     system.Topic
	producer  system.Producer
	got       *systemtest.Inbox
	acked     []string
	others    map[string]int
	since     time.Time // when the node was killed
	recovered []time.Duration
}

func newLoad(t *testing.T, servers *driver.Cluster, kind string, level workload.Level) *load {
	t.Helper()
	c := connect(t, optionsOf(t, servers, level, setQueueType, kind))
	l := &load{kind: kind, topic: systemtest.Topic(t, c, "killed-"+kind, 3),
		got: systemtest.NewInbox(), others: make(map[string]int)}
	systemtest.Consumer(t, c, l.topic, 1, workload.AtLeastOnce, l.got)
	l.producer = systemtest.Producer(t, c, l.topic, 1, workload.AtLeastOnce)
	l.recovered = make([]time.Duration, l.topic.Partitions)
	return l
}

// round sends a message to each partition and records their results.
func (l *load) round(t *testing.T, number int) {
	t.Helper()
	all := make([]*systemtest.TestMessage, l.topic.Partitions)
	for partition := range all {
		all[partition] = systemtest.NewTestMessage(fmt.Sprintf("%d-%d", number, partition))
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
