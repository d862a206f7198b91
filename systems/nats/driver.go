package nats

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type natsSystem struct{}

var (
	_ system.Provisioner      = natsSystem{}
	_ system.Checker          = natsSystem{}
	_ system.NodeServer       = natsSystem{}
	_ system.DurabilityReader = (*cluster)(nil)
	_ system.VersionReader    = (*cluster)(nil)
	_ system.TopicDeleter     = (*cluster)(nil)
)

// New returns the NATS JetStream system. It is a system.Provisioner too, and
// its clusters read their durability and versions back and delete topics.
func New() system.System { return natsSystem{} }

// NodeCommand is the command by which this program is a server.
func (natsSystem) NodeCommand() string { return NodeCommand }

// ServeNode is a server.
func (natsSystem) ServeNode(ctx context.Context, config io.Reader, log *os.File) error {
	return ServeNode(ctx, config, log)
}

// Describe says what JetStream's words and capabilities are.
func (natsSystem) Describe() system.Description {
	return system.Description{
		Name:    "nats",
		Summary: "NATS JetStream: streams replicated by Raft, read through durable pull consumers",
		Client:  "nats.go " + nats.Version,
		Terms: []system.Term{
			{Word: "topic", Means: "stream"},
			{Word: "partition", Means: "subject <topic>.<n> of the stream; all partitions share one leader"},
			{Word: "key", Means: "chooses the subject; it is not stored"},
			{Word: "subscription", Means: "durable pull consumer"},
			{Word: "consumer", Means: "pull subscription on the durable consumer"},
			{Word: "acknowledgement of a publish", Means: "PubAck"},
			{Word: "backlog", Means: "num_pending of the durable consumer"},
		},
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: declared(),
	}
}

// Connect reaches the servers at the endpoints and finds that JetStream can be
// used. It returns within ten seconds.
func (natsSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	cfg := readConfig(o.Settings)
	if bad := cfg.problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if err := checkEndpoints(o.Endpoints); err != nil {
		return nil, err
	}
	c := &cluster{
		cfg: cfg, level: o.Durability, endpoints: o.Endpoints, vantages: make(map[int]*nats.Conn),
		user:  login{o.Credentials.User, o.Credentials.Password, o.TLS},
		admin: login{o.Credentials.AdminUser, o.Credentials.AdminPassword, o.TLS},
	}
	c.producing = links{every: max(cfg.ackTimeout/sweeps, time.Millisecond), connect: func(ctx context.Context) (*nats.Conn, error) {
		return c.connectClient(ctx, "plimsoll producer")
	}}
	c.consuming = links{every: cfg.pull.heartbeat / 2, connect: func(ctx context.Context) (*nats.Conn, error) {
		return c.connectClient(ctx, "plimsoll consumer")
	}}
	c.servers.of = c
	if c.admin.user == "" {
		c.admin = c.user
	}
	var err error
	c.conn, err = c.connect(ctx, 0, "plimsoll")
	if err != nil {
		return nil, err
	}
	if c.js, err = jetstream.New(c.conn); err == nil {
		err = checkJetStream(ctx, c.js, o.Endpoints)
	}
	if err != nil {
		c.conn.Close()
		return nil, err
	}
	return c, nil
}

// cluster is a connection to a running JetStream. Its methods may be called
// from any goroutine.
type cluster struct {
	cfg         config
	level       workload.Level
	endpoints   []string
	user, admin login
	conn        *nats.Conn // for what is not measured
	js          jetstream.JetStream

	tagging sync.Mutex
	tags    []string // that serverTags found

	sharing              sharing
	clients              system.Clients
	producing, consuming links
	servers              serverNames

	mu       sync.Mutex
	opened   int                // clients so far: each starts at the next endpoint
	vantages map[int]*nats.Conn // by endpoint
}

func (c *cluster) connect(ctx context.Context, first int, name string) (*nats.Conn, error) {
	return connectTo(ctx, c.endpoints, first, c.user, name, c.cfg.reconnectBuffer)
}

// connectClient opens a connection of producers or consumers.
func (c *cluster) connectClient(ctx context.Context, name string) (*nats.Conn, error) {
	c.mu.Lock()
	first := c.opened
	c.opened++
	c.mu.Unlock()
	return c.connect(ctx, first, name)
}

// OpenProducer opens a producer, on a connection of its own unless there is a
// crowd of them.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer, error) {
	k, err := c.producing.take(ctx)
	if err != nil {
		return nil, err
	}
	if most := k.conn.MaxPayload(); int64(o.MessageMax) > most {
		k.leave(nil)
		return nil, fmt.Errorf("messages of %d bytes are more than the servers take (%s is %d): make the messages smaller or raise it on the servers", o.MessageMax, setMaxPayload, most)
	}
	at := c.cfg.homeOf(o.Topic.Name)
	subjects := make([]string, max(o.Topic.Partitions, 1))
	for i := range subjects {
		subjects[i] = at.subject(i)
	}
	p, err := newProducer(k, subjects, max(o.InFlight, 1))
	if err != nil {
		k.leave(nil)
		return nil, err
	}
	if err := c.clients.Keep(ctx, p); err != nil {
		return nil, err
	}
	return &producerHandle{p, c}, nil
}

// OpenConsumer opens a consumer, on a connection of its own unless there is a
// crowd of them, creating the subscription if it is not there.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	k, err := c.consuming.take(ctx)
	if err != nil {
		return nil, err
	}
	r, err := openConsumer(ctx, k, c.cfg, o)
	if err != nil {
		k.leave(nil)
		return nil, err
	}
	if err := c.clients.Keep(ctx, r); err != nil {
		return nil, err
	}
	return &consumerHandle{r, c}, nil
}

// producerHandle and consumerHandle tell the cluster when they are closed.
type producerHandle struct {
	*producer
	of *cluster
}

func (h *producerHandle) Close(ctx context.Context) error {
	defer h.of.clients.Forget(h.producer)
	return h.producer.Close(ctx)
}

type consumerHandle struct {
	*consumer
	of *cluster
}

func (h *consumerHandle) Close(ctx context.Context) error {
	defer h.of.clients.Forget(h.consumer)
	return h.consumer.Close(ctx)
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	_, err := c.clients.Close(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.vantages {
		conn.Close()
	}
	c.conn.Close()
	return err
}
