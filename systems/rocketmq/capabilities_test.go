package rocketmq

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/probe"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// The probes find the capabilities that RocketMQ is known to have, and leave nothing behind.
func TestProbes(t *testing.T) {
	options := optionsOf(t, workload.AsyncAsync)
	want := map[string]probe.Answer{
		"time decoupling": probe.Yes, "at most once": probe.Yes, "at least once": probe.Yes,
		"redelivery": probe.Yes, "replay": probe.Yes, "routing: fanout": probe.Yes,
	}
	var rows []string
	for name := range want {
		rows = append(rows, name)
	}
	began := time.Now()
	subject := probe.Subject{Name: "rocketmq", System: New(), Options: options, Rows: rows}
	column, err := probe.On(t.Context(), subject, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range column.Differences(want) {
		t.Error(wrong)
	}
	t.Logf("it took %s", time.Since(began).Round(time.Millisecond))
}
