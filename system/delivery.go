package system

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Received is one delivered message. Its slices are valid until Receive returns, and
// must not be written to.
type Received struct {
	Payload []byte
	// Key is the key that came with the message; nil: none came, or the system
	// carries none.
	Key []byte
	// Partition is the index of the partition that the message came from; negative:
	// the system does not say.
	Partition int32
}

// Redelivery says when the system delivers a message again by itself, although no
// server and no consumer fails: after an acknowledgement time-out, for example.
type Redelivery struct {
	Never bool          // it does not
	After time.Duration // at the latest so long after the first delivery; 0: no limit is known
	Why   string        // in the system's own words, with the setting that decides
}

// Redeliverer is a System that knows when it delivers a message again. Of one that
// is none, nothing is known.
type Redeliverer interface {
	Redelivery(s Settings, d workload.Delivery) Redelivery
}

// PartitionOwner is a System that knows whether each partition belongs to one consumer of
// a subscription at a time, so that order holds across consumers. Of one that is none,
// consumers share partitions.
type PartitionOwner interface {
	OwnsPartitions(s Settings) bool
}

// Spread is how the system's own client deals messages without a key to
// partitions.
type Spread struct {
	How    string // one sentence
	Source string // where that is documented
	// Stay is how long the client stays with one partition, of due times; 0: it
	// goes on by StayBytes.
	Stay time.Duration
	// StayBytes is how many payload bytes it sends to one partition before the next;
	// both 0: it takes the next partition for each message.
	StayBytes int64
}

// Spreader is a System whose own client has a way of dealing messages without a
// key. One that is none takes the next partition for each message.
type Spreader interface {
	Spread(s Settings) Spread
}

// Enlister is a Completer that is told which transaction its message is part of.
type Enlister interface {
	// Enlist is called at most once per Send, by the goroutine that called it,
	// before the payload is read.
	Enlist(transaction uint32)
}

// InTransaction tells the sender which of its producer's transactions the message is
// part of: producers number their transactions from 1, one after another. All messages
// of a transaction are acknowledged, or none is. Its name is not that of Enlister's
// method: a sender that embeds a Message would be an Enlister that calls itself.
func (m *Message) InTransaction(transaction uint32) {
	if e, ok := m.complete.(Enlister); ok {
		e.Enlist(transaction)
	}
}
