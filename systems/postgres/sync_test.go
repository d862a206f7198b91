package postgres

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

// sides returns the processes of the primary and of its standbys.
func sides(c *driver.Cluster) (primary int, standbys []int) {
	nodes := c.Nodes()
	for _, n := range nodes[1:] {
		standbys = append(standbys, n.PID)
	}
	return nodes[0].PID, standbys
}

// The test delays syncs on either side and pauses standbys, to see what an acknowledgement waits
// for.
func TestAcknowledgementWaitsFor(t *testing.T) {
	for level, want := range map[workload.Level]struct{ primary, standbys, answer bool }{
		workload.SyncSync:   {true, true, true},
		workload.SyncAsync:  {true, false, true}, // nothing is replicated before it is synced
		workload.AsyncSync:  {true, false, false},
		workload.AsyncAsync: {false, false, false},
	} {
		t.Run(fmt.Sprintf("level %d", level), func(t *testing.T) {
			c := connect(t, optionsOf(t, level, setRequest, "2s"))
			topic := systemtest.Topic(t, c, fmt.Sprintf("waits-%d", level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			primary, standbys := sides(clusterOf(t, level))
			t.Run("standbys", func(t *testing.T) {
				holdsWithPausedStandbys(t, p, standbys, want.answer)
			})
			t.Run("syncs", func(t *testing.T) {
				systemtest.NeedDelays(t)
				// One process of a standby writes and syncs in turn, so a message shortly after
				// another would wait for the other's sync.
				systemtest.CheckSyncWait(t, p,
					systemtest.SyncWait{Of: "the primary", PIDs: []int{primary},
						Waits: want.primary},
					systemtest.SyncWait{Of: "the standbys", PIDs: standbys, Waits: want.standbys,
						Space: 3 * systemtest.SyncDelay})
			})
		})
	}
}

// holdsWithPausedStandbys sends while one standby is paused, which delays no level, and while both
// are.
func holdsWithPausedStandbys(t *testing.T, p system.Producer, standbys []int, needed bool) {
	for i, pid := range standbys {
		defer systemtest.Pause(t, pid)()
		last := i == len(standbys)-1
		l := systemtest.NewTestMessage("replicated?")
		p.Send(&l.Message)
		err := l.Await(t)
		switch {
		case !last || !needed:
			if err != nil {
				t.Errorf("with %d standbys paused: %v", i+1, err)
			}
		case !errors.Is(err, system.ErrUnknown):
			t.Errorf("with both standbys paused: %v", err)
		}
	}
}

// A primary that stops waiting for its standbys answers with a success and a warning. Such a
// message is not acknowledged.
func TestCancelledWaitIsNoAcknowledgement(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setWake, "poll"))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "cancelled", 1), 0, workload.AtLeastOnce)
	_, standbys := sides(clusterOf(t, workload.SyncAsync))
	systemtest.Acks(t, p)
	defer systemtest.Pause(t, standbys...)()
	l := systemtest.NewTestMessage("replicated?")
	p.Send(&l.Message)
	err := driver.Until(t.Context(), 20*time.Millisecond, func() (bool, error) {
		rows, err := c.ask(t.Context(), "SELECT pg_cancel_backend(pid)::text FROM "+
			"pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%\"cancelled\"%'")
		return len(rows) == 0 && err == nil, err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = l.Await(t)
	if !errors.Is(err, system.ErrUnknown) ||
		!strings.Contains(err.Error(), "canceling wait for synchronous replication") {
		t.Errorf("got %v", err)
	}
}

// A producer that waits for its batch to fill has many messages in it.
func TestLingerFillsTheBatch(t *testing.T) {
	c := connect(t, optionsOf(t, workload.SyncAsync, setLinger, "50ms", setBatch, "10"))
	p := systemtest.Producer(t, c, systemtest.Topic(t, c, "lingers", 1), 0, workload.AtLeastOnce)
	if took := systemtest.Acks(t, p); took < 50*time.Millisecond {
		t.Errorf("a message alone did not linger: %s", took)
	}
}
