package pulsar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Messages arrive with every kind of setting that affects their way.
func TestWaysOfAMessage(t *testing.T) {
	servers := sharedCluster(t)
	for i, settings := range [][]string{
		{setSubscriptionType, exclusive},
		{setSubscriptionType, shared},
		{setSubscriptionType, keyShared},
		{setBatching, "false"},
		{setBatching, "false", setCompression, "lz4"},
		{setCompression, "lz4"},
		{setCompression, "zlib"},
		{setCompression, "zstd"},
		{setCompression, "snappy"},
		{setMaxPending, "1", setMemoryLimit, "1KB", setReceiverQueue, "1"},
		{setAckGroupTime, "0s", setConnections, "3"},
		{setRetention, none, setNamespace, "forgets", setEnsemble, "3"},
	} {
		t.Run(strings.Join(settings, " "), func(t *testing.T) {
			t.Parallel()
			c := connect(t, optionsOf(t, servers, workload.SyncAsync, settings...))
			topic := system.Topic{Name: fmt.Sprintf("way-%d", i), Partitions: 2}
			if err := c.CreateTopic(t.Context(), topic); err != nil {
				t.Fatal(err)
			}
			got := systemtest.NewInbox()
			r := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, got)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			var letters []*systemtest.TestMessage
			for n := range 50 {
				l := systemtest.NewTestMessage(fmt.Sprintf("%d %s", n, strings.Repeat("x", 100)))
				l.Partition, l.Key = int32(n%2), fmt.Appendf(nil, "key %d", n%5)
				letters = append(letters, l)
				p.Send(&l.Message)
			}
			for _, l := range letters {
				if err := l.Await(t); err != nil {
					t.Fatal(err)
				}
			}
			got.Await(t, 50)
			distinct := got.Contents()
			slices.Sort(distinct)
			if n := len(slices.Compact(distinct)); n != 50 {
				t.Errorf("%d different messages arrived of 50", n)
			}
			if err := errors.Join(p.Close(soon(t)), r.Close(soon(t)),
				c.DeleteTopic(soon(t), topic)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Connected consumers share the partitions evenly, and again after one has left.
func TestSettle(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync))
	topic := system.Topic{Name: "settles", Partitions: 5}
	if err := c.CreateTopic(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	var all []*consumer
	for i := range 3 {
		r, err := c.OpenConsumer(t.Context(),
			system.ConsumerOptions{Topic: topic, Subscription: "s", Index: i,
				Receive: func(system.Received) {}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.(*consumer))
	}
	for _, r := range all {
		if err := r.AwaitAssignment(soon(t)); err != nil {
			t.Fatal(err)
		}
	}
	if err := all[0].Close(soon(t)); err != nil {
		t.Fatal(err)
	}
	if err := all[1].AwaitAssignment(soon(t)); err != nil {
		t.Fatal(err)
	}
	g := all[1].group
	if a, b := g.Of(all[1]), g.Of(all[2]); a+b != 5 || max(a, b) != 3 {
		t.Errorf("%d and %d partitions", a, b)
	}
}

// When a topic is deleted while its producer sends, every message ends, exactly once.
func TestTopicThatIsDeletedAmidSending(t *testing.T) {
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync, setSendTimeout, "2s"))
	topic := systemtest.Topic(t, c, "vanishes", 1)
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	stop := make(chan struct{})
	ended := make(chan []*systemtest.TestMessage)
	go func() {
		var all []*systemtest.TestMessage
		for {
			select {
			case <-stop:
				ended <- all
				return
			default:
				l := systemtest.NewTestMessage("x")
				all = append(all, l)
				p.Send(&l.Message)
				time.Sleep(time.Millisecond)
			}
		}
	}()
	time.Sleep(200 * time.Millisecond)
	if err := c.DeleteTopic(soon(t), topic); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Second)
	close(stop)
	if err := p.Close(soon(t)); err != nil {
		t.Log(err)
	}
	failed := 0
	for _, l := range <-ended {
		if l.Await(t) != nil {
			failed++
		}
		if l.EndedAgain() {
			t.Error("a message ended twice")
		}
	}
	if failed == 0 {
		t.Error("every message was acknowledged")
	}
	t.Logf("%d messages failed", failed)
}
