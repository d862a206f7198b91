package kafka

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	_ system.Redeliverer    = kafkaSystem{}
	_ system.PartitionOwner = kafkaSystem{}
)

// Redelivery says that Kafka repeats nothing to a consumer that runs, whatever the
// delivery: acknowledging a record is moving a position, and no timer moves it back.
func (kafkaSystem) Redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	return system.Redelivery{Never: true,
		Why: "a consumer's position only goes forward, and no acknowledgement times out; its " +
			"last committed position is read again only by another member that gets its " +
			"partitions, when members come or go or one sends no heartbeat for " +
			setSessionTimeout + " (" + s.Text(setSessionTimeout) + ")"}
}

// OwnsPartitions says that each partition belongs to one member of a group.
func (kafkaSystem) OwnsPartitions(system.Settings) bool { return true }
