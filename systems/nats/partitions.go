package nats

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.PartitionAdder = (*cluster)(nil)

// AddPartitions has nothing to do: a partition is a subject, and a topic's stream and its consumers
// take all of the topic's subjects.
func (c *cluster) AddPartitions(context.Context, []system.Topic) error { return nil }
