package artemis

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// pausedFor is how long the second server stands still, less than any time-out.
const pausedFor = 500 * time.Millisecond

// It shows what the levels rest on: syncs are delayed on one server and the other, and the
// second one is paused.
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
			plain := systemtest.MedianAck(t, p)
			resume := systemtest.Pause(t, pids[1])
			time.AfterFunc(pausedFor, resume)
			paused := systemtest.Ack(t, p)
			t.Logf("acknowledged after %s; the second server paused for %s: %s", plain, pausedFor,
				paused)
			if waits := paused > pausedFor*8/10; waits != c.answer {
				t.Errorf("waits for the second server's answer: %v", waits)
			}
			resume()
			systemtest.NeedDelays(t)
			atFirst := systemtest.DelayedAck(t, p, pids[0])
			atSecond := systemtest.DelayedAck(t, p, pids[1])
			t.Logf("syncs delayed by %s at the first: %s; at the second: %s",
				systemtest.SyncDelay, atFirst, atSecond)
			if waits := systemtest.WaitedForSync(atFirst, plain); waits != c.first {
				t.Errorf("waits for the first server's sync: %v", waits)
			}
			if waits := systemtest.WaitedForSync(atSecond, plain); waits != c.second {
				t.Errorf("waits for the second server's sync: %v", waits)
			}
		})
	}
}
