package pulsar

import (
	"testing"
	"time"

	probing "github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that Pulsar is known to have.
func TestProbes(t *testing.T) {
	t.Parallel() // with TestConformance: both wait most of the time
	options := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	began := time.Now()
	column, err := probing.On(t.Context(), probing.Subject{
		Name: "pulsar", System: New(), Options: options,
		Rows: []string{
			"competing consumers", "order on redelivery", "at least once", "replay",
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(map[string]probing.Answer{
		"competing consumers": probing.Conditional, "order on redelivery": probing.Yes,
		"at least once": probing.Yes,
		"replay":        probing.Conditional,
	}) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
}
