package rabbitmq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestConformance(t *testing.T) {
	c := sharedCluster(t)
	for _, kind := range []struct {
		name   string
		levels []workload.Level
	}{
		{classic, []workload.Level{workload.AsyncSync, workload.AsyncAsync}},
		{mirrored, []workload.Level{workload.SyncSync, workload.SyncAsync}},
		// Level 2 needs other servers: TestQuorumWithoutSync.
		{quorum, []workload.Level{workload.SyncSync}},
		{streamed, []workload.Level{workload.SyncAsync}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			levels := levelsOf(t, kind.name, kind.levels...)
			if len(levels) == 0 {
				t.Skip("the servers here have no such queues")
			}
			systemtest.Run(t, systemtest.Harness{
				System: New(), Levels: levels, Reached: kind.name != classic,
				Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, c, level, setQueueType, kind.name, setReconnect, "20s"),
						c.Nodes()
				},
			})
		})
	}
}
