package rabbitmq

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// member is a consumer to which partitions can be assigned, and from which they can be taken.
type member interface {
	// assign lets the member receive a partition until leave. It does not wait.
	assign(partition int)
	// leave makes the member stop receiving a partition, and waits until the partition's received
	// messages are handled.
	leave(ctx context.Context, partition int) error
	Close(ctx context.Context) error
	place() int // among the consumers of the subscription
}

// group holds one subscription's consumers that this connection has opened, and assigns the
// partitions to them. Each partition belongs to one consumer, so that its messages stay in order.
// The first consumer has all partitions until AwaitAssignment. The partitions of a consumer that
// closes go to the remaining consumers, or to the next one that opens. If other connections have
// consumers too, the consumers' numbers decide their partitions.
type group struct {
	subscription string
	all          int         // consumers of all connections; 0: there are no others
	placed       driver.Made // the queues

	mu      sync.Mutex
	members []member
	owners  []member // by partition; nil: none

	// positions are the offsets from which the subscription continues in each stream; -1: use the
	// server's. Only the owner of a partition changes its position.
	positions []atomic.Int64
}

// groupOf returns the group of a subscription.
func (c *cluster) groupOf(o system.ConsumerOptions) *group {
	return c.groups.Of(o.Topic, o.Subscription, func() *group {
		g := &group{subscription: o.Subscription, all: o.Members,
			owners:    make([]member, o.Topic.Partitions),
			positions: make([]atomic.Int64, o.Topic.Partitions)}
		for i := range g.positions {
			g.positions[i].Store(-1)
		}
		return g
	})
}

// join adds a member and gives it the unassigned partitions. The first join calls place to create
// the queues.
func (g *group) join(m member, place func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.placed.Once(place); err != nil {
		return err
	}
	g.members = append(g.members, m)
	slices.SortStableFunc(g.members, func(a, b member) int { return a.place() - b.place() })
	for partition, owner := range g.owners {
		if owner == nil && (g.all == 0 || m.place() == partition%g.all) {
			g.owners[partition] = m
			m.assign(partition)
		}
	}
	return nil
}

// quit removes a member that has stopped receiving, and shares its partitions among the others.
func (g *group) quit(m member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(one member) bool { return one == m })
	next := 0
	for partition, owner := range g.owners {
		if owner != m {
			continue
		}
		g.owners[partition] = nil
		if len(g.members) > 0 {
			heir := g.members[next%len(g.members)]
			next++
			g.owners[partition] = heir
			heir.assign(partition)
		}
	}
}

// settle shares the partitions evenly.
func (g *group) settle(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.members) == 0 || g.all > 0 {
		return nil // all have closed meanwhile, or join has given each its own
	}
	for partition, owner := range g.owners {
		want := g.members[partition%len(g.members)]
		if owner == want {
			continue
		}
		if err := owner.leave(ctx, partition); err != nil {
			return err
		}
		g.owners[partition] = want
		want.assign(partition)
	}
	return nil
}

// next returns the offset from which the subscription continues in a stream, if it is known here.
func (g *group) next(partition int) (offset int64, known bool) {
	offset = g.positions[partition].Load()
	return offset, offset >= 0
}

// moveTo sets the offset from which the subscription continues in a stream.
func (g *group) moveTo(partition int, offset int64) { g.positions[partition].Store(offset) }

// advance is moveTo, unless another consumer has changed the offset meanwhile.
func (g *group) advance(partition int, from, to int64) {
	g.positions[partition].CompareAndSwap(from, to)
}
