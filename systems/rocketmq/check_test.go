package rocketmq

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		level    workload.Level
		nodes    int
		settings []string
		want     []string
	}{
		{level: workload.SyncAsync, nodes: 3},
		{level: workload.SyncAsync, nodes: 3, settings: []string{setFlush, syncFlush}},
		{level: workload.AsyncSync, nodes: 1},
		{level: workload.AsyncAsync, nodes: 2},
		{level: workload.SyncSync, nodes: 3, want: []string{"one disk and one memory"}},
		{level: workload.SyncAsync, nodes: 1,
			want: []string{"the testbed has 1 node, and durability level 2 needs 3 copies"}},
		{level: workload.SyncAsync, nodes: 2, settings: []string{setReplication, "2"},
			want: []string{"is 2, and durability level 2 needs 3 copies or more"}},
		{level: workload.SyncAsync, nodes: 4,
			want: []string{"asks for 3 servers, one of them the primary"}},
		{level: workload.AsyncAsync, nodes: 1, settings: []string{setFlush, syncFlush},
			want: []string{"cannot be SYNC_FLUSH at level 4"}},
		{level: workload.SyncAsync, settings: []string{setHeap, "1GB"},
			want: []string{"these run already"}},
		{level: workload.SyncAsync, nodes: 3, settings: []string{
			setLinger, "2m", setBatch, "0", setPollTimeout, "0s", setHeap, "1MB",
		}, want: []string{"from 0s to 1m", "from 1 to 100k", "from 1ms to 1h", "at least 128MB"}},
	} {
		err := rocketSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, rocketSystem{}, c.settings...),
			Durability: c.level, Nodes: c.nodes,
		})
		if len(c.want) == 0 && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, rocketSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "before it is handled"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
