package activemq

import (
	"testing"

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
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "activemq", System: New(), Options: options}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
	b, err := connect(t, options).jolokia.master(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, err := b.destinations(t.Context(), "Queue", "*plimsoll-probe*")
	if err != nil || len(left) > 0 {
		t.Errorf("these are left: %v, %v", left, err)
	}
}
