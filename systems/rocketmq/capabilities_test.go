package rocketmq

import (
	"testing"

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
	wrong, err := probe.Differ(t.Context(),
		probe.Subject{Name: "rocketmq", System: New(), Options: options}, want)
	if err != nil || len(wrong) > 0 {
		t.Errorf("%q, %v", wrong, err)
	}
}
