package rabbitmq

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.SyncReader = (*cluster)(nil)

// InSync checks through the management API that all servers run and all members of the topics'
// queues are online. The API does not show how far a member's log has come.
func (c *cluster) InSync(ctx context.Context, topics []system.Topic) error {
	nodes, err := c.api.nodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !n.Running {
			return fmt.Errorf("%s does not run", n.Name)
		}
		if len(n.Partitions) > 0 {
			return fmt.Errorf("%s is partitioned from %v", n.Name, n.Partitions)
		}
	}
	if have, want := len(nodes), len(c.options.Endpoints)+int(c.joined.Load()); have < want {
		return fmt.Errorf("%d of %d servers are in the cluster", have, want)
	}
	for _, t := range topics {
		queues, err := c.api.queues(ctx, c.cfg.Text(setVhost), t.Name)
		if err == nil && c.cfg.kind == streamed {
			err = c.streamCopies(ctx, queues)
		}
		if err == nil {
			err = unsettled(t, queues)
		}
		if err != nil {
			return fmt.Errorf("topic %s: %w", t.Name, err)
		}
		for _, q := range queues {
			if q.State != "running" {
				return fmt.Errorf("queue %s is %s", q.Name, q.State)
			}
		}
	}
	return nil
}
