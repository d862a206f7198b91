package rabbitmq

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, rabbitSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, Never: true, Why: "consumer_timeout closes"},
		{Delivery: workload.AtLeastOnce, Given: []string{setQueueType, classic},
			Never: true, Why: "consumer_timeout closes"},
		{Delivery: workload.AtLeastOnce, Given: []string{setQueueType, streamed},
			Never: true, Why: "only goes forward"},
		{Delivery: workload.AtLeastOnce, Given: []string{setProtocol, amqp10},
			Never: true, Why: "closes the link"},
		{Delivery: workload.AtMostOnce, Given: []string{setProtocol, amqp10},
			Never: true, Why: "settled as"},
		{Delivery: workload.AtMostOnce, Given: []string{setQueueType, quorum},
			Never: true, Why: "without acknowledgements"},
	})
}
