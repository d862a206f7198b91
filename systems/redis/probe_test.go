package redis

import (
	"testing"
	"time"

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
	var rows []string
	for name := range want {
		rows = append(rows, name)
	}
	began := time.Now()
	subject := probe.Subject{Name: "redis", System: New(), Options: options, Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	keys, err := connect(t, options).client.Keys(t.Context(), "plimsoll-probe*").Result()
	if err != nil || len(keys) > 0 {
		t.Errorf("these are left: %v, %v", keys, err)
	}
}
