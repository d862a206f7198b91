package nats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// settleWithin bounds the wait for a new stream's copies to exist and be current.
	settleWithin = 10 * time.Second
	settlePoll   = 10 * time.Millisecond
	// placeWithin bounds the retries while a server counts as offline.
	placeWithin = 5 * time.Second
	placePause  = 200 * time.Millisecond
	// codeNotClustered is the server's error for replicas without a cluster,
	// codeNoPeers the one for more replicas than servers.
	codeNotClustered jetstream.ErrorCode = 10074
	codeNoPeers      jetstream.ErrorCode = 10005
)

// CreateTopic makes the stream, and its mirrors at levels 3 and 4, and returns
// when every copy is in place and current.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if t.Partitions < 1 {
		return fmt.Errorf("%d partitions: there must be at least one", t.Partitions)
	}
	at := homeOf(c.Settings, t.Name)
	if at.shared() {
		return c.sharing.join(ctx, at, func() error { return c.createStream(ctx, at) })
	}
	return c.createStream(ctx, at)
}

// createStream makes the stream of a topic, or of several that share it.
func (c *cluster) createStream(ctx context.Context, at home) error {
	plan, err := c.plan(ctx, at)
	if err != nil {
		return err
	}
	for i, stream := range plan {
		err := c.placed(ctx, stream)
		if err != nil {
			err = explainCreate(stream, err)
			return errors.Join(err, c.undo(ctx, plan[:i]))
		}
	}
	if err := c.settle(ctx, at, plan); err != nil {
		return errors.Join(err, c.undo(ctx, plan))
	}
	return nil
}

// placed creates a stream. A busy server misses heartbeats and counts as offline for a
// moment, so placement is retried for placeWithin.
func (c *cluster) placed(ctx context.Context, stream jetstream.StreamConfig) error {
	placing, cancel := context.WithTimeout(ctx, placeWithin)
	defer cancel()
	return driver.Until(placing, placePause, func() (again bool, err error) {
		err = persist(ctx, func(ctx context.Context) error {
			_, err := c.js.CreateStream(ctx, stream)
			return err
		})
		var api *jetstream.APIError
		offline := errors.As(err, &api) && api.ErrorCode == codeNoPeers &&
			strings.Contains(api.Description, "offline")
		return offline, err
	})
}

// plan returns the streams of a home at the requested level. Producers publish to the first.
func (c *cluster) plan(ctx context.Context, at home) ([]jetstream.StreamConfig, error) {
	name := at.stream
	origin := streamConfig(c.Settings)
	origin.Name, origin.Replicas = name, c.copies
	// An identical stream of another topic would be accepted as this one; unique metadata makes
	// that an error.
	origin.Metadata = map[string]string{"plimsoll-topic": nuid.Next()}
	origin.Subjects = []string{at.all()}
	if c.single {
		err := copiesOf(c.Settings, c.level).Enough(1, "only 1 server answers, and it is in no "+
			"cluster")
		return []jetstream.StreamConfig{origin}, err
	}
	if c.level.Majority() || origin.Replicas == 1 {
		return []jetstream.StreamConfig{origin}, nil
	}
	tags, err := c.serverTags(ctx)
	if err != nil {
		return nil, err
	}
	copies := origin.Replicas
	if len(tags) < copies {
		return nil, fmt.Errorf(
			"level %d puts %d copies on servers of their own, but only %d servers have a tag of "+
				"their own: give each server its own server_tags", c.level, copies, len(
				tags))
	}
	first := firstServer(name, len(tags))
	origin.Replicas = 1
	origin.Placement = &jetstream.Placement{Tags: []string{tags[first]}}
	plan := []jetstream.StreamConfig{origin}
	for n := 1; n < copies; n++ {
		mirror := origin
		mirror.Name, mirror.Subjects = mirrorOf(name, n), nil
		mirror.AllowAtomicPublish = false // which is its origin's affair
		mirror.Mirror = &jetstream.StreamSource{Name: name}
		mirror.Placement = &jetstream.Placement{Tags: []string{tags[(first+n)%len(tags)]}}
		plan = append(plan, mirror)
	}
	return plan, nil
}

// firstServer chooses a topic's first server by its name, to spread topics over the servers.
func firstServer(name string, servers int) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(h.Sum32() % uint32(servers))
}

// serverTags is, for each server, a tag that no other server has, in the order
// of the servers' names. The servers are asked once.
func (c *cluster) serverTags(ctx context.Context) ([]string, error) {
	c.tagging.Lock()
	defer c.tagging.Unlock()
	if c.tags != nil {
		return c.tags, nil
	}
	servers, err := c.askServers(ctx)
	if err != nil {
		return nil, fmt.Errorf(
			"level %d places copies by the servers' tags, which could not be read: %w", c.level,
			err)
	}
	holders := make(map[string]int)
	for _, s := range servers {
		for _, tag := range s.Tags {
			holders[tag]++
		}
	}
	for _, s := range servers {
		if i := slices.IndexFunc(s.Tags,
			func(tag string) bool { return holders[tag] == 1 }); i >= 0 {
			c.tags = append(c.tags, s.Tags[i])
		}
	}
	return c.tags, nil
}

func explainCreate(stream jetstream.StreamConfig, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse):
		return fmt.Errorf("stream %s exists already: choose another name or delete it: %w",
			stream.Name, err)
	case errors.As(err, &api) &&
		(api.ErrorCode == codeNotClustered || api.ErrorCode == codeNoPeers):
		return fmt.Errorf("stream %s needs %d servers with JetStream and room for it: %w",
			stream.Name, stream.Replicas, err)
	}
	return fmt.Errorf("stream %s: %w", stream.Name, err)
}

// undo deletes the streams of a topic whose creation failed.
func (c *cluster) undo(ctx context.Context, plan []jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
	defer cancel()
	var errs []error
	for _, stream := range slices.Backward(plan) {
		if err := c.js.DeleteStream(ctx, stream.Name); err != nil &&
			!errors.Is(err, jetstream.ErrStreamNotFound) {
			errs = append(errs, fmt.Errorf("delete stream %s again: %w", stream.Name, err))
		}
	}
	return errors.Join(errs...)
}

// settle waits until every copy of every stream is current, and every server knows the subjects.
func (c *cluster) settle(ctx context.Context, at home, plan []jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	for _, stream := range plan {
		if _, err := c.settleStream(ctx, stream.Name); err != nil {
			return err
		}
	}
	for i := range c.options.Endpoints {
		if err := c.probe(ctx, i, at.subject(0)); err != nil {
			return err
		}
	}
	return nil
}

// settleStream waits until a stream's copies are current.
func (c *cluster) settleStream(ctx context.Context, name string) (*jetstream.StreamInfo, error) {
	var info *jetstream.StreamInfo
	err := poll(ctx, func() error {
		var err error
		info, err = c.streamInfo(ctx, name)
		if err == nil {
			err = notInPlace(info)
		}
		if err != nil {
			return fmt.Errorf("wait for stream %s: %w", name, err)
		}
		return nil
	})
	return info, err
}

// probe waits until a message sent to one endpoint reaches the stream, because a server refuses
// messages to subjects that it does not know yet. The probe's message expects a last sequence that
// no stream has, so it is not stored.
func (c *cluster) probe(ctx context.Context, endpoint int, subject string) error {
	conn, err := c.vantage(ctx, endpoint)
	if err != nil {
		return err
	}
	m := nats.NewMsg(subject)
	m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(math.MaxInt64, 10))
	return poll(ctx, func() error {
		if _, err := conn.RequestMsgWithContext(ctx, m); err != nil {
			return fmt.Errorf("wait for subject %s at %s: %w", subject, conn.ConnectedAddr(),
				err)
		}
		return nil
	})
}

// vantage returns the cluster's own connection to one endpoint.
func (c *cluster) vantage(ctx context.Context, endpoint int) (*nats.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.vantages[endpoint]; conn != nil {
		return conn, nil
	}
	conn, err := c.connect(ctx, endpoint, "plimsoll probe")
	if err == nil {
		c.vantages[endpoint] = conn
	}
	return conn, err
}

// poll retries until there is no error or ctx ends. It then returns the last error before ctx
// ended.
func poll(ctx context.Context, try func() error) error {
	if err := driver.Retry(ctx, settlePoll, try); err != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return nil
}

// streamInfo requests a stream's info until a server answers.
func (c *cluster) streamInfo(ctx context.Context, name string) (info *jetstream.StreamInfo,
	err error) {
	err = persist(ctx, func(ctx context.Context) error {
		stream, err := c.js.Stream(ctx, name)
		if err == nil {
			info = c.placedInfo(stream.CachedInfo())
		}
		return err
	})
	return info, err
}

// placedInfo returns a stream's info with its place, which a server without a cluster leaves out.
func (c *cluster) placedInfo(info *jetstream.StreamInfo) *jetstream.StreamInfo {
	if c.single && info.Cluster == nil {
		info.Cluster = &jetstream.ClusterInfo{Leader: c.conn.ConnectedServerName()}
	}
	return info
}

// persist repeats a request until a server answers: a cluster without a leader, or an overloaded
// one, does not answer. Creating the same stream or durable consumer twice creates one.
func persist(ctx context.Context, ask func(context.Context) error) error {
	for {
		within, cancel := context.WithTimeout(ctx, askWithin)
		err := ask(within)
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

// notInPlace returns an error that says what a stream lacks, or nil.
func notInPlace(info *jetstream.StreamInfo) error {
	if info.Cluster == nil || info.Cluster.Leader == "" {
		return errors.New("it has no leader, or the server is not in a cluster")
	}
	for _, peer := range info.Cluster.Replicas {
		if peer.Offline {
			return fmt.Errorf("replica %s is offline", peer.Name)
		}
		if !peer.Current {
			return fmt.Errorf("replica %s is not current", peer.Name)
		}
	}
	if have := 1 + len(info.Cluster.Replicas); have < info.Config.Replicas {
		return fmt.Errorf("it has %d of %d replicas", have, info.Config.Replicas)
	}
	if m := info.Mirror; info.Config.Mirror != nil {
		switch {
		case m == nil || m.Active < 0:
			return errors.New("the mirror has not reached its origin")
		case m.Error != nil:
			return fmt.Errorf("the mirror fails: %w", m.Error)
		}
	}
	return nil
}

// DeleteTopic deletes the topic's stream. A shared stream, with all its messages, is deleted with
// its last topic.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	at := homeOf(c.Settings, t.Name)
	if at.shared() {
		if err := c.sharing.leave(ctx, at,
			func() error { return c.deleteStream(ctx, at.stream) }); err != nil {
			return fmt.Errorf("topic %s: %w", t.Name, err)
		}
		return nil
	}
	return c.deleteStream(ctx, at.stream)
}

// deleteStream deletes a stream and its mirrors. The mirrors go first, so that none is left
// without its origin.
func (c *cluster) deleteStream(ctx context.Context, name string) error {
	if !c.level.Majority() {
		for n := 1; n < c.copies; n++ {
			err := c.js.DeleteStream(ctx, mirrorOf(name, n))
			if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
				return fmt.Errorf("mirror %d: %w", n, err)
			}
		}
	}
	return c.js.DeleteStream(ctx, name)
}

// Leader returns the endpoint of the server that leads the topic's stream. All partitions are in
// one stream, so they have one leader.
func (c *cluster) Leader(ctx context.Context, t system.Topic, _ int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	info, err := c.streamInfo(ctx, homeOf(c.Settings, t.Name).stream)
	if err != nil {
		return "", fmt.Errorf("ask for the stream's leader: %w", err)
	}
	if info.Cluster == nil || info.Cluster.Leader == "" {
		return "", errors.New("the stream has no leader now")
	}
	return c.servers.endpoint(ctx, info.Cluster.Leader)
}

// serverNames maps servers' names to endpoints. A server sends its name to clients that connect.
type serverNames struct {
	of *cluster

	mu    sync.Mutex
	known map[string]string
}

// endpoint returns a server's endpoint. If it is unknown, all endpoints are asked in parallel, so
// that one that does not answer does not hide the others.
func (n *serverNames) endpoint(ctx context.Context, name string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at, known := n.known[name]; known {
		return at, nil
	}
	all := n.of.options.Endpoints
	names, _ := driver.AskAll(len(all), func(i int) (string, error) {
		one := n.of.options
		one.Endpoints = all[i : i+1]
		conn, err := connectTo(ctx, one, 0, "plimsoll names", -1)
		if err != nil {
			return "", err // a server that is down is not the leader
		}
		defer conn.Close()
		return conn.ConnectedServerName(), nil
	})
	if n.known == nil {
		n.known = make(map[string]string)
	}
	for i, at := range all {
		if names[i] != "" {
			n.known[names[i]] = at
		}
	}
	if at, known := n.known[name]; known {
		return at, nil
	}
	return "", fmt.Errorf("server %s leads, but no endpoint is its address", name)
}

// maxName bounds stream and consumer names: they become directory names.
const maxName = 180

// safeName turns any name into one that JetStream accepts for a stream, a
// consumer or a token of a subject. An acceptable name stays unchanged. Other names get a digest,
// so that two names never become one.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	safe := b.String()
	if safe == name && name != "" && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return safe[:min(len(safe), maxName)] + "-" + hex.EncodeToString(sum[:6])
}

// mirrorOf returns the name of a stream's copy number n, from 1, at levels 3 and 4.
func mirrorOf(stream string, n int) string {
	return stream + "-mirror-" + strconv.Itoa(n)
}
