package redis

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// sides returns the processes of the primary and of its replicas.
func sides(c *driver.Cluster) (primary int, replicas []int) {
	nodes := c.Nodes()
	for _, n := range nodes[1:] {
		replicas = append(replicas, n.PID)
	}
	return nodes[0].PID, replicas
}

// The test delays syncs on either side and pauses replicas, to see what an acknowledgement waits
// for.
func TestAcknowledgementWaitsFor(t *testing.T) {
	for level, want := range map[workload.Level]struct{ primary, replicas, answer bool }{
		workload.SyncSync:   {true, true, true},
		workload.SyncAsync:  {false, false, true},
		workload.AsyncSync:  {true, false, false},
		workload.AsyncAsync: {false, false, false},
	} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			c := connect(t, optionsOf(t, level, setWaitTimeout, "500ms"))
			topic := systemtest.Topic(t, c, fmt.Sprintf("waits-%d", level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			primary, replicas := sides(clusterOf(t, level))
			t.Run("replicas", func(t *testing.T) {
				holdsWithPausedReplicas(t, p, replicas, want.answer)
			})
			t.Run("syncs", func(t *testing.T) {
				systemtest.NeedDelays(t)
				systemtest.CheckSyncWait(t, p,
					systemtest.SyncWait{Of: "the primary", PIDs: []int{primary},
						Waits: want.primary},
					systemtest.SyncWait{Of: "the replicas", PIDs: replicas, Waits: want.replicas})
			})
		})
	}
}

// holdsWithPausedReplicas sends while one replica is paused, which delays no level, and while both
// are.
func holdsWithPausedReplicas(t *testing.T, p system.Producer, replicas []int, needed bool) {
	for i, pid := range replicas {
		defer systemtest.Pause(t, pid)()
		last := i == len(replicas)-1
		l := systemtest.NewTestMessage("replicated?")
		p.Send(&l.Message)
		err := l.Await(t)
		const says = "WAIT ended after 500ms (wait_timeout) with 0 of 1 replicas"
		switch {
		case !last || !needed:
			if err != nil {
				t.Errorf("with %d replicas paused: %v", i+1, err)
			}
		case !errors.Is(err, system.ErrUnknown) || !strings.Contains(err.Error(), says):
			t.Errorf("with both replicas paused: %v", err)
		}
	}
}

// With wait_for=all, WAIT waits for every replica.
func TestWaitForAll(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setWaitTimeout, "300ms", setWaitFor, "all"))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "waits-all", 1), 0, workload.AtLeastOnce)
	_, replicas := sides(clusterOf(t, workload.SyncAsync))
	systemtest.Acks(t, p)
	defer systemtest.Pause(t, replicas[0])()
	l := systemtest.NewTestMessage("replicated?")
	p.Send(&l.Message)
	err := l.Await(t)
	if !errors.Is(err, system.ErrUnknown) || !strings.Contains(err.Error(), "1 of 2 replicas") {
		t.Errorf("got %v", err)
	}
}

// A producer that waits for its pipeline to fill has many messages in it.
func TestLingerFillsThePipeline(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setLinger, "50ms", setPipeline, "10"))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "lingers", 1), 0, workload.AtLeastOnce)
	if took := systemtest.Acks(t, p); took < 50*time.Millisecond {
		t.Errorf("a message alone did not linger: %s", took)
	}
}
