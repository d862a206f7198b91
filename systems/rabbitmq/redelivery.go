package rabbitmq

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var _ system.Redeliverer = rabbitSystem{}

const (
	// consumerTimeout is the default of a server's consumer_timeout since 3.8.17. No
	// client may ask for it, and plimsoll leaves it as it is where it starts servers.
	consumerTimeout = 30 * time.Minute
	// consumerTimeoutCheck is how often a channel looks for deliveries that have
	// passed it.
	consumerTimeoutCheck = time.Minute
)

// Redelivery says that a server takes a queue's messages back that a consumer has had
// for consumer_timeout and has not acknowledged. Acknowledgements themselves are not
// lost while their channel is open.
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
	return system.Redelivery{After: consumerTimeout + consumerTimeoutCheck,
		Why: "consumer_timeout (30m unless the server's configuration says otherwise, looked at " +
			"once a minute): the server closes the channel of a consumer that does not " +
			"acknowledge a delivery, and requeues what is unacknowledged on it"}
}
