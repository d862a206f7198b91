package pulsar

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var _ system.Scaler = (*cluster)(nil)

// refuseResize says that a machine that joins or leaves has a bookie and a broker.
func refuseResize(r system.Check) string {
	if s := r.Settings; s.Text(setTopology) != colocated || s.Count(setBookies) > 0 ||
		s.Count(setBrokers) > 0 {
		return "a bookie and a broker join together: leave out " + setTopology + ", " +
			setBookies + " and " + setBrokers
	}
	return copiesOf(r.Settings, r.Durability).RefuseResize(r.Nodes)
}

// Join implements system.Scaler. A broker takes over a share of the bundles that have partitions.
// Ledgers stay where they are; those that the moved partitions begin may be on the new bookie.
func (c *cluster) Join(ctx context.Context, r system.Resize) (string, error) {
	bookie, broker := r.Nodes[0], r.Nodes[1]
	id := adminOf([]string{broker.Address}, auto, c.options.TLS != nil)[0]
	var active []string
	err := driver.Until(ctx, settlePoll, func() (bool, error) {
		if err := c.admin.get(ctx, "/admin/v2/brokers", &active); err != nil {
			return true, c.explainAdmin(err)
		}
		if !slices.Contains(active, id) {
			return true, fmt.Errorf("%s is not active", broker.Name)
		}
		if !slices.Contains(c.allBookies(ctx), bookie.Address) {
			return true, fmt.Errorf("%s is not registered", bookie.Name)
		}
		return false, nil
	})
	if err != nil {
		return "", err
	}
	c.joined.Add(1)
	used, err := c.bundlesOf(ctx, r.Topics)
	if err != nil {
		return "", err
	}
	share := max(1, len(used)/len(active))
	for _, bundle := range used[:share] {
		err := c.admin.do(ctx, http.MethodPut, "/admin/v2/namespaces/"+c.namespace()+"/"+bundle+
			"/unload?destinationBroker="+url.QueryEscape(id), nil, nil)
		if err != nil {
			return "", fmt.Errorf("move bundle %s: %w", bundle, c.explainAdmin(err))
		}
	}
	return fmt.Sprintf("%s joined and takes %d of the topics' %d bundles, and new ledgers have "+
		"copies on %s too", broker.Name, share, len(used), bookie.Name), nil
}

// bundlesOf returns the bundles that have partitions of the topics, each once.
func (c *cluster) bundlesOf(ctx context.Context, topics []system.Topic) (all []string, err error) {
	for _, t := range topics {
		for partition := range t.Partitions {
			var bundle string
			path := "/lookup/v2/topic/persistent/" + c.namespace() + "/" + safeName(t.Name) +
				"-partition-" + strconv.Itoa(partition) + "/bundle"
			if err := c.admin.get(ctx, path, &bundle); err != nil {
				return nil, fmt.Errorf("ask for a partition's bundle: %w", c.explainAdmin(err))
			}
			if !slices.Contains(all, bundle) {
				all = append(all, bundle)
			}
		}
	}
	return all, nil
}

// Leave implements system.Scaler. It does nothing: a broker that ends hands its bundles over, and
// bookies copy the ledgers of one that is gone.
func (c *cluster) Leave(context.Context, system.Resize) (string, error) { return "", nil }

// Forget implements system.Scaler.
func (c *cluster) Forget(_ context.Context, r system.Resize) (string, error) {
	c.joined.Add(-1)
	c.left.Store(r.Nodes[0].Address, true)
	return "the other bookies copy the ledgers of " + r.Nodes[0].Name, nil
}

// hasLeft reports whether a bookie has left for good.
func (c *cluster) hasLeft(bookie string) bool {
	_, left := c.left.Load(bookie)
	return left
}

// recovered returns an error while a ledger has a copy on a bookie that has left. It asks another
// bookie.
func (c *cluster) recovered(ctx context.Context, bookie string) error {
	var gone []string
	for address := range c.left.Range {
		gone = append(gone, address.(string))
	}
	if len(gone) == 0 {
		return nil
	}
	ledgers := map[string]string{}
	err := c.askBookie(ctx, bookie, "/api/v1/ledger/list?print_metadata=true", &ledgers)
	if err != nil {
		return fmt.Errorf("bookie %s: %w", bookie, err)
	}
	if n := stillOn(ledgers, gone); n > 0 {
		return fmt.Errorf("%d of %d ledgers have a copy on a bookie that has left", n, len(ledgers))
	}
	return nil
}

// stillOn returns how many ledgers have one of the bookies in their metadata.
func stillOn(ledgers map[string]string, bookies []string) (n int) {
	for _, metadata := range ledgers {
		if slices.ContainsFunc(bookies, func(b string) bool {
			return strings.Contains(metadata, b)
		}) {
			n++
		}
	}
	return n
}
