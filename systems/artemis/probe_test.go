package artemis

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that Artemis is known to have.
func TestProbes(t *testing.T) {
	options := optionsOf(t, shared, workload.SyncAsync)
	want := map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "at most once": probe.Yes,
		"at least once": probe.Yes, "redelivery": probe.Yes, "replay": probe.No,
		"routing: fanout": probe.Yes,
	}
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "artemis", System: New(), Options: options}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
}
