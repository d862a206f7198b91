package rocketmq

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// pidsOf returns the processes of the master and of its slaves.
func pidsOf(c *provisioned) (master int, slaves []int) {
	for i, n := range c.Members() {
		switch {
		case i == 0:
			master = n.PID()
		case n.Name != namesNode:
			slaves = append(slaves, n.PID())
		}
	}
	return master, slaves
}

// The test delays syncs and pauses slaves, to see what an acknowledgement waits for. A slave does
// not sync before it answers, although its flushDiskType is SYNC_FLUSH, so level 1 is refused.
func TestAcknowledgementWaitsFor(t *testing.T) {
	for level, syncs := range map[workload.Level]bool{
		workload.SyncAsync: true, workload.AsyncSync: true, workload.AsyncAsync: false,
	} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			c := connect(t, optionsOf(t, level))
			topic := systemtest.Topic(t, c, fmt.Sprintf("waits-%d", level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			master, slaves := pidsOf(serversOf(level).Get(t))
			systemtest.Acks(t, p)
			all := []systemtest.SyncWait{{Of: "the master", PIDs: []int{master}, Waits: syncs}}
			if level == workload.SyncAsync {
				systemtest.CheckPauseWait(t, p, "a slave", false, slaves[0])
				systemtest.CheckPauseWait(t, p, "both slaves", true, slaves...)
				lateSlaves(t, p, slaves)
				all = append(all, systemtest.SyncWait{Of: "the slaves", PIDs: slaves})
			}
			systemtest.NeedDelays(t)
			systemtest.CheckSyncWait(t, p, all...)
		})
	}
}

// lateSlaves sends a message while no slave answers: the master says so, and the message is not
// acknowledged.
func lateSlaves(t *testing.T, p system.Producer, slaves []int) {
	t.Helper()
	resume := systemtest.Pause(t, slaves...)
	began, m := time.Now(), systemtest.NewTestMessage("replicated?")
	p.Send(&m.Message)
	err := m.Await(t)
	resume()
	if !errors.Is(err, system.ErrUnknown) || !strings.Contains(err.Error(), "code 12") {
		t.Errorf("with both slaves paused: %v", err)
	}
	t.Logf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
}
