package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.PartitionAdder = (*cluster)(nil)

// AddPartitions adds the partitions that topics lack. The brokers give them the topic's
// subscriptions. Producers and consumers look for them every partition_discovery, so that is how
// long it may take.
func (c *cluster) AddPartitions(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		err := c.admin.do(ctx, http.MethodPost, c.adminPath(t.Name)+"/partitions", t.Partitions,
			nil)
		if err != nil {
			return fmt.Errorf("add partitions to topic %s: %w", t.Name, c.explainAdmin(err))
		}
		if err := c.touch(ctx, t); err != nil {
			return c.explain(err)
		}
	}
	return c.clients.Each(func(one driver.Closer) error {
		p, sends := one.(*producer)
		if !sends {
			return nil
		}
		return driver.Until(ctx, settlePoll, func() (again bool, err error) {
			if !p.knows(p.partitions) {
				err = errors.New("a producer has not found the new partitions: lower " +
					setDiscovery)
			}
			return err != nil, err
		})
	})
}
