package mongodb

import (
	"testing"
	"time"

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
	var rows []string
	for name := range want {
		rows = append(rows, name)
	}
	began := time.Now()
	subject := probe.Subject{Name: "mongodb", System: New(), Options: options, Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
}
