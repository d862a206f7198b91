package kafka

import (
	"fmt"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// TestAcknowledgementWaitsForSync delays the syncs of the leader, then those of the followers, and
// checks which of them an acknowledgement waits for. At level 3 it waits for the leader's sync
// only.
func TestAcknowledgementWaitsForSync(t *testing.T) {
	servers := sharedCluster(t)
	systemtest.NeedDelays(t)
	for level, want := range map[workload.Level]struct{ leader, followers bool }{
		workload.SyncSync:   {true, true},
		workload.SyncAsync:  {false, false},
		workload.AsyncSync:  {true, false},
		workload.AsyncAsync: {false, false},
	} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			c := connect(t, optionsOf(t, servers, level, setLinger, "0s"))
			topic := systemtest.Topic(t, c, fmt.Sprintf("sync-%d", level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			leader, followers := sides(t, c, servers, topic)
			systemtest.Acks(t, p) // the first sends make connections
			systemtest.CheckSyncWait(t, p,
				systemtest.SyncWait{Of: "the leader", PIDs: []int{leader}, Waits: want.leader},
				systemtest.SyncWait{Of: "the followers", PIDs: followers, Waits: want.followers})
		})
	}
}

// sides returns the processes of the partition's leader and of its followers.
func sides(
	t *testing.T, c *cluster, servers *driver.Cluster, topic system.Topic,
) (leader int, followers []int) {
	t.Helper()
	details, err := c.admin.ListTopics(t.Context(), topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range servers.Nodes() {
		if int32(i+1) == details[topic.Name].Partitions[0].Leader {
			leader = n.PID
		} else {
			followers = append(followers, n.PID)
		}
	}
	return leader, followers
}
