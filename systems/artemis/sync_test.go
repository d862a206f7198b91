package artemis

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The test delays syncs on either server and pauses the second, to see what an acknowledgement
// waits for.
func TestAcknowledgementWaitsFor(t *testing.T) {
	for _, c := range []struct {
		name                  string
		servers               *systemtest.Servers[*driver.Cluster]
		level                 workload.Level
		how                   string
		first, second, answer bool
	}{
		{"pair", shared, workload.SyncAsync, pair, false, false, true},
		{"mirror, level 1", secured, workload.SyncSync, mirror, true, true, true},
		{"mirror, level 3", detached, workload.AsyncSync, mirror, true, false, false},
		{"mirror, level 4", unsynced, workload.AsyncAsync, mirror, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			connected := connect(t, optionsOf(t, c.servers, c.level, setReplication, c.how))
			servers := c.servers.Get(t)
			topic := systemtest.Topic(t, connected, "waits", 1)
			_, err := connected.ReadDurability(t.Context(), []system.Topic{topic})
			if err != nil {
				t.Error(err)
			}
			p := systemtest.Producer(t, connected, topic, 0, workload.AtLeastOnce)
			pids := []int{servers.Nodes()[0].PID, servers.Nodes()[1].PID}
			systemtest.Acks(t, p)
			systemtest.CheckPauseWait(t, p, "the second server", c.answer, pids[1])
			systemtest.NeedDelays(t)
			systemtest.CheckSyncWait(t, p,
				systemtest.SyncWait{Of: "the first server", PIDs: pids[:1], Waits: c.first},
				systemtest.SyncWait{Of: "the second server", PIDs: pids[1:], Waits: c.second})
		})
	}
}
