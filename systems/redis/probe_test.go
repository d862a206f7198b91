package redis

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that Redis Streams is known to have.
func TestProbes(t *testing.T) {
	options := optionsOf(t, workload.SyncAsync, setClaimAfter, "1s")
	want := map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "at most once": probe.Yes,
		"at least once": probe.Yes, "redelivery": probe.Yes,
		"replay": probe.Yes, "routing: fanout": probe.Yes,
	}
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "redis", System: New(), Options: options}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	keys, err := connect(t, options).client.Keys(t.Context(), "plimsoll-probe*").Result()
	if err != nil || len(keys) > 0 {
		t.Errorf("these are left: %v, %v", keys, err)
	}
}
