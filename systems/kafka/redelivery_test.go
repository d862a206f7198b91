package kafka

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func TestRedelivery(t *testing.T) {
	systemtest.Redelivery(t, kafkaSystem{}, []systemtest.Redelivered{
		{Delivery: workload.AtLeastOnce, Never: true, Why: "session_timeout (45s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setSessionTimeout, "10s"},
			Never: true, Why: "session_timeout (10s)"},
		{Delivery: workload.AtLeastOnce, Given: []string{setGroupType, groupShare,
			setRecordLock, "20s"}, After: 20 * time.Second, Why: "record_lock_duration (20s)"},
		{Delivery: workload.AtMostOnce, Never: true, Why: "only goes forward"},
		{Delivery: workload.ExactlyOnce, Never: true, Why: "only goes forward"},
	})
}
