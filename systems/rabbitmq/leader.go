package rabbitmq

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.LeaderReader = (*cluster)(nil)

// Leader is the endpoint of the server where the leader of the partition's queue
// or stream is. Subscriptions have queues of their own, which need not have one
// leader: it is that of the first by name.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var node string
	var err error
	if c.cfg.kind == streamed {
		node, err = c.streamLeader(queueName(t, unread, partition))
	} else {
		node, err = c.queueLeader(ctx, t, partition)
	}
	if err != nil {
		return "", err
	}
	return endpointOf(node, c.dialer.endpoints)
}

func (c *cluster) queueLeader(ctx context.Context, t system.Topic, partition int) (string, error) {
	queues, err := c.api.queues(ctx, c.cfg.vhost, t.Name)
	if err != nil {
		return "", fmt.Errorf("asking for the queues of exchange %s: %w", t.Name, err)
	}
	return leaderAmong(queues, t, partition)
}

// leaderAmong is the node that leads the partition.
func leaderAmong(queues []queueReport, t system.Topic, partition int) (string, error) {
	end := "." + strconv.Itoa(partition)
	queues = slices.SortedFunc(slices.Values(queues), func(a, b queueReport) int { return strings.Compare(a.Name, b.Name) })
	for _, q := range queues {
		if !strings.HasSuffix(q.Name, end) {
			continue
		}
		at := q.leads()
		if at == "" || len(q.Online) > 0 && !slices.Contains(q.Online, at) {
			return "", fmt.Errorf("queue %s has no leader now", q.Name)
		}
		return at, nil
	}
	return "", fmt.Errorf("exchange %s routes to no queue of partition %d", t.Name, partition)
}

// streamLeader asks by the stream protocol; the management API tells it only
// seconds later.
func (c *cluster) streamLeader(name string) (string, error) {
	environment, err := c.streamEnvironment(0)
	if err != nil {
		return "", err
	}
	defer func() { _ = environment.Close() }() // it always returns nil
	told, err := environment.StreamMetaData(name)
	if err != nil {
		return "", fmt.Errorf("asking for the leader of stream %s: %w", name, err)
	}
	if told.Leader == nil {
		return "", fmt.Errorf("stream %s has no leader now", name)
	}
	return told.Leader.Host, nil
}

// endpointOf is where clients reach a node that is called name@host, or host
// alone.
func endpointOf(node string, endpoints []string) (string, error) {
	_, host, named := strings.Cut(node, "@")
	if !named {
		host = node
	}
	for _, e := range endpoints {
		if at, _, err := net.SplitHostPort(e); err == nil && at == host {
			return e, nil
		}
	}
	return "", fmt.Errorf("%s leads, and none of the endpoints is at its host", node)
}
