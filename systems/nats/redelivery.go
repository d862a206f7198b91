package nats

import (
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var _ system.Redeliverer = natsSystem{}

// Redelivery says that a server sends a message again when it has seen no
// acknowledgement for ack_wait, because acknowledgements are not confirmed and may be
// lost, and a message may wait as long in its consumer. The copy needs a pull request,
// and a consumer that lives has one at the latest after pull_expires.
func (natsSystem) Redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "the durable consumer's AckPolicy is none: the server counts a message as " +
				"handled when it sends it"}
	}
	return system.Redelivery{After: s.Duration(setAckWait) + s.Duration(setPullExpires),
		Why: "a server delivers a message again that was not acknowledged for " + setAckWait +
			" (" + s.Text(setAckWait) + "), with the next pull request, at most " +
			setPullExpires + " (" + s.Text(setPullExpires) + ") later"}
}
