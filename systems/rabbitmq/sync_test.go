package rabbitmq

import (
	"fmt"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// waits says what the confirm of a queue type at a level waits for.
type waits struct {
	kind              string
	level             workload.Level
	leader, followers bool // their syncs
	copies            bool // the followers themselves
}

// TestConfirmWaitsForSync delays the syncs of the leader, then those of the followers, then pauses
// the followers, to see what a confirm waits for. A quorum queue's majority does not need its
// leader's sync.
func TestConfirmWaitsForSync(t *testing.T) {
	servers := sharedCluster(t)
	for _, want := range []waits{
		{classic, workload.AsyncSync, true, false, false},
		{classic, workload.AsyncAsync, false, false, false},
		{mirrored, workload.SyncSync, true, true, true},
		{mirrored, workload.SyncAsync, false, false, true},
		{quorum, workload.SyncSync, false, true, true},
		{streamed, workload.SyncAsync, false, false, true},
	} {
		t.Run(fmt.Sprintf("%s at level %d", want.kind, want.level),
			func(t *testing.T) {
				needLevel(t, want.kind, want.level)
				want.hold(t, servers)
			})
	}
}

// hold checks a topic of one partition, whose leader is on the first node.
func (want waits) hold(t *testing.T, servers *driver.Cluster) {
	c := connect(t, optionsOf(t, servers, want.level, setQueueType, want.kind))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c,
		fmt.Sprintf("sync-%s-%d", want.kind, want.level), 1), 0, workload.AtLeastOnce)
	nodes := servers.Nodes()
	leader, followers := nodes[0].PID, []int{nodes[1].PID, nodes[2].PID}
	systemtest.Acks(t, p) // the first sends warm up
	systemtest.CheckPauseWait(t, p, "the followers", want.copies, followers...)
	systemtest.NeedDelays(t)
	systemtest.Acks(t, p) // the paused nodes have caught up
	systemtest.CheckSyncWait(t, p,
		systemtest.SyncWait{Of: "the leader", PIDs: []int{leader}, Waits: want.leader},
		systemtest.SyncWait{Of: "the followers", PIDs: followers, Waits: want.followers})
}

// TestQuorumWithoutSync checks that servers of level 2 give level 2 and not level 1.
func TestQuorumWithoutSync(t *testing.T) {
	servers := securedCluster(t)
	waits{quorum, workload.SyncAsync, false, false, true}.hold(t, servers)
	c := connect(t, optionsOf(t, servers, workload.SyncAsync, setQueueType, quorum))
	topic := systemtest.Topic(t, c, "level-two", 3)
	e, err := c.ReadDurability(t.Context(), []system.Topic{topic})
	if err != nil || e.Level != workload.SyncAsync {
		t.Errorf("read level %d: %v", e.Level, err)
	}
	strict := connect(t, optionsOf(t, servers, workload.SyncSync, setQueueType, quorum))
	_, err = strict.ReadDurability(t.Context(), []system.Topic{topic})
	systemtest.Refused(t, time.Now(), err, "durability level 1", noSyncFile)
}
