package activemq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// A harness runs at one level, because the brokers' configuration decides the level.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name    string
		servers *testServers
	}{
		{"leveldb", shared},
		{"kahadb", alone},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			systemtest.Run(t, systemtest.Harness{
				System: New(), Levels: []workload.Level{one.servers.Level},
				Reached: one.servers != shared,
				Options: func(t *testing.T, _ workload.Level) (system.Options, []system.Node) {
					return optionsOf(t, one.servers, setFailover, "20s"),
						clusterOf(t, one.servers).Nodes()
				},
			})
		})
	}
}
