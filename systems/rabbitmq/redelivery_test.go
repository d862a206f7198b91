package rabbitmq

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, rabbitSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, After: 31 * time.Minute, Why: "consumer_timeout (30m"},
		{Delivery: workload.AtLeastOnce, Given: []string{setQueueType, classic},
			After: 31 * time.Minute, Why: "consumer_timeout (30m"},
		{Delivery: workload.AtLeastOnce, Given: []string{setQueueType, streamed},
			Never: true, Why: "only goes forward"},
		{Delivery: workload.AtMostOnce, Given: []string{setQueueType, quorum},
			Never: true, Why: "without acknowledgements"},
	})
}
