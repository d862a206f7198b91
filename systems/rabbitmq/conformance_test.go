package rabbitmq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestConformance(t *testing.T) {
	c := sharedCluster(t)
	for _, of := range []struct {
		kind, protocol string
		levels         []workload.Level
	}{
		{classic, amqp091, []workload.Level{workload.AsyncSync, workload.AsyncAsync}},
		{mirrored, amqp091, []workload.Level{workload.SyncSync, workload.SyncAsync}},
		// Level 2 needs other servers: TestQuorumWithoutSync.
		{quorum, amqp091, []workload.Level{workload.SyncSync}},
		{quorum, amqp10, []workload.Level{workload.SyncSync}},
		{streamed, amqp091, []workload.Level{workload.SyncAsync}},
	} {
		t.Run(of.kind+"_"+of.protocol, func(t *testing.T) {
			t.Parallel()
			levels := levelsOf(t, plan{kind: of.kind, protocol: of.protocol}, of.levels...)
			if len(levels) == 0 {
				t.Skip("the servers here have no such queues, or do not speak the protocol")
			}
			systemtest.Run(t, systemtest.Harness{
				System: New(), Levels: levels, Reached: of.kind != classic,
				Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, c, level, setQueueType, of.kind, setProtocol, of.protocol,
						setReconnect, "20s"), c.Nodes()
				},
			})
		})
	}
}
