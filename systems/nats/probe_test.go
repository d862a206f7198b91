package nats

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/target"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// known are the capabilities that JetStream is known to have.
var known = map[string]probe.Answer{
	"time decoupling": probe.Yes, "competing consumers": probe.Yes, "multicast": probe.Yes,
	"order in a partition": probe.Yes, "global order": probe.Yes,
	"order on redelivery": probe.No,
	"at most once":        probe.Yes, "at least once": probe.Yes,
	"redelivery":      probe.Yes,
	"replay":          probe.Yes,
	"routing: fanout": probe.Yes,
}

// The probes find the capabilities that JetStream is known to have.
func TestProbes(t *testing.T) {
	t.Parallel() // with TestConformance: both wait most of the time
	// Do not wait half a minute for a dead consumer's messages.
	s := settings(t, target.Setting{Name: setAckWait, Value: "2s"})
	servers := provision(t, workload.SyncAsync, s)
	began := time.Now()
	differences := func() []string {
		column, err := probe.On(t.Context(), probe.Subject{Name: "nats", System: New(),
			Options: optionsOf(servers, workload.SyncAsync, s)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return column.Differences(known)
	}
	wrong := differences()
	if len(wrong) > 0 { // a machine full of other tests can keep a message for 15 s
		t.Log("again, because of: ", wrong)
		wrong = differences()
	}
	for _, one := range wrong {
		t.Error(one)
	}
	c, err := New().Connect(t.Context(), optionsOf(servers, workload.SyncAsync, s))
	if err != nil {
		t.Fatal(err)
	}
	for name := range c.(*cluster).js.StreamNames(t.Context()).Name() {
		t.Errorf("stream %s is left", name)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
}
