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

// stopFor is how long nodes are stopped; the others do not miss them yet.
const stopFor = 1500 * time.Millisecond

// waits is what the confirm of a queue type at a level waits for.
type waits struct {
	kind              string
	level             workload.Level
	leader, followers bool // their syncs
	copies            bool // the followers themselves
}

// TestConfirmWaitsForSync delays the syncs of the leader, then those of the
// followers, then stops the followers, and looks at what the confirm waits for.
// It shows what the levels rest on. A quorum queue's majority can do without its
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
			func(t *testing.T) { want.hold(t, servers) })
	}
}

// hold looks at a topic of one partition, whose leader is on the first node.
func (want waits) hold(t *testing.T, servers *driver.Cluster) {
	c := connect(t, optionsOf(t, servers, want.level, setQueueType, want.kind))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c,
		fmt.Sprintf("sync-%s-%d", want.kind, want.level), 1), 0, workload.AtLeastOnce)
	nodes := servers.Nodes()
	leader, followers := nodes[0].PID, []int{nodes[1].PID, nodes[2].PID}
	systemtest.MedianAck(t, p) // the first sends warm up
	plain := systemtest.MedianAck(t, p)
	stopped := ackWhileStopped(t, p, followers)
	if got := stopped > stopFor*3/4; got != want.copies {
		t.Errorf("confirmed after %s with the followers stopped for %s; waits for them: %v",
			stopped, stopFor, got)
	}
	systemtest.NeedDelays(t)
	systemtest.MedianAck(t, p) // what was stopped has caught up
	atLeader := systemtest.DelayedAck(t, p, leader)
	atFollowers := systemtest.DelayedAck(t, p, followers...)
	t.Logf("confirmed after %s; leader's syncs delayed by %s: %s; followers': %s; followers "+
		"stopped for %s: %s",
		plain, systemtest.SyncDelay, atLeader, atFollowers, stopFor, stopped)
	if got := systemtest.WaitedForSync(atLeader, plain); got != want.leader {
		t.Errorf("waits for the leader's sync: %v", got)
	}
	if got := systemtest.WaitedForSync(atFollowers, plain); got != want.followers {
		t.Errorf("waits for the followers' syncs: %v", got)
	}
}

// ackWhileStopped sends one message while some processes are stopped.
func ackWhileStopped(t *testing.T, p system.Producer, pids []int) time.Duration {
	t.Helper()
	resume := systemtest.Pause(t, pids...)
	defer resume()
	timer := time.AfterFunc(stopFor, resume)
	defer timer.Stop()
	return systemtest.Ack(t, p)
}

// TestQuorumWithoutSync holds that servers of level 2 give what level 2 asks for, and not
// what level 1 does.
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
