package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.LeaderReader = (*cluster)(nil)

// Leader is the endpoint of the server that leads the topic's stream. All
// partitions are one stream, so they have one leader.
func (c *cluster) Leader(ctx context.Context, t system.Topic, _ int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	info, err := c.streamInfo(ctx, c.cfg.homeOf(t.Name).stream)
	if err != nil {
		return "", fmt.Errorf("asking for the stream's leader: %w", err)
	}
	if info.Cluster == nil || info.Cluster.Leader == "" {
		return "", errors.New("the stream has no leader now")
	}
	return c.servers.endpoint(ctx, info.Cluster.Leader)
}

// serverNames are the endpoints by the names of their servers, which the servers
// tell who connects to them.
type serverNames struct {
	of *cluster

	mu    sync.Mutex
	known map[string]string
}

// endpoint is where a server is. When it is not known, all endpoints are asked
// side by side: one that does not answer must not hide the others.
func (n *serverNames) endpoint(ctx context.Context, name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at, known := n.known[name]; known {
		return at, nil
	}
	names := make([]string, len(n.of.endpoints))
	var asked sync.WaitGroup
	for i, at := range n.of.endpoints {
		asked.Go(func() {
			conn, err := connectTo(ctx, []string{at}, 0, n.of.user, "plimsoll names", -1)
			if err != nil {
				return // a server that is down is not the one
			}
			names[i] = conn.ConnectedServerName()
			conn.Close()
		})
	}
	asked.Wait()
	if n.known == nil {
		n.known = make(map[string]string)
	}
	for i, at := range n.of.endpoints {
		if names[i] != "" {
			n.known[names[i]] = at
		}
	}
	if at, known := n.known[name]; known {
		return at, nil
	}
	return "", fmt.Errorf("server %s leads, and none of the endpoints is its", name)
}
