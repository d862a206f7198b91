package rabbitmq

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that each type of queue is known to have.
func TestProbes(t *testing.T) {
	servers := sharedCluster(t)
	t.Run("side by side", func(t *testing.T) { tryAll(t, servers) })
	c := connect(t, optionsOf(t, servers, workload.AsyncAsync, setQueueType, classic))
	for _, kind := range []string{"queues", "exchanges", "policies"} {
		var all []struct{ Name string }
		if err := c.api.call(t.Context(), http.MethodGet, "/api/"+kind+"/%2F", nil,
			&all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if strings.Contains(one.Name, "plimsoll-probe") {
				t.Errorf("of the %s %s is left", kind, one.Name)
			}
		}
	}
}

// tryAll probes all types of queues in parallel, because probes mostly wait.
func tryAll(t *testing.T, servers *driver.Cluster) {
	for _, kind := range []struct {
		name  string
		level workload.Level
		rows  []string // empty: all
		want  map[string]probe.Answer
	}{
		{classic, workload.AsyncAsync, nil, map[string]probe.Answer{
			"time decoupling": probe.Yes, "competing consumers": probe.Yes, "multicast": probe.Yes,
			"order in a partition": probe.Yes, "global order": probe.Conditional,
			"order on redelivery": probe.Conditional,
			"at most once":        probe.Yes, "at least once": probe.Yes,
			"redelivery":      probe.Yes,
			"replay":          probe.No,
			"routing: fanout": probe.Yes,
		}},
		{quorum, workload.SyncSync, []string{"redelivery"},
			map[string]probe.Answer{
				"redelivery": probe.Yes,
			}},
		{streamed, workload.SyncAsync, []string{"replay", "competing consumers",
			"at least once"}, map[string]probe.Answer{
			"replay": probe.Yes, "competing consumers": probe.No,
			"at least once": probe.Yes,
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			column, err := probe.On(t.Context(), probe.Subject{
				Name: kind.name, System: New(), Options: optionsOf(t, servers, kind.level,
					setQueueType, kind.name), Rows: kind.rows,
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, wrong := range column.Differences(kind.want) {
				t.Error(wrong)
			}
			t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
		})
	}
}
