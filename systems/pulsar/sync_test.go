package pulsar

import (
	"fmt"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// TestAcknowledgementWaitsForSync delays the syncs of one, two and all three bookies of a
// partition's ledger, to see how many of them an acknowledgement waits for.
func TestAcknowledgementWaitsForSync(t *testing.T) {
	systemtest.NeedJava(t)
	systemtest.NeedDelays(t)
	for _, one := range []struct {
		level workload.Level
		slow  []bool // with one, two and three slow bookies: does it wait
	}{
		{workload.SyncSync, []bool{false, true, true}},
		{workload.SyncAsync, []bool{false, false, false}},
		{workload.AsyncSync, []bool{false, false, true}},
		{workload.AsyncAsync, []bool{false, false, false}},
	} {
		t.Run(fmt.Sprintf("level %d", one.level), func(t *testing.T) {
			servers := clusterAt(t, one.level)
			c := connect(t, optionsOf(t, servers, one.level))
			topic := systemtest.Topic(t, c, fmt.Sprintf("sync-%d", one.level), 1)
			p := systemtest.Producer(t, c, topic, 0, workload.AtLeastOnce)
			systemtest.Acks(t, p) // the first sends make connections
			bookies := ensemblePIDs(t, c, servers, topic)
			var all []systemtest.SyncWait
			for i, waits := range one.slow {
				all = append(all, systemtest.SyncWait{Of: fmt.Sprintf("%d bookies", i+1),
					PIDs: bookies[:i+1], Waits: waits})
			}
			systemtest.CheckSyncWait(t, p, all...)
		})
	}
}

// ensemblePIDs returns the processes of the bookies that hold the partition's ledger.
func ensemblePIDs(t *testing.T, c *cluster, servers *driver.Cluster, topic system.Topic) []int {
	t.Helper()
	l, err := c.readLedger(soon(t), topic, 0)
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, n := range ofKind(servers, bookieNames) {
		if slices.Contains(l.bookies, n.Address) {
			pids = append(pids, n.PID())
		}
	}
	if len(pids) != 3 {
		t.Fatalf("the ledger is on %v, of which %d are known", l.bookies, len(pids))
	}
	return pids
}
