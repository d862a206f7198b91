package artemis

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
		want     string
	}{
		{level: workload.AsyncSync, nodes: 3},
		{level: workload.SyncAsync, nodes: 2, settings: []string{setDatasync, "true"}},
		{level: workload.SyncAsync, settings: []string{setReplication, mirror}},
		{level: workload.SyncSync, nodes: 3},
		{level: workload.SyncSync, nodes: 3, settings: []string{setReplication, pair},
			want: "a backup never syncs: take mirror"},
		{level: workload.SyncSync, nodes: 3, settings: []string{setJournalType, nio},
			want: "cannot be NIO at level 1"},
		{level: workload.AsyncSync, nodes: 3, settings: []string{setJournalType, nio},
			want: "answer before they sync"},
		{level: workload.AsyncSync, settings: []string{setReplication, zooKeeper},
			want: "a primary always waits for its backup"},
		{level: 5, want: "the levels are 1 to 4"},
		{level: workload.SyncAsync, nodes: 1, want: "the testbed has 1 node, and durability level 2 needs 2 copies"},
		{level: workload.AsyncAsync, nodes: 1},
		{level: workload.AsyncAsync, nodes: 1, settings: []string{setReplication, mirror},
			want: "take 2 nodes"},
		{level: workload.AsyncAsync, nodes: 2, settings: []string{setReplication, single},
			want: "the testbed has 2 nodes: take 1"},
		{level: workload.SyncSync, settings: []string{setReplication, single},
			want: "is a single copy, and durability level 1 needs 2 copies"},
		{level: workload.SyncAsync, nodes: 4, want: "the testbed has 4 nodes"},
		{level: workload.AsyncAsync, nodes: 3, settings: []string{setDatasync, "true"},
			want: "cannot be true at level 4"},
		{level: workload.SyncAsync, settings: []string{setHeap, "1GB"}, want: "these run already"},
		{level: workload.SyncAsync, nodes: 3, settings: []string{setHeap, "1MB"},
			want: "at least 128MB"},
	} {
		err := artemisSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, artemisSystem{}, c.settings...),
			Durability: c.level, Nodes: c.nodes,
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil ||
			!strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, artemisSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "no time-out"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
