package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type redisSystem struct{}

// New returns the Redis system.
func New() driver.CompleteSystem {
	logging.Disable() // the library also returns its errors
	return redisSystem{}
}

// Describe returns Redis's terms, durability levels and settings.
func (redisSystem) Describe() system.Description {
	return system.Description{
		Name: "redis",
		Summary: "Redis Streams: append-only streams in memory, on one primary with replicas, " +
			"read by consumer groups",
		Client: "go-redis " + driver.LibraryVersion("github.com/redis/go-redis/v9"),
		Terms: driver.Terms{
			Topic:           "streams, one for each partition",
			Partition:       "stream, called topic:partition; all of them are on the primary",
			Key:             "field k of the entry",
			Subscription:    "consumer group on each of the streams, which begins at their start",
			Consumer:        "consumer of the group; it reads all partitions, as the others do",
			Acknowledgement: "the answer to XADD; levels 1 and 2: to WAIT, once for each pipeline",
			Backlog:         "entries that the group has not read, and those that are pending",
		}.List(),
		Levels:       levels(),
		Delivery:     []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:     slices.Concat(clientSettings, serverSettings),
		Clients:      aims,
		Waits:        []system.Wait{system.Lingers(setLinger)},
		Copies:       []string{setReplication},
		Redelivery:   redelivery,
		Capabilities: capabilities,
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "XREADGROUP with NOACK: an entry is the group's past as soon as it is read"}
	}
	after := s.Duration(setClaimAfter)
	return system.Redelivery{After: after + claimEvery(after),
		Why: "consumers claim entries that are pending for " + setClaimAfter + " (" +
			s.Text(setClaimAfter) + "), also from a consumer that is merely slow"}
}

// Connect finds the primary among the endpoints. It returns within ten seconds.
func (redisSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "redis-1:6379"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	primary, err := c.findPrimary(ctx)
	if err != nil {
		return nil, err
	}
	c.primary, c.client = primary, c.dial(primary, askWithin)
	return c, nil
}

const askWithin = 5 * time.Second

// errNotConnected is wrapped by errors of requests that were not sent.
var errNotConnected = errors.New("no connection")

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the primary. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	primary string          // the primary's address
	client  *goredis.Client // for requests that are not measured
	clients driver.Clients
}

// dial returns a client of one server, which connects when it is first used. It repeats no
// command, because an XADD that is sent twice makes two messages.
func (c *cluster) dial(address string, readWithin time.Duration) *goredis.Client {
	o := &goredis.Options{
		Addr: address, Protocol: 2, DisableIdentity: true,
		Username: c.options.Credentials.User, Password: c.options.Credentials.Password,
		ReadTimeout: readWithin, WriteTimeout: readWithin,
		MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true,
		PoolSize: 1, PipelinePoolSize: -1, PoolTimeout: readWithin,
	}
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := driver.Dial(ctx, network, addr, c.options.TLS)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNotConnected, err)
		}
		return conn, nil
	}
	return goredis.NewClient(o)
}

// findPrimary queries all endpoints at once.
func (c *cluster) findPrimary(ctx context.Context) (string, error) {
	all := c.options.Endpoints
	found, errs := driver.AskAll(len(all), func(i int) (info, error) {
		client := c.dial(all[i], askWithin)
		defer func() { _ = client.Close() }()
		return readInfo(ctx, client)
	})
	primary, err := choosePrimary(all, found, errs)
	if err != nil {
		return "", c.explain(err)
	}
	return primary, nil
}

// choosePrimary returns the address of the only primary, from the answers and errors of all
// servers.
func choosePrimary(all []string, found []info, errs []error) (primary string, err error) {
	run := ""
	for i, address := range all {
		have := found[i]
		switch {
		case errs[i] != nil:
			err = cmp.Or(err, errs[i])
		case have["cluster_enabled"] == "1":
			return "", fmt.Errorf("%s is a node of Redis Cluster, which spreads keys over several "+
				"primaries: name a primary without cluster-enabled", address)
		case have["role"] != "master":
			of := net.JoinHostPort(have["master_host"], have["master_port"])
			err = fmt.Errorf("%s is a read-only replica of %s: name the primary among the "+
				"endpoints", address, of)
		case run != "" && run != have["run_id"]:
			return "", fmt.Errorf("%s and %s are primaries of their own: name one of them, and "+
				"its replicas", primary, address)
		default:
			primary, run = address, have["run_id"]
		}
	}
	if primary != "" {
		return primary, nil
	}
	return "", err
}

// explain returns an error that says in one sentence why no server can be reached.
func (c *cluster) explain(err error) error {
	peer := driver.Peer{
		Endpoints: c.options.Endpoints, Protocol: "Redis", Encrypted: c.options.TLS != nil,
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	switch {
	case goredis.IsAuthError(err):
		return peer.RefusesLogin(err, "")
	case goredis.IsPermissionError(err):
		return fmt.Errorf("the user lacks rights at %s that a run needs: grant them, "+
			"or name another one: %w", peer.At(), err)
	case driver.Broken(err), strings.Contains(err.Error(), "can't parse"):
		return peer.HungUp(err)
	}
	return err
}

// streams returns the keys of a topic's partitions.
func streams(t system.Topic) []string {
	keys := make([]string, t.Partitions)
	for i := range keys {
		keys[i] = t.Name + ":" + strconv.Itoa(i)
	}
	return keys
}

// firstGroup is an unused consumer group. Creating it creates the stream, and fails if the stream
// exists.
const firstGroup = "plimsoll.topic"

// CreateTopic makes the topic's streams.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	return c.CreateTopics(ctx, []system.Topic{t})
}

// CreateTopics makes the streams of all topics in one pipeline.
func (c *cluster) CreateTopics(ctx context.Context, topics []system.Topic) error {
	if c.level.Majority() {
		if err := c.awaitable(ctx); err != nil {
			return err
		}
	}
	pipe := c.client.Pipeline()
	for _, t := range topics {
		for _, key := range streams(t) {
			pipe.XGroupCreateMkStream(ctx, key, firstGroup, "$")
		}
	}
	return c.change(ctx, "create the topics", pipe)
}

// awaitable returns an error if the primary has fewer replicas than WAIT would wait for.
func (c *cluster) awaitable(ctx context.Context) error {
	have, err := readInfo(ctx, c.client)
	if err != nil {
		return fmt.Errorf("ask the primary for its replicas: %w", c.explain(err))
	}
	_, online := have.replicas()
	if online >= c.replicasAwaited() {
		return nil
	}
	return c.enough(online)
}

// enough returns an error if the replicas are too few for the copies.
func (c *cluster) enough(online int) error {
	return copiesOf(c.Settings, c.level).Enough(online+1,
		c.primary+" has "+quantity.Plural(online, "replica", "replicas")+" online")
}

// change executes a pipeline, and waits for replicas if the level does.
func (c *cluster) change(ctx context.Context, doing string, pipe goredis.Pipeliner) error {
	wait := c.wait(ctx)
	if wait != nil {
		_ = pipe.Process(ctx, wait) // only adds to the pipeline
	}
	if _, err := pipe.Exec(ctx); err != nil {
		if goredis.HasErrorPrefix(err, "BUSYGROUP") {
			err = fmt.Errorf("a topic of the name exists: delete it, or choose another name: %w",
				err)
		}
		return fmt.Errorf("%s: %w", doing, c.explain(err))
	}
	if err := c.waited(wait); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// DeleteTopic deletes the topic's streams.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	return c.DeleteTopics(ctx, []system.Topic{t})
}

// DeleteTopics deletes the existing streams.
func (c *cluster) DeleteTopics(ctx context.Context, topics []system.Topic) error {
	pipe := c.client.Pipeline()
	for _, t := range topics {
		pipe.Unlink(ctx, streams(t)...)
	}
	return c.change(ctx, "delete the topics", pipe)
}

// Leader returns the primary, if it still is the primary and has the partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	have, err := readInfo(ctx, c.client)
	if err != nil {
		return "", c.explain(err)
	}
	if have["role"] != "master" {
		return "", fmt.Errorf("%s is no longer the primary", c.primary)
	}
	key := streams(system.Topic{Name: t.Name, Partitions: partition + 1})[partition]
	if n, err := c.client.Exists(ctx, key).Result(); err != nil || n == 0 {
		return "", errors.Join(fmt.Errorf("there is no stream %s", key), err)
	}
	return c.primary, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, c.client.Close)
}
