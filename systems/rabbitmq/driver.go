package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type rabbitSystem struct{}

var (
	_ system.Provisioner      = rabbitSystem{}
	_ system.Checker          = rabbitSystem{}
	_ system.Redeliverer      = rabbitSystem{}
	_ system.PartitionOwner   = rabbitSystem{}
	_ system.DurabilityReader = (*cluster)(nil)
	_ system.VersionReader    = (*cluster)(nil)
	_ system.TopicDeleter     = (*cluster)(nil)
	_ system.LeaderReader     = (*cluster)(nil)
)

// New returns the RabbitMQ system. It is a system.Provisioner too, and its
// clusters read their durability and versions back and delete topics.
func New() system.System { return rabbitSystem{} }

const (
	queueLibrary  = "github.com/rabbitmq/amqp091-go"
	streamLibrary = "github.com/rabbitmq/rabbitmq-stream-go-client"
)

// Describe says what RabbitMQ's words and capabilities are.
func (rabbitSystem) Describe() system.Description {
	return system.Description{
		Name:    "rabbitmq",
		Summary: "RabbitMQ: an exchange that routes to queues, classic, mirrored or quorum, or to streams",
		Client: "amqp091-go " + driver.LibraryVersion(queueLibrary) +
			", rabbitmq-stream-go-client " + driver.LibraryVersion(streamLibrary),
		Terms: []system.Term{
			{Word: "topic", Means: "exchange"},
			{Word: "partition", Means: "queue of each subscription, bound by routing key; with streams one stream that all subscriptions read"},
			{Word: "key", Means: "not sent; plimsoll chooses the partition by it, the same way for every system"},
			{Word: "subscription", Means: "a queue for each partition; with streams the name under which offsets are stored, which begins at the start"},
			{Word: "consumer", Means: "a connection with a channel and a basic.consume for each of its share of the queues"},
			{Word: "acknowledgement of a publish", Means: "publisher confirm"},
			{Word: "backlog", Means: "messages ready in the queues"},
		},
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: declared(),
	}
}

// Check says all that is wrong with what is asked, before anything starts.
func (rabbitSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Delivery == workload.ExactlyOnce {
		bad = append(bad, strict.Violation{Message: "RabbitMQ has no transactions over several queues that its confirms go with: take delivery at_least_once or at_most_once"})
	}
	bad = append(bad, checkNodes(c.Settings, planOf(c.Settings, c.Durability), c.Nodes)...)
	if len(bad) > 0 {
		return bad
	}
	return nil
}

// Connect reaches the servers at the endpoints. It returns within ten seconds.
func (rabbitSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if err := driver.CheckEndpoints(o.Endpoints, "rabbit-1:5672"); err != nil {
		return nil, err
	}
	cfg := readConfig(o.Settings, o.Durability)
	c := &cluster{
		cfg: cfg, options: o, api: newManagement(o, cfg.management),
		dialer: dialer{endpoints: o.Endpoints, credentials: o.Credentials, tls: o.TLS,
			vhost: cfg.vhost, sasl: cfg.sasl, heartbeat: cfg.heartbeat},
	}
	conns, err := c.dialer.dialAll(ctx, "plimsoll")
	if err != nil {
		return nil, err
	}
	c.conns = conns
	if err := c.checkServer(); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	return c, nil
}

// cluster is a connection to running servers. Its methods may be called from
// any goroutine.
type cluster struct {
	cfg     config
	options system.Options
	api     *management
	dialer  dialer

	asking sync.Mutex         // guards conns, and the making of new ones
	conns  []*amqp.Connection // for what is not measured, by endpoint; nil: there is none

	clients driver.Clients
	groups  driver.Groups[group]
}

// checkServer refuses what the servers' version no longer has.
func (c *cluster) checkServer() error {
	version := ""
	for _, conn := range c.conns {
		if conn != nil {
			version, _ = conn.Properties["version"].(string)
			break
		}
	}
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 4 && c.cfg.kind == mirrored {
		return fmt.Errorf("the server is RabbitMQ %s, which has no mirrored queues: take %s %s", version, setQueueType, quorum)
	}
	return nil
}

// connection is one for what is not measured, to the endpoint of that number
// where it answers and to another one where not.
func (c *cluster) connection(ctx context.Context, number int) (*amqp.Connection, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.conns == nil {
		return nil, driver.ErrClosed
	}
	var first error
	for i := range c.conns {
		at := (number + i) % len(c.conns)
		if conn := c.conns[at]; conn != nil && !conn.IsClosed() {
			return conn, nil
		}
		conn, err := c.dialer.dial(ctx, at, "plimsoll", nil)
		if err == nil {
			c.conns[at] = conn
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// ServerVersions returns a line for each server.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	nodes, err := c.api.nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the servers' versions: %w", err)
	}
	var lines []string
	for _, n := range nodes {
		if !n.Running {
			lines = append(lines, n.Name+" does not run")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s RabbitMQ %s, Erlang kernel %s", n.Name, n.version("rabbit"), n.version("kernel")))
	}
	return lines, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	c.asking.Lock()
	conns := c.conns
	c.conns = nil
	c.asking.Unlock()
	_, err := c.clients.Close(ctx)
	errs := make([]error, len(conns))
	var wg sync.WaitGroup
	for i, conn := range conns {
		if conn != nil {
			wg.Go(func() { errs[i] = hangUp(ctx, conn) })
		}
	}
	wg.Wait()
	return errors.Join(err, errors.Join(errs...))
}

// Redelivery says that nothing comes again while its channel is open: acknowledgements
// are not lost on one. A server takes messages back from a consumer that has not
// acknowledged them for consumer_timeout, but it does so by closing the channel, which
// fails the run, and plimsoll acknowledges each message as it is received.
func (rabbitSystem) Redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	switch {
	case s.Text(setQueueType) == streamed:
		return system.Redelivery{Never: true,
			Why: "a stream's reader only goes forward, and no acknowledgement times out"}
	case d == workload.AtMostOnce:
		return system.Redelivery{Never: true,
			Why: "basic.consume without acknowledgements: the server forgets a message when " +
				"it sends it"}
	}
	return system.Redelivery{Never: true,
		Why: "a message that was acknowledged does not come again while its channel is open, and " +
			"consumer_timeout closes the channel of a consumer that does not acknowledge"}
}

// OwnsPartitions says that each queue or stream is dealt to one consumer of a
// subscription.
func (rabbitSystem) OwnsPartitions(system.Settings) bool { return true }
