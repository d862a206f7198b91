package system

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// LeaderReader is a Cluster that can tell which server leads.
type LeaderReader interface {
	// Leader is the address, as in Node.Address, of the server that takes what
	// is published to the partition now. An error means that none is known to.
	Leader(ctx context.Context, t Topic, partition int) (address string, err error)
}

// Injector breaks servers and mends them. One fault is under way at a time.
type Injector interface {
	// Inject does what a fault says and returns when it is done; what it did so
	// far is healed by Heal also when it fails. leader is the address of the
	// leading server, empty when it is not known: then a fault that needs it
	// is an error.
	Inject(ctx context.Context, f workload.Fault, leader string) (Injected, error)
	// Heal undoes the fault and returns when the servers are back to where
	// they can mend themselves. It does nothing when there is no fault.
	Heal(ctx context.Context) error
}

// Injected says what a fault was.
type Injected struct {
	Nodes    []string // that it hit, by name
	Sentence string   // what was done, for people
}
