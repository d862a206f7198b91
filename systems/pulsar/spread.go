package pulsar

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.Spreader = pulsarSystem{}

const (
	// switchFrequency is for how many publish delays the Java client stays with a
	// partition: batchingPartitionSwitchFrequencyByPublishDelay, by default.
	switchFrequency = 10
	// leastStay is the shortest time that it stays: its clock is in milliseconds.
	leastStay = time.Millisecond
)

// Spread is the Java client's default, the routing mode RoundRobinPartition, which is
// what the OpenMessaging Benchmark runs as well. The Go client that plimsoll drives
// would go on after one batching_max_publish_delay, or with a batch that is full; here
// it is told the partition of every message.
func (pulsarSystem) Spread(s system.Settings) system.Spread {
	d := system.Spread{
		Source: "RoundRobinPartitionMessageRouterImpl of the Java client " +
			"(batchingPartitionSwitchFrequencyByPublishDelay, 10 by default, apache/pulsar#5788)",
	}
	if !s.Bool(setBatching) {
		d.How = "the Java client takes the next partition for each message, because " +
			setBatching + " is false"
		return d
	}
	d.Stay = max((switchFrequency * s.Duration(setBatchingDelay)).Truncate(leastStay), leastStay)
	d.How = fmt.Sprintf("the Java client takes the next partition every %s, %d times %s (%s)",
		d.Stay, switchFrequency, setBatchingDelay, s.Text(setBatchingDelay))
	return d
}
