package mqtt

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestCheck(t *testing.T) {
	const once, least = workload.AtMostOnce, workload.AtLeastOnce
	systemtest.Checks(t, mqttSystem{}, []systemtest.Checked{
		{Level: workload.AsyncAsync, Delivery: least, Nodes: 1},
		{Level: workload.AsyncAsync, Delivery: least, Given: []string{setPublishQoS, "2"}},
		{Level: workload.AsyncAsync, Delivery: once, Given: []string{setSubscribeQoS, "0"}},
		{Level: workload.SyncSync, Delivery: least, Says: []string{"only 4", "one server"}},
		{Level: workload.AsyncSync, Delivery: least, Says: []string{"only 4", "before it syncs"}},
		{Level: workload.AsyncAsync, Delivery: least, Nodes: 3,
			Says: []string{"has no replicas", "testbed: {nodes: 1}"}},
		{Level: workload.AsyncAsync, Delivery: least, Given: []string{setSubscribeQoS, "0"},
			Says: []string{"nothing is acknowledged", "delivery: at_most_once"}},
		{Level: workload.AsyncAsync, Delivery: least, Given: []string{setPublishQoS, "0",
			setKeepAlive, "1500ms", setReceiveMax, "70000"},
			Says: []string{"from 1 to 2", "whole seconds", "from 1 to 65535"}},
		{Level: workload.AsyncAsync, Delivery: least, Given: []string{setHeap, "1GB"},
			Says: []string{"these run already"}},
		{Level: workload.AsyncAsync, Delivery: least, Nodes: 1,
			Given: []string{setHeap, "1MB"}, Says: []string{"at least 128MB"}},
	})
}

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, mqttSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtMostOnce, Never: true, Why: "before it is handled"},
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no time-out"},
	})
}
