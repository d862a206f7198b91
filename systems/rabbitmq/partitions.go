package rabbitmq

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.PartitionAdder = (*cluster)(nil)

// refuseAdding says that only producers of queues, by AMQP 0.9.1, need no link to each partition.
func refuseAdding(s system.Settings) (why string) {
	switch {
	case s.Text(setQueueType) == streamed:
		return "a producer of streams opens each of them before the load: take queues"
	case s.Text(setProtocol) == amqp10:
		return "a producer has a link to each partition before the load: take " + setProtocol +
			" amqp091"
	case s.Text(setExchangeType) == fanout:
		return "an exchange of type fanout has one partition: take " + setExchangeType + " direct"
	}
	return ""
}

// AddPartitions makes a queue for each new partition of every subscription, and shares these queues
// among the subscription's consumers when all of them are bound.
func (c *cluster) AddPartitions(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		groups := c.groups.On(t)
		for _, g := range groups {
			if err := c.declareQueues(ctx, t, g.subscription); err != nil {
				return err
			}
		}
		err := driver.Until(ctx, settlePoll, func() (again bool, err error) {
			queues, err := c.settledQueues(ctx, t)
			want := t.Partitions * len(groups)
			if err == nil && len(queues) < want {
				again, err = true, fmt.Errorf("it has %d queues of %d", len(queues), want)
			}
			return again, err
		})
		if err != nil {
			return fmt.Errorf("add queues to topic %s: %w", t.Name, err)
		}
		for _, g := range groups {
			g.grow(t.Partitions)
		}
	}
	return nil
}

// grow assigns partitions that were added.
func (g *group) grow(partitions int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for partition := len(g.owners); partition < partitions; partition++ {
		var owner member
		if len(g.members) > 0 {
			owner = g.members[partition%len(g.members)]
			owner.assign(partition)
		}
		g.owners = append(g.owners, owner)
	}
}
