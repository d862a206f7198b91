package mqtt

import (
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	const once, least = workload.AtMostOnce, workload.AtLeastOnce
	for _, c := range []struct {
		level    workload.Level
		delivery workload.Delivery
		nodes    int
		settings []string
		want     []string
	}{
		{level: workload.AsyncAsync, delivery: least, nodes: 1},
		{level: workload.AsyncAsync, delivery: least, settings: []string{setPublishQoS, "2"}},
		{level: workload.AsyncAsync, delivery: once, settings: []string{setSubscribeQoS, "0"}},
		{level: workload.SyncSync, delivery: least, want: []string{"only 4", "one server"}},
		{level: workload.AsyncSync, delivery: least, want: []string{"only 4", "before it syncs"}},
		{level: workload.AsyncAsync, delivery: least, nodes: 3,
			want: []string{"has no replicas", "testbed: {nodes: 1}"}},
		{level: workload.AsyncAsync, delivery: least, settings: []string{setSubscribeQoS, "0"},
			want: []string{"nothing is acknowledged", "delivery: at_most_once"}},
		{level: workload.AsyncAsync, delivery: least, settings: []string{setPublishQoS, "0",
			setKeepAlive, "1500ms", setReceiveMax, "70000"},
			want: []string{"from 1 to 2", "whole seconds", "from 1 to 65535"}},
		{level: workload.AsyncAsync, delivery: least, settings: []string{setHeap, "1GB"},
			want: []string{"these run already"}},
		{level: workload.AsyncAsync, delivery: least, nodes: 1,
			settings: []string{setHeap, "1MB"}, want: []string{"at least 128MB"}},
	} {
		err := mqttSystem{}.Check(system.Check{
			Settings:   systemtest.Settings(t, mqttSystem{}, c.settings...),
			Durability: c.level, Delivery: c.delivery, Nodes: c.nodes,
		})
		if len(c.want) == 0 && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %q", c, err, part)
			}
		}
	}
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, mqttSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "before it is handled"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
