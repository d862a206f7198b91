package sim

import (
	"context"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.PartitionAdder = (*cluster)(nil)

// added are the partitions that topics got later. Consumers find them after a time. The simulator's
// lock guards it.
type added struct {
	afterNs int64 // from their addition until consumers find them
	loses   bool  // what is acknowledged before is never delivered
	untilNs int64 // when they find them, since the simulator began; 0: none were added
	// waiting are deliveries until then, from the partitions after the first ones.
	waiting queue[delivery]
}

func newAdded(s system.Settings) added {
	return added{afterNs: int64(s.Duration("discovery")), loses: s.Bool("discovery_loses")}
}

// hides reports whether consumers do not know a message's partition at a time.
func (a *added) hides(t *topic, partition int32, nowNs int64) bool {
	return int(partition) >= t.first && nowNs < a.untilNs
}

// AddPartitions implements system.PartitionAdder.
func (c *cluster) AddPartitions(_ context.Context, topics []system.Topic) error {
	l := c.simulator
	l.Lock()
	defer l.Unlock()
	for _, one := range topics {
		t, err := c.topicOf("add partitions to", one)
		if err != nil {
			return err
		}
		for len(t.partitions) < one.Partitions {
			t.partitions = append(t.partitions, queue[*slot]{})
		}
		t.count.Store(int32(len(t.partitions)))
	}
	l.added.untilNs = l.clock.Now() - l.startNs + l.added.afterNs
	return nil
}
