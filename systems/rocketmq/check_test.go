package rocketmq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	systemtest.Checks(t, rocketSystem{}, []systemtest.Checked{
		{Level: workload.SyncAsync, Nodes: 3},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{setFlush, syncFlush}},
		{Level: workload.AsyncSync, Nodes: 1},
		{Level: workload.AsyncAsync, Nodes: 2},
		{Level: workload.SyncSync, Nodes: 3, Says: []string{"one disk and one memory"}},
		{Level: workload.SyncAsync, Nodes: 1,
			Says: []string{"the testbed has 1 node, and durability level 2 needs 3 copies"}},
		{Level: workload.SyncAsync, Nodes: 2, Given: []string{setReplication, "2"},
			Says: []string{"is 2, and durability level 2 needs 3 copies or more"}},
		{Level: workload.SyncAsync, Nodes: 4,
			Says: []string{"asks for 3 servers, one of them the primary"}},
		{Level: workload.AsyncAsync, Nodes: 1, Given: []string{setFlush, syncFlush},
			Says: []string{"cannot be SYNC_FLUSH at level 4"}},
		{Level: workload.SyncAsync, Given: []string{setHeap, "1GB"},
			Says: []string{"these run already"}},
		{Level: workload.SyncAsync, Nodes: 3, Given: []string{
			setLinger, "2m", setBatch, "0", setPollTimeout, "0s", setHeap, "1MB",
		}, Says: []string{"from 0s to 1m", "from 1 to 100k", "from 1ms to 1h", "at least 128MB"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, rocketSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "before it is handled"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
