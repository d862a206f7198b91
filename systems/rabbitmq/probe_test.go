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
	c := connect(t, optionsOf(t, servers, workload.AsyncSync, setQueueType, classic))
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
		{classic, workload.AsyncSync, nil, map[string]probe.Answer{
			"time decoupling": probe.Yes, "competing consumers": probe.Yes, "multicast": probe.Yes,
			"order in a partition": probe.Yes, "global order": probe.Conditional,
			"order on redelivery": probe.Conditional,
			"at most once":        probe.Yes, "at least once": probe.Yes, "exactly once": probe.No,
			"redelivery": probe.Yes,
			"replay":     probe.No, "publisher acks": probe.Yes, "routing: direct": probe.Yes,
			"routing: pattern": probe.Yes,
			"routing: fanout":  probe.Yes, "routing: headers": probe.Yes, "message TTL": probe.Yes,
			"priorities":   probe.Yes,
			"dead letters": probe.Yes, "flow control": probe.Conditional,
		}},
		{quorum, workload.SyncSync, []string{"priorities", "dead letters", "redelivery"},
			map[string]probe.Answer{
				"priorities": probe.No, "dead letters": probe.Yes, "redelivery": probe.Yes,
			}},
		{streamed, workload.SyncAsync, []string{"replay", "priorities", "competing consumers",
			"at least once", "exactly once"}, map[string]probe.Answer{
			"replay": probe.Yes, "priorities": probe.No, "competing consumers": probe.No,
			"at least once": probe.Yes, "exactly once": probe.Conditional,
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
