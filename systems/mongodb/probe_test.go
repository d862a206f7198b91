package mongodb

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
)

// The probes find the known capabilities of a queue in MongoDB. On mongo-java-server there are no
// replicas and no transactions.
func TestProbes(t *testing.T) {
	options := optionsOf(t, setLease, "3s")
	want := map[string]probe.Answer{
		"time decoupling": probe.Yes, "competing consumers": probe.Yes, "at most once": probe.Yes,
		"at least once": probe.Yes, "redelivery": probe.Yes, "replay": probe.No,
		"routing: fanout": probe.Yes,
	}
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "mongodb", System: New(), Options: options}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
}
