package kafka

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestSpread(t *testing.T) {
	systemtest.Spread(t, kafkaSystem{}, []systemtest.Dealt{
		{Stay: 5 * time.Millisecond, StayBytes: 1 << 20, How: "linger (5ms)", Source: "KIP-794"},
		{Given: []string{setLinger, "20ms", setBatchSize, "16KB"},
			Stay: 20 * time.Millisecond, StayBytes: 16 << 10, How: "linger (20ms)",
			Source: "KIP-794"},
		{Given: []string{setLinger, "0s", setBatchSize, "16KB"},
			StayBytes: 16 << 10, How: "batch_size (16KB)", Source: "BuiltInPartitioner"},
	})
}
