package kafka

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.SyncReader = (*cluster)(nil)

// InSync reads the in-sync replicas of all topics. Internal topics count, because consumers wait
// for their groups' positions.
func (c *cluster) InSync(ctx context.Context, _ []system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	all, err := c.admin.Metadata(ctx)
	if err != nil {
		return c.explain(err)
	}
	want := len(c.options.Endpoints) + int(c.joined.Load())
	if have := len(all.Brokers); have < want {
		return fmt.Errorf("%d of %d brokers are registered", have, want)
	}
	for _, t := range all.Topics.Sorted() {
		replicas, inSync, err := copies(t)
		if err == nil && inSync < replicas {
			err = fmt.Errorf("a partition has %d replicas, %d in sync", replicas, inSync)
		}
		if err != nil {
			return of(t.Topic, err)
		}
	}
	return c.moving(ctx)
}
