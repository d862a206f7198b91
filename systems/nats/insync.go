package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
)

var _ system.SyncReader = (*cluster)(nil)

// InSync returns nil when every server answers, and all copies of the topics' streams and
// consumers follow their leaders.
func (c *cluster) InSync(ctx context.Context, topics []system.Topic) error {
	servers, err := c.askServers(ctx)
	if err != nil {
		return err
	}
	if have, want := len(servers), len(c.options.Endpoints)+int(c.joined.Load()); have < want {
		return fmt.Errorf("%d of %d servers answer", have, want)
	}
	for _, t := range topics {
		name := homeOf(c.Settings, t.Name).stream
		if err := c.streamInSync(ctx, name); err != nil {
			return fmt.Errorf("stream %s: %w", name, err)
		}
		if c.level.Majority() {
			continue
		}
		for n := 1; n < c.copies; n++ {
			if err := c.streamInSync(ctx, mirrorOf(name, n)); err != nil {
				return fmt.Errorf("stream %s: %w", mirrorOf(name, n), err)
			}
		}
	}
	return nil
}

func (c *cluster) streamInSync(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	stream, err := c.js.Stream(ctx, name)
	if err == nil {
		err = inPlace(c.placedInfo(stream.CachedInfo()))
	}
	if err != nil {
		return err
	}
	consumers := stream.ListConsumers(ctx)
	for consumer := range consumers.Info() {
		if c.single && consumer.Cluster == nil {
			continue
		}
		err := following(consumer.Cluster)
		if want := consumer.Config.Replicas; err == nil && want > 0 {
			err = whole(consumer.Cluster, want)
		}
		if err != nil {
			return fmt.Errorf("consumer %s: %w", consumer.Name, err)
		}
	}
	return consumers.Err()
}

// inPlace returns an error unless the stream has all its copies, and they follow.
func inPlace(info *jetstream.StreamInfo) error {
	if err := following(info.Cluster); err != nil {
		return err
	}
	if err := whole(info.Cluster, info.Config.Replicas); err != nil {
		return err
	}
	if m := info.Mirror; info.Config.Mirror != nil && (m == nil || m.Active < 0 || m.Error != nil) {
		return errors.New("the mirror does not follow its origin")
	}
	return nil
}

// whole returns an error unless a Raft group has so many members: it has more while one moves.
func whole(c *jetstream.ClusterInfo, want int) error {
	if have := 1 + len(c.Replicas); have != want {
		return fmt.Errorf("it has %d replicas, not %d", have, want)
	}
	return nil
}

// Bounds within which a copy counts as in sync. Under load a copy is rarely current, because the
// leader has applied entries whose answers are still on the way.
const (
	mostBehind = 256 // entries
	mostSilent = 2 * time.Second
	// checkWithin bounds the questions about one stream, because a question about a stream or a
	// consumer whose leader changes may never be answered. Busy servers take a second for them.
	checkWithin = 2 * time.Second
)

// following returns an error unless a Raft group has a leader, and its other members follow it.
func following(c *jetstream.ClusterInfo) error {
	if c == nil || c.Leader == "" {
		return errors.New("it has no leader, or the server is not in a cluster")
	}
	for _, peer := range c.Replicas {
		switch {
		case peer.Offline:
			return fmt.Errorf("replica %s is offline", peer.Name)
		case !peer.Current && peer.Lag > mostBehind:
			return fmt.Errorf("replica %s lacks %d entries", peer.Name, peer.Lag)
		case !peer.Current && peer.Active == 0:
			return fmt.Errorf("replica %s has not joined", peer.Name)
		case !peer.Current && peer.Active > mostSilent:
			return fmt.Errorf("replica %s was not heard for %s", peer.Name, peer.Active)
		}
	}
	return nil
}
