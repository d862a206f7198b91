package pulsar

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/systemtest"
)

func TestSpread(t *testing.T) {
	const router = "RoundRobinPartitionMessageRouterImpl"
	systemtest.Spread(t, pulsarSystem{}, []systemtest.Dealt{
		{Stay: 10 * time.Millisecond, How: "batching_max_publish_delay (1ms)", Source: router},
		{Given: []string{setBatchingDelay, "2500us"},
			Stay: 25 * time.Millisecond, How: "every 25ms", Source: router},
		// Java's clock is in milliseconds, so the client stays for at least 1.
		{Given: []string{setBatchingDelay, "250us"},
			Stay: 2 * time.Millisecond, How: "every 2ms", Source: router},
		{Given: []string{setBatchingDelay, "50us"},
			Stay: time.Millisecond, How: "every 1ms", Source: router},
		{Given: []string{setBatching, "false"},
			How: "the next partition for each message", Source: router},
	})
}
