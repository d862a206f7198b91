package system

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Received is one delivered message. Its slices are valid until Receive returns, and
// must not be written to.
type Received struct {
	Payload []byte
	// Key is the message's key. It is nil when the message has none or the system
	// does not carry keys.
	Key []byte
	// Partition is the index of the message's partition, negative when the system
	// does not report it.
	Partition int32
}

// Redelivery says when the system redelivers a message although no server and no consumer fails,
// for example after an acknowledgement time-out.
type Redelivery struct {
	Never bool          // the system never does
	After time.Duration // longest time after the first delivery; 0: no limit is known
	Why   string        // in the system's own words, with the deciding setting
	// Delay is how long the system withholds each message from consumers on purpose.
	Delay time.Duration
}

// NeverRedelivered is the Redelivery of a system that delivers no message again while nothing
// fails.
func NeverRedelivered(why string) func(Settings, workload.Delivery) Redelivery {
	return func(Settings, workload.Delivery) Redelivery {
		return Redelivery{Never: true, Why: why}
	}
}

// WhyNoReturns returns the reason why consumers cannot give messages back; empty: they can.
func (d Description) WhyNoReturns(s Settings) string {
	if d.RefuseReturns == nil {
		return "plimsoll's driver cannot give a single message back"
	}
	return d.RefuseReturns(s)
}

// WhyNoResize returns the reason why the servers of a request can neither join nor leave under
// load; empty: they can.
func WhyNoResize(of System, c Check) string {
	refuse := of.Describe().RefuseResize
	if refuse == nil {
		return "plimsoll's driver can change the number of their servers only before the load"
	}
	return refuse(c)
}

// WhyNoAdding returns the reason why topics cannot get more partitions under load; empty: they can.
func (d Description) WhyNoAdding(s Settings) string {
	if d.RefuseAdding == nil {
		return "plimsoll's driver can set their number only before the load"
	}
	return d.RefuseAdding(s)
}

// WhyUnordered returns the reason why the system keeps no order; empty: it keeps the order of each
// producer in each partition.
func (d Description) WhyUnordered(s Settings) string {
	if d.Unordered == nil {
		return ""
	}
	return d.Unordered(s)
}

// Spread describes how the system's own client distributes messages without a key over partitions.
type Spread struct {
	How    string // one sentence
	Source string // its documentation
	// Stay is the least span of due times for which the client stays with one partition.
	Stay time.Duration
	// StayBytes is the least number of payload bytes that the client sends to one partition
	// before it takes the next. Both 0: each message goes to the next partition.
	StayBytes int64
}

// Enlister is a Completer that receives the number of its message's transaction.
type Enlister interface {
	// Enlist is called at most once per Send, by the goroutine that called Send,
	// before the producer reads the payload.
	Enlist(transaction uint32)
}

// InTransaction reports the number of the message's transaction to the sender. Each
// producer numbers its transactions from 1. Either all messages of a transaction are
// acknowledged or none. The method is not called Enlist, because a sender that embeds a
// Message would then be an Enlister that calls itself.
func (m *Message) InTransaction(transaction uint32) {
	if e, ok := m.complete.(Enlister); ok {
		e.Enlist(transaction)
	}
}
