package artemis

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	systemtest.Checks(t, artemisSystem{}, []systemtest.Checked{
		{Level: workload.AsyncSync, Nodes: 3},
		{Level: workload.SyncAsync, Nodes: 2, Given: []string{setDatasync, "true"}},
		{Level: workload.SyncAsync, Given: []string{setReplication, mirror}},
		{Level: workload.SyncSync, Nodes: 3},
		{Level: workload.SyncSync, Nodes: 3, Given: []string{setReplication, pair},
			Says: []string{"a backup never syncs: take mirror"}},
		{Level: workload.SyncSync, Nodes: 3, Given: []string{setJournalType, nio},
			Says: []string{"cannot be NIO at level 1"}},
		{Level: workload.AsyncSync, Nodes: 3, Given: []string{setJournalType, nio},
			Says: []string{"answer before they sync"}},
		{Level: workload.AsyncSync, Given: []string{setReplication, zooKeeper},
			Says: []string{"a primary always waits for its backup"}},
		{Level: 5, Says: []string{"the levels are 1 to 4"}},
		{Level: workload.SyncAsync, Nodes: 1,
			Says: []string{"the testbed has 1 node, and durability level 2 needs 2 copies"}},
		{Level: workload.AsyncAsync, Nodes: 1},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{setReplication, mirror},
			Says: []string{"take 2 nodes"}},
		{Level: workload.AsyncAsync, Nodes: 2, Given: []string{setReplication, single},
			Says: []string{"the testbed has 2 nodes: take 1"}},
		{Level: workload.SyncSync, Given: []string{setReplication, single},
			Says: []string{"is a single copy, and durability level 1 needs 2 copies"}},
		{Level: workload.SyncAsync, Nodes: 4, Says: []string{"the testbed has 4 nodes"}},
		{Level: workload.AsyncAsync, Nodes: 3, Given: []string{setDatasync, "true"},
			Says: []string{"cannot be true at level 4"}},
		{Level: workload.SyncAsync, Given: []string{setHeap, "1GB"}, Says: []string{"these run already"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setHeap, "1MB"},
			Says: []string{"at least 128MB"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, artemisSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "no time-out"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
