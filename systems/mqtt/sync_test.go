package mqtt

import (
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// An answer waits for no sync, also where messages are written to files, which are synced once a
// second: the level is 4 with all settings. The subscription has no consumer, so that each message
// stays in its queue.
func TestAcknowledgementWaitsForNoSync(t *testing.T) {
	for name, qos := range map[string]string{"QoS 1": "1", "QoS 2": "2"} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, optionsOf(t, shared, setPublishQoS, qos))
			topic := systemtest.Topic(t, c, "synced-"+qos, 1)
			r := systemtest.Consumer(t, c, topic, 0, workload.AtLeastOnce, systemtest.NewInbox())
			if err := r.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			systemtest.NeedDelays(t)
			systemtest.Acks(t, p) // the first sends warm up
			server := shared.Get(t).Nodes()[0].PID
			syncs := systemtest.Syncs(t, server, func() {
				for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
					systemtest.Acks(t, p)
				}
			})
			if !strings.Contains(syncs, "sync(") {
				t.Error("the server syncs nothing, so that an answer could wait for nothing")
			}
			t.Logf("%d syncs in 3s", strings.Count(syncs, "sync("))
			systemtest.CheckSyncWait(t, p, systemtest.SyncWait{Of: "the server",
				PIDs: []int{server}})
		})
	}
}
