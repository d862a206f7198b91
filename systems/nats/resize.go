package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

var _ system.Scaler = (*cluster)(nil)

// refuseResize says that only streams whose copies are in one Raft group can move.
func refuseResize(c system.Check) string {
	if !c.Durability.Majority() {
		return fmt.Sprintf("at level %d each copy is a mirror that is tied to its server: take "+
			"--durability 1 or 2", c.Durability)
	}
	return ""
}

// Join implements system.Scaler. A stream moves a copy by the evacuation of a peer: the servers
// take another one, and let the peer go when that one has caught up.
func (c *cluster) Join(ctx context.Context, r system.Resize) (string, error) {
	name := r.Nodes[0].Name
	var servers int
	err := driver.Retry(ctx, placePause, func() error {
		all, err := c.askServers(ctx)
		if err != nil {
			return err
		}
		// Any server may choose the places of copies, so every server has to know the new one.
		for _, s := range all {
			if s.JetStream.Meta == nil || s.JetStream.Meta.Size < len(all) {
				return fmt.Errorf("%s does not know all %d servers", s.Name, len(all))
			}
		}
		servers = len(all)
		if !slices.ContainsFunc(all, func(s serverReport) bool { return s.Name == name }) {
			return fmt.Errorf("%s does not answer", name)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("wait for %s: %w", name, err)
	}
	c.joined.Add(1)
	streams := c.streamsOf(r.Topics)
	share := max(1, len(streams)*c.copies/servers)
	for i, stream := range streams[:share] {
		peers, err := c.peersOf(ctx, stream)
		if err == nil { // a share of the leaders too
			err = c.evacuate(ctx, stream, peers[i%len(peers)])
		}
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s joined; copies of streams that move: %d of %d", name, share,
		len(streams)*c.copies), nil
}

// Leave implements system.Scaler.
func (c *cluster) Leave(ctx context.Context, r system.Resize) (string, error) {
	name, moved := r.Nodes[0].Name, 0
	for _, stream := range c.streamsOf(r.Topics) {
		peers, err := c.peersOf(ctx, stream)
		if err != nil {
			return "", err
		}
		if !slices.Contains(peers, name) {
			continue
		}
		if err := c.evacuate(ctx, stream, name); err != nil {
			return "", err
		}
		moved++
	}
	return fmt.Sprintf("%s hands over its %s", name,
		quantity.Plural(moved, "copy of a stream", "copies of streams")), nil
}

// Forget implements system.Scaler: the other servers no longer count the one that left.
func (c *cluster) Forget(ctx context.Context, r system.Resize) (string, error) {
	name := r.Nodes[0].Name
	c.joined.Add(-1)
	conn, err := connectTo(ctx, c.admin, 0, "plimsoll admin", -1)
	if err != nil {
		return "", fmt.Errorf("connect as the admin user: %w", err)
	}
	defer conn.Close()
	// The server that left may have led the others.
	err = driver.Retry(ctx, placePause, func() error {
		return tell(ctx, conn, "SERVER.REMOVE", name)
	})
	if err != nil {
		return "", fmt.Errorf("remove server %s: %w", name, err)
	}
	return "the servers forgot " + name, nil
}

// streamsOf returns the names of the topics' streams, each once.
func (c *cluster) streamsOf(topics []system.Topic) (all []string) {
	for _, t := range topics {
		if name := homeOf(c.Settings, t.Name).stream; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// peersOf returns the servers with a copy of a stream, its leader first.
func (c *cluster) peersOf(ctx context.Context, stream string) ([]string, error) {
	info, err := c.streamInfo(ctx, stream)
	if err == nil && (info.Cluster == nil || info.Cluster.Leader == "") {
		err = errors.New("it has no leader")
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", stream, err)
	}
	peers := []string{info.Cluster.Leader}
	for _, r := range info.Cluster.Replicas {
		peers = append(peers, r.Name)
	}
	return peers, nil
}

// evacuate moves a peer's copy of a stream, and of the stream's consumers, to another server. It
// asks until ctx ends: the servers refuse as long as their leader knows of no other with room.
func (c *cluster) evacuate(ctx context.Context, stream, peer string) error {
	err := driver.Retry(ctx, placePause, func() error {
		return tell(ctx, c.conn, "STREAM.PEER.EVACUATE."+stream, peer)
	})
	if err != nil {
		return fmt.Errorf("move a copy of stream %s from %s: %w", stream, peer, err)
	}
	return nil
}

// tell sends an order about a server to JetStream's API.
func tell(ctx context.Context, conn *nats.Conn, order, peer string) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	body, err := json.Marshal(map[string]string{"peer": peer})
	if err != nil {
		return err
	}
	answer, err := conn.RequestWithContext(ctx, "$JS.API."+order, body)
	if err != nil {
		return err
	}
	var told struct {
		Success bool
		Error   *struct{ Description string }
	}
	if err := json.Unmarshal(answer.Data, &told); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if told.Error != nil {
		return errors.New(told.Error.Description)
	}
	if !told.Success {
		return errors.New("the servers did not do it")
	}
	return nil
}
