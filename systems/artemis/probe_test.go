package artemis

import (
	"testing"
	"time"

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
	var rows []string
	for name := range want {
		rows = append(rows, name)
	}
	began := time.Now()
	subject := probe.Subject{Name: "artemis", System: New(), Options: options, Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
}
