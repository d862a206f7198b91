package pulsar

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	systemtest.NeedJava(t)
	systemtest.Run(t, systemtest.Harness{
		System: New(),
		Options: func(t *testing.T, level workload.Level) (system.Options, []system.Node) {
			c := clusterAt(t, level)
			return optionsOf(t, c, level, setDiscovery, "1s"), c.Nodes()
		},
	})
}
