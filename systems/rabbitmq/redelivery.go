package rabbitmq

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	_ system.Redeliverer    = rabbitSystem{}
	_ system.PartitionOwner = rabbitSystem{}
)

// Redelivery says that nothing comes again while its channel is open: acknowledgements
// are not lost on one. A server takes messages back from a consumer that has not
// acknowledged them for consumer_timeout, but it does so by closing the channel, which
// fails the run, and plimsoll acknowledges each message as it is received.
func (rabbitSystem) Redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	switch {
	case s.Text(setQueueType) == streamed:
		return system.Redelivery{Never: true,
			Why: "a stream's reader only goes forward, and no acknowledgement times out"}
	case d == workload.AtMostOnce:
		return system.Redelivery{Never: true,
			Why: "basic.consume without acknowledgements: the server forgets a message when " +
				"it sends it"}
	}
	return system.Redelivery{Never: true,
		Why: "a message that was acknowledged does not come again while its channel is open, and " +
			"consumer_timeout closes the channel of a consumer that does not acknowledge"}
}

// OwnsPartitions says that each queue or stream is dealt to one consumer of a
// subscription.
func (rabbitSystem) OwnsPartitions(system.Settings) bool { return true }
