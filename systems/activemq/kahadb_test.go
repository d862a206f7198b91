package activemq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A single broker syncs its journal before the acknowledgement exactly if the level asks for it.
func TestKahaDBWaitsForItsJournal(t *testing.T) {
	for name, one := range map[string]struct {
		servers *testServers
		waits   bool
	}{"always": {secured, true}, "periodic": {alone, false}} {
		t.Run(name, func(t *testing.T) {
			systemtest.NeedDelays(t)
			c := connect(t, optionsOf(t, one.servers))
			topic := systemtest.Topic(t, c, "waits-"+name, 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			systemtest.CheckSyncWait(t, p, systemtest.SyncWait{Of: "the broker",
				PIDs: []int{one.servers.Get(t).Nodes()[0].PID}, Waits: one.waits})
			e, err := c.ReadDurability(t.Context(), []system.Topic{topic})
			if err != nil || e.Level != one.servers.Level {
				t.Errorf("%+v, %v", e, err)
			}
		})
	}
}

// A topic that is a queue has one subscription.
func TestPlainQueue(t *testing.T) {
	c := connect(t, optionsOf(t, alone, setDestination, plainQueue))
	topic := systemtest.SendAndReceive(t, c, "plain")
	_, err := c.OpenConsumer(t.Context(), system.ConsumerOptions{
		Topic: topic, Subscription: "another", Delivery: workload.AtLeastOnce,
		Receive: func(system.Received) {},
	})
	if err == nil {
		t.Error("a second subscription was opened")
	}
	t.Log(err)
}
