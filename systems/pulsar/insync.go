package pulsar

import (
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.SyncReader = (*cluster)(nil)

// InSync returns nil when every broker is active, every bookie accepts writes, and no ledger has a
// copy on a bookie that has left. Entries written while a bookie was down are complete on the ack
// quorum and stay missing on that bookie, because the testbed does not copy them later.
func (c *cluster) InSync(ctx context.Context, topics []system.Topic) error {
	var active []string
	if err := c.admin.get(ctx, "/admin/v2/brokers", &active); err != nil {
		return fmt.Errorf("ask for the active brokers: %w", c.explainAdmin(err))
	}
	want := len(c.options.Endpoints) + int(c.joined.Load())
	if have := len(active); have < want {
		return fmt.Errorf("%d of %d brokers are active", have, want)
	}
	bookies := slices.DeleteFunc(c.allBookies(ctx), c.hasLeft)
	if have := len(bookies); have < c.copies.ensemble {
		return fmt.Errorf("%d bookies are known, and an ensemble has %d", have, c.copies.ensemble)
	}
	for _, b := range bookies {
		var state struct{ Running, ReadOnly, ShuttingDown bool }
		if err := c.askBookie(ctx, b, "/api/v1/bookie/state", &state); err != nil {
			return fmt.Errorf("bookie %s: %w", b, err)
		}
		if !state.Running || state.ReadOnly || state.ShuttingDown {
			return fmt.Errorf("bookie %s takes no writes", b)
		}
	}
	if len(bookies) > 0 {
		if err := c.recovered(ctx, bookies[0]); err != nil {
			return err
		}
	}
	for _, t := range topics {
		for partition := range t.Partitions {
			if _, err := c.Leader(ctx, t, partition); err != nil {
				return err
			}
		}
	}
	return nil
}
