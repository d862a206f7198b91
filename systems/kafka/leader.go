package kafka

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.LeaderReader = (*cluster)(nil)

// Leader is what the partition's leader advertises.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	metadata, err := c.admin.Metadata(ctx, t.Name)
	if err != nil {
		return "", c.explain(err)
	}
	return leaderIn(metadata, t.Name, int32(partition))
}

func leaderIn(m kadm.Metadata, topic string, partition int32) (string, error) {
	if err := m.Topics[topic].Err; err != nil {
		return "", fmt.Errorf("asking for topic %s: %w", topic, err)
	}
	p, there := m.Topics[topic].Partitions[partition]
	if !there {
		return "", fmt.Errorf("topic %s has no partition %d", topic, partition)
	}
	// A partition between two leaders has an error, and one whose leader is down
	// may name a broker that is not listed.
	if p.Err != nil {
		return "", fmt.Errorf("partition %d of %s: %w", partition, topic, p.Err)
	}
	for _, b := range m.Brokers {
		if b.NodeID == p.Leader {
			return net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))), nil
		}
	}
	return "", fmt.Errorf("partition %d of %s has no leader that is known now", partition, topic)
}
