package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The other types of groups keep the contract too.
func TestGroupTypesConform(t *testing.T) {
	for kind := range newerTypes {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := sharedCluster(t)
			systemtest.Run(t, systemtest.Harness{
				System: New(), Receiving: true,
				Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, c, level, setGroupType, kind), c.Nodes()
				},
			})
		})
	}
}

// At most once a record is handled only if its acknowledgement was accepted.
func TestRefusedAcknowledgementsAreNotHandled(t *testing.T) {
	r := &sharer{refused: map[int32]bool{}}
	r.answered(nil, kgo.ShareAckResults{{Partition: 1, Err: errors.New("the lock is over")},
		{Partition: 2}})
	for _, want := range []int{2, 3} { // then nothing was refused since
		all := []*kgo.Record{{Partition: 1}, {Partition: 2}, {Partition: 2}}
		if got := r.accepted(all); len(got) != want || got[want-1].Partition != 2 {
			t.Errorf("%d records are handled, want %d", len(got), want)
		}
	}
}

// A type of groups that cannot do what is asked, or that the servers lack, is refused.
func TestGroupTypesAreChecked(t *testing.T) {
	for _, c := range []struct {
		kind, version string
		delivery      workload.Delivery
		want          string
	}{
		{groupShare, "4.2.0", workload.AtLeastOnce, ""},
		{groupShare, "4.2.0", workload.ExactlyOnce, "cannot deliver exactly_once: take classic"},
		{groupShare, "4.1.1", workload.AtLeastOnce,
			"share needs Kafka 4.2 or later, and version is 4.1.1"},
		{groupConsumer, "4.0.0", workload.ExactlyOnce, ""},
		{groupConsumer, "3.9.1", workload.AtLeastOnce,
			"consumer needs Kafka 4.0 or later, and version is 3.9.1"},
	} {
		s, err := system.Resolve(declared, []target.Setting{
			{Name: setGroupType, Value: c.kind}, {Name: system.SettingVersion, Value: c.version}})
		if err != nil {
			t.Fatal(err)
		}
		said := fmt.Sprint(New().Check(system.Check{Settings: s, Nodes: 3,
			Durability: workload.SyncAsync, Delivery: c.delivery}))
		if c.want == "" && said != "<nil>" || !strings.Contains(said, c.want) {
			t.Errorf("%s on %s, %s: %s", c.kind, c.version, c.delivery, said)
		}
	}
}

// The brokers give up a record that was given back five times.
func TestShareGroupsDropAPoisonedRecord(t *testing.T) {
	t.Parallel()
	c := connect(t, optionsOf(t, sharedCluster(t), workload.SyncAsync, setGroupType, groupShare))
	topic := systemtest.Topic(t, c, "poison", 1)
	const poison = "poison"
	var last string
	came := make(chan string, 100)
	k, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "poisoned", Delivery: workload.AtLeastOnce,
		Receive:  func(m system.Received) { last = string(m.Payload); came <- last },
		GiveBack: func() bool { return last == poison },
		Failed:   func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
	send := func(text string) {
		m := systemtest.NewTestMessage(text)
		p.Send(&m.Message)
		if err := m.Await(t); err != nil {
			t.Fatal(err)
		}
	}
	next := func() string {
		select {
		case text := <-came:
			return text
		case <-time.After(time.Minute):
			t.Fatal("nothing came for a minute")
			return ""
		}
	}
	send(poison)
	for range 5 {
		if got := next(); got != poison {
			t.Fatalf("%q came", got)
		}
	}
	send("after it")
	if got := next(); got != "after it" {
		t.Errorf("%q came a sixth time", got)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
