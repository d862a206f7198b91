package kafka

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.SyncReader = (*cluster)(nil)

// InSync reads the in-sync replicas of all topics, those that Kafka keeps for itself included:
// consumers wait for the positions of their groups.
func (c *cluster) InSync(ctx context.Context, _ []system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	all, err := c.admin.Metadata(ctx)
	if err != nil {
		return c.explain(err)
	}
	if have, want := len(all.Brokers), len(c.options.Endpoints); have < want {
		return fmt.Errorf("%d of %d brokers are registered", have, want)
	}
	for _, t := range all.Topics.Sorted() {
		replicas, inSync, err := copies(t)
		if err == nil && inSync < replicas {
			err = fmt.Errorf("of %d replicas of a partition %d are in sync", replicas, inSync)
		}
		if err != nil {
			return of(t.Topic, err)
		}
	}
	return nil
}
