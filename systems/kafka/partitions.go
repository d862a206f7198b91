package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.PartitionAdder = (*cluster)(nil)

// AddPartitions adds the partitions that topics lack. Producers are told of them, as an application
// would have to tell the client library; consumers look for them every metadata_max_age.
func (c *cluster) AddPartitions(ctx context.Context, topics []system.Topic) error {
	for _, t := range topics {
		answers, err := c.admin.UpdatePartitions(ctx, t.Partitions, t.Name)
		if err = cmp.Or(err, answers.Error()); err != nil {
			return fmt.Errorf("add partitions to topic %s: %w", t.Name, c.explain(err))
		}
	}
	if err := c.awaitTopics(ctx, topics, nil); err != nil {
		return err
	}
	producers := driver.ClientsOf[*producer](&c.clients)
	for _, p := range producers {
		p.client.ForceMetadataRefresh()
	}
	return system.Each(ctx, len(producers), askedAtOnce, nil, func(ctx context.Context,
		i int,
	) error {
		p := producers[i]
		return driver.Until(ctx, settlePoll, func() (again bool, err error) {
			leader, _, err := p.client.PartitionLeader(p.topic, int32(p.partitions-1))
			if err == nil && leader < 0 {
				err = errors.New("a producer does not know the new partitions")
			}
			if err != nil {
				p.client.ForceMetadataRefresh()
			}
			return err != nil, err
		})
	})
}
