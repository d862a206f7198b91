package nats

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, natsSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, After: 31 * time.Second, Why: "ack_wait (30s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setAckWait, "2s", setPullExpires, "4s"},
			After: 6 * time.Second, Why: "ack_wait (2s)"},
		{Delivery: workload.AtMostOnce, Never: true, Why: "AckPolicy is none"},
	})
}
