package pulsar

import (
	"context"
	"fmt"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
)

// group is the consumers of one subscription that this connection has opened,
// and which of them is active in each partition, when the subscription type has
// one that is.
type group struct {
	topic system.Topic

	mu      sync.Mutex
	members map[*consumer]map[int32]bool // partitions in which each is active
}

// join returns the group of a subscription with one more member.
func (c *cluster) join(t system.Topic, subscription string, r *consumer) *group {
	name := t.Name + "/" + subscription
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.groups[name]
	if g == nil {
		g = &group{topic: t, members: make(map[*consumer]map[int32]bool)}
		c.groups[name] = g
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members[r] = make(map[int32]bool)
	return g
}

func (g *group) leave(r *consumer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.members, r)
}

// BecameActive and BecameInactive take the broker's word, on the library's
// goroutines.
func (r *consumer) BecameActive(_ client.Consumer, _ string, partition int32) {
	r.group.change(r, partition, true)
}

// BecameInactive is the opposite of BecameActive.
func (r *consumer) BecameInactive(_ client.Consumer, _ string, partition int32) {
	r.group.change(r, partition, false)
}

func (g *group) change(r *consumer, partition int32, active bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine, in := g.members[r]
	switch {
	case !in:
	case active:
		mine[partition] = true
	default:
		delete(mine, partition)
	}
}

// unsettled says what is missing until the partitions are shared out evenly.
func (g *group) unsettled() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	total, least, most := 0, g.topic.Partitions, 0
	for _, mine := range g.members {
		n := len(mine)
		total, least, most = total+n, min(least, n), max(most, n)
	}
	if total != g.topic.Partitions || most > least+1 {
		return fmt.Errorf("of %d partitions %d are with the %d consumers of the subscription, %d to %d each", g.topic.Partitions, total, len(g.members), least, most)
	}
	return nil
}

// Settle waits until the partitions are shared out evenly among the consumers
// of the subscription that this connection has opened. A broker waits a second
// before it makes another consumer the active one.
func (r *consumer) AwaitAssignment(ctx context.Context) error {
	if r.of.cfg.subscription != client.Failover {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	ticker := time.NewTicker(settlePoll)
	defer ticker.Stop()
	for {
		err := r.group.unsettled()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the subscription did not settle: %w", err)
		}
	}
}
