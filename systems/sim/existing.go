package sim

import (
	"context"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.TopicFinder = (*cluster)(nil)

// FindTopic returns a topic that this connection has created.
func (c *cluster) FindTopic(_ context.Context, name string) (system.Topic, error) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	t, err := c.topicOf("find", system.Topic{Name: name})
	if err != nil {
		return system.Topic{}, err
	}
	return system.Topic{Name: name, Partitions: len(t.partitions)}, nil
}

// DeleteSubscription drops a subscription and its backlog.
func (c *cluster) DeleteSubscription(_ context.Context, t system.Topic, name string) error {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	of, err := c.topicOf("delete a subscription of", t)
	if err != nil {
		return err
	}
	s := of.subscriptions[name]
	if s == nil {
		return nil
	}
	c.simulator.forget(s)
	delete(of.subscriptions, name)
	of.ordered = slices.DeleteFunc(of.ordered, func(o *subscription) bool { return o == s })
	return nil
}
