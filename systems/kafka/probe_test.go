package kafka

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that Kafka is known to have.
func TestProbes(t *testing.T) {
	t.Parallel() // with TestConformance: both wait most of the time
	options := optionsOf(t, sharedCluster(t), workload.SyncAsync)
	began := time.Now()
	column, err := probe.On(t.Context(),
		probe.Subject{Name: "kafka", System: New(), Options: options, Rows: []string{
			"time decoupling", "at most once", "at least once", "redelivery",
			"replay",
			"routing: fanout",
		}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(map[string]probe.Answer{
		"time decoupling": probe.Yes, "at most once": probe.Yes, "at least once": probe.Yes,
		"redelivery": probe.Yes, "replay": probe.Yes,
		"routing: fanout": probe.Yes,
	}) {
		t.Error(wrong)
	}
	t.Logf("it took %s; warnings: %q", time.Since(began).Round(time.Millisecond), column.Warnings)
	holdNothingLeft(t, connect(t, options))
}

// holdNothingLeft waits until no broker knows a probe's topic or group.
func holdNothingLeft(t *testing.T, c *cluster) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(
		settlePoll) {
		topics, err := c.admin.ListTopics(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		groups, err := c.admin.ListGroups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(append(topics.Names(), groups.Groups()...),
			func(name string) bool { return !strings.HasPrefix(name, "plimsoll-probe") })
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("these are left: %v", left)
}
