package system

import (
	"context"
	"errors"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// LeaderReader is a Cluster that knows the leader of a partition.
type LeaderReader interface {
	// Leader returns the address, as in Node.Address, of the server that accepts the
	// partition's messages now. It returns an error if no such server is known.
	Leader(ctx context.Context, t Topic, partition int) (address string, err error)
}

// ErrNoTopic is wrapped by an error of Leader when the servers answer that they do not have the
// partition: its acknowledged and undelivered messages are lost.
var ErrNoTopic = errors.New("the servers have no such topic")

// Injector injects faults into servers, one at a time, and heals them.
type Injector interface {
	// Inject injects the fault and returns when it has its effect. Heal must follow
	// even when Inject fails. leader is the address of the leading server, empty
	// when it is unknown. Then a fault that needs the leader is an error.
	Inject(ctx context.Context, f workload.Fault, leader string) (Injected, error)
	// Heal ends the fault and returns when the servers can recover by themselves.
	// It does nothing when there is no fault.
	Heal(ctx context.Context) error
}

// Roller is an Injector that can restart machines one by one.
type Roller interface {
	Injector
	// Machines returns the name of one node of each machine, in the order in which they are
	// restarted. A workload.FaultRollingRestart with that target stops all servers of the machine
	// cleanly.
	Machines() []string
}

// Resizer is an Injector that can start servers beside those of the cluster, and end them for good:
// with workload.FaultScaleOut and workload.FaultScaleIn, which Heal does not undo.
type Resizer interface {
	Injector
	// Next returns the nodes of the machine that the next fault of the kind starts or ends.
	Next(do workload.FaultKind) ([]Node, error)
	// Operate is as in Resizable.
	Operate(ctx context.Context, node, program string) error
}

// Scaler is a Cluster that takes machines in under load, and does without them. Its methods return
// a sentence about what they did. InSync says when all copies that they began to move are complete.
type Scaler interface {
	SyncReader
	// Join waits until nodes that were just started are members, which InSync counts from then on,
	// and begins to give them a share of the topics' copies.
	Join(ctx context.Context, r Resize) (string, error)
	// Leave begins to move all copies off members. Where the system does so only when they are
	// gone, it does nothing.
	Leave(ctx context.Context, r Resize) (string, error)
	// Forget removes members that have ended, and begins to move the copies that Leave did not.
	Forget(ctx context.Context, r Resize) (string, error)
}

// Resize is a change of a cluster's size.
type Resize struct {
	Nodes  []Node // of the machine that joins or leaves
	Topics []Topic
	// Operate runs a program of an operator (see Resizable) to its end.
	Operate func(ctx context.Context, node, program string) error
}

// PartitionAdder is a Cluster that can give topics more partitions under load.
type PartitionAdder interface {
	// AddPartitions gives existing topics the partitions that they lack. It returns when servers
	// and the cluster's producers take messages for all partitions, at the topics' durability
	// level. Consumers receive from the new ones once they have found them, as the system's own
	// clients do (Description.Discovery).
	AddPartitions(ctx context.Context, topics []Topic) error
}

// SyncReader is a Cluster that knows whether its servers have caught up with each other.
type SyncReader interface {
	// InSync returns nil when every server takes part again and every copy of what the cluster
	// keeps is complete, so that another server may be stopped. Otherwise the error says what is
	// missing.
	InSync(ctx context.Context, topics []Topic) error
}

// Injected describes a fault that was injected.
type Injected struct {
	Nodes    []string // names of its targets
	Sentence string   // the fault in words, for people
}
