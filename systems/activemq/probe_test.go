package activemq

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
)

// The probes find the capabilities that ActiveMQ is known to have.
func TestProbes(t *testing.T) {
	t.Parallel() // with TestConformance: both wait most of the time
	options := optionsOf(t, alone)
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
	subject := probe.Subject{Name: "activemq", System: New(), Options: options, Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
	b, err := connect(t, options).jolokia.master(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, err := b.destinations(t.Context(), "Queue", "*plimsoll-probe*")
	if err != nil || len(left) > 0 {
		t.Errorf("these are left: %v, %v", left, err)
	}
}
