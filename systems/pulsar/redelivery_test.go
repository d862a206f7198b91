package pulsar

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, pulsarSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, Never: true, Why: "no ackTimeout"},
		{Delivery: workload.AtLeastOnce, Given: []string{setSubscriptionType, shared},
			Never: true, Why: "no ackTimeout"},
		{Delivery: workload.AtLeastOnce,
			Given: []string{setLoadBalancing, "true", setAckGroupTime, "2s"},
			Why:   "ack_grouping_max_time (2s)"},
		{Delivery: workload.AtMostOnce, Given: []string{setLoadBalancing, "true"},
			Never: true, Why: "before it is handled"},
	})
}
