package pulsar

import (
	"context"
	"fmt"
	"net/http"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.PartitionAdder = (*cluster)(nil)

// addedAtOnce bounds the topics that get partitions at the same time.
const addedAtOnce = 8

// AddPartitions adds the partitions that topics lack. The brokers give them the topic's
// subscriptions. Producers and consumers look for them every partition_discovery, so that is how
// long it may take.
func (c *cluster) AddPartitions(ctx context.Context, topics []system.Topic) error {
	err := system.Each(ctx, len(topics), addedAtOnce, nil, func(ctx context.Context, i int) error {
		t := topics[i]
		err := c.admin.do(ctx, http.MethodPost, c.adminPath(t.Name)+"/partitions", t.Partitions,
			nil)
		if err != nil {
			return fmt.Errorf("add partitions to topic %s: %w", t.Name, c.explainAdmin(err))
		}
		if err := c.touch(ctx, t); err != nil {
			return c.explain(err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range driver.ClientsOf[*producer](&c.clients) {
		err := driver.Until(ctx, settlePoll, func() (again bool, err error) {
			if !p.knows(p.partitions) {
				err = errUndiscovered
			}
			return err != nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
