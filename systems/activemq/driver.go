package activemq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type activeSystem struct{}

// New returns the ActiveMQ Classic system.
func New() driver.CompleteSystem { return activeSystem{} }

// Describe returns ActiveMQ's terms, durability levels and settings.
func (activeSystem) Describe() system.Description {
	return system.Description{
		Name: "activemq",
		Summary: "ActiveMQ Classic: queues in replicated LevelDB on a master with slaves that " +
			"ZooKeeper elects, or in KahaDB on one broker; over AMQP 1.0",
		Client: amqp.Client(),
		Terms: driver.Terms{
			Topic: "virtual topics, or queues (" + setDestination + "), one for each partition",
			Partition: "VirtualTopic.topic.partition, or queue topic.partition; all are on the " +
				"master",
			Key:             "correlation id",
			Subscription:    "queue Consumer.subscription.VirtualTopic.topic.partition",
			Consumer:        "connection with a link from each of the subscription's queues",
			Acknowledgement: "the outcome accepted of a durable message, after the store's answer",
			Backlog:         "messages in the subscription's queues",
		}.List(),
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: slices.Concat(clientSettings, serverSettings),
		Clients:  amqp.Aims(),
		Redelivery: system.NeverRedelivered(
			"a broker sends a message again only when the connection of its consumer ends"),
		RefuseExisting: system.Always(system.Destructive),
		Capabilities:   capabilities,
	}
}

const goneWithin = 5 * time.Second

// Connect finds the master among the endpoints. It returns within ten seconds.
func (activeSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "broker-1:5672"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, level: o.Durability, jolokia: newJolokia(o)}
	c.dialer = &amqp.Dialer{
		Endpoints: o.Endpoints, Credentials: o.Credentials, TLS: o.TLS,
		Silence: c.Duration(setSilence), Patience: c.Duration(setFailover),
	}
	conn, err := c.dialer.Dial(ctx, 0)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	conn.Close(ctx)
	return c, nil
}

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is a connection to the brokers. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	level   workload.Level
	dialer  *amqp.Dialer
	jolokia *jolokia
	clients driver.Clients

	given driver.Made // the brokers were checked: they give the level
	mu    sync.Mutex
	held  map[string]string // by topic: "" while no subscription exists, else the first one
}

// explain returns an error that says why no broker can be reached. A slave opens no port to
// clients, so it looks like a broker that is down.
func (c *cluster) explain(ctx context.Context, err error) error {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	for _, b := range c.jolokia.brokers {
		if r, asked := b.readBroker(ctx); asked == nil && r.Slave {
			return fmt.Errorf("%s is a slave, which takes no clients: name every broker among the "+
				"endpoints, so that clients find the master: %w", b.endpoint, err)
		}
	}
	return err
}

// queues returns the names of a subscription's queues.
func (c *cluster) queues(t system.Topic, subscription string) []string {
	names := c.partitions(t)
	if c.Text(setDestination) == virtualTopic {
		for i, name := range names {
			names[i] = "Consumer." + element(subscription) + "." + name
		}
	}
	return names
}

// element escapes the dots in a name, because dots separate the elements of a destination's name.
func element(name string) string { return strings.ReplaceAll(name, ".", "%2E") }

// partitions returns the destinations that producers send to.
func (c *cluster) partitions(t system.Topic) []string {
	prefix := ""
	if c.Text(setDestination) == virtualTopic {
		prefix = "VirtualTopic."
	}
	names := make([]string, t.Partitions)
	for i := range names {
		names[i] = prefix + t.Name + "." + strconv.Itoa(i)
	}
	return names
}

// holding is the subscription that keeps messages until the first real one opens. A virtual topic
// without a queue drops its messages.
const holding = "plimsoll-holds"

// existing lists the destinations of a partition that exist.
func (c *cluster) existing(ctx context.Context, b managed, partition string) ([]string, error) {
	queues, err := c.queuesOf(ctx, b, partition)
	if err != nil || len(queues) > 0 {
		return queues, err
	}
	return b.destinations(ctx, "Topic", partition)
}

// queuesOf lists the queues of a partition.
func (c *cluster) queuesOf(ctx context.Context, b managed, partition string) ([]string, error) {
	if c.Text(setDestination) == virtualTopic {
		partition = "Consumer.*." + partition
	}
	return b.destinations(ctx, "Queue", partition)
}

// CreateTopic makes the virtual topics, or the queues.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if err := c.createTopic(ctx, t); err != nil {
		return fmt.Errorf("create topic %s: %w", t.Name, err)
	}
	return nil
}

func (c *cluster) createTopic(ctx context.Context, t system.Topic) error {
	if err := c.checkLevel(ctx); err != nil {
		return err
	}
	b, err := c.jolokia.master(ctx)
	if err != nil {
		return err
	}
	for _, partition := range c.partitions(t) {
		found, err := c.existing(ctx, b, partition)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return fmt.Errorf("a topic of the name exists, with the destination %s: delete it, or "+
				"choose another name", found[0])
		}
	}
	if c.Text(setDestination) == virtualTopic {
		return b.do(ctx, "addTopic", c.partitions(t))
	}
	return b.do(ctx, "addQueue", c.partitions(t))
}

// hold makes the queues that hold messages while there is no subscription. A topic whose consumers
// open first does without them, because a LevelDB store cannot recover from the removal of a queue
// (doc.go).
func (c *cluster) hold(ctx context.Context, t system.Topic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held[t.Name] != "" || c.Text(setDestination) == plainQueue {
		return nil
	}
	b, err := c.jolokia.master(ctx)
	if err == nil {
		err = b.do(ctx, "addQueue", c.queues(t, holding))
	}
	if err != nil {
		return fmt.Errorf("make the queues that hold messages: %w", err)
	}
	return nil
}

// subscribed removes the queues that held messages before the first subscription.
func (c *cluster) subscribed(ctx context.Context, t system.Topic, subscription string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch first := c.held[t.Name]; {
	case first == subscription:
		return nil
	case first != "" && c.Text(setDestination) == plainQueue:
		return fmt.Errorf("a queue has one subscription, and topic %s has %s: set %s %s",
			t.Name, first, setDestination, virtualTopic)
	case first == "" && c.Text(setDestination) == virtualTopic:
		if err := c.release(ctx, t); err != nil {
			return fmt.Errorf("remove the queues of topic %s without a subscription: %w",
				t.Name, err)
		}
	}
	if c.held == nil {
		c.held = make(map[string]string)
	}
	c.held[t.Name] = subscription
	return nil
}

// release removes the queues that hold messages, if there are any.
func (c *cluster) release(ctx context.Context, t system.Topic) error {
	b, err := c.jolokia.master(ctx)
	if err != nil {
		return err
	}
	for _, name := range c.queues(t, holding) {
		found, err := b.destinations(ctx, "Queue", name)
		if err == nil && len(found) > 0 {
			err = b.do(ctx, "removeQueue", found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// DeleteTopic deletes every queue of the topic, and its virtual topics.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	b, err := c.jolokia.master(ctx)
	if err == nil {
		err = untilGone(ctx, func() error { return c.deleteTopic(ctx, b, t) })
	}
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.held, t.Name)
	return nil
}

// untilGone repeats the removal of queues. A broker refuses it for a moment after the last
// consumer has left.
func untilGone(ctx context.Context, remove func() error) error {
	ctx, cancel := context.WithTimeout(ctx, goneWithin)
	defer cancel()
	return driver.Until(ctx, driver.RetryPause, func() (bool, error) {
		err := remove()
		return err != nil && ctx.Err() == nil, err
	})
}

func (c *cluster) deleteTopic(ctx context.Context, b managed, t system.Topic) error {
	var queues []string
	for _, partition := range c.partitions(t) {
		found, err := c.queuesOf(ctx, b, partition)
		if err != nil {
			return err
		}
		queues = append(queues, found...)
	}
	if err := b.do(ctx, "removeQueue", queues); err != nil {
		return err
	}
	if c.Text(setDestination) == virtualTopic {
		return b.do(ctx, "removeTopic", c.partitions(t))
	}
	return nil
}

// OpenProducer opens a producer with a connection of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	if err := c.hold(ctx, o.Topic); err != nil {
		return nil, err
	}
	var targets []amqp.Target
	for _, name := range c.partitions(o.Topic) {
		targets = append(targets, c.target(name))
	}
	return amqp.NewProducer(ctx, amqp.ProducerOptions{
		Dialer: c.dialer, Clients: &c.clients, Targets: targets, InFlight: o.InFlight,
		Durable: true, Timeout: c.Duration(setRequest),
	})
}

// target returns the destination of a partition's messages.
func (c *cluster) target(partition string) amqp.Target {
	kind := "queue"
	if c.Text(setDestination) == virtualTopic {
		kind = "topic"
	}
	return amqp.Target{Address: kind + "://" + partition,
		Options: &goamqp.SenderOptions{TargetCapabilities: []string{kind}}}
}

// OpenConsumer opens a consumer with a connection of its own. Its links make the queues of
// the subscription.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	var sources []amqp.Source
	queues := c.queues(o.Topic, o.Subscription)
	for _, name := range queues {
		sources = append(sources, amqp.Source{Address: "queue://" + name,
			Options: goamqp.ReceiverOptions{SourceCapabilities: []string{"queue"}}})
	}
	r, err := amqp.NewConsumer(ctx, amqp.ConsumerOptions{
		Dialer: c.dialer, Clients: &c.clients, Sources: sources,
		Credit: int(c.Count(setPrefetch)), Handle: o,
		// A broker removes a queue from under its consumers, and tells them nothing.
		Exists: func(ctx context.Context) (bool, error) {
			b, err := c.jolokia.master(ctx)
			if err != nil {
				return false, err
			}
			found, err := b.destinations(ctx, "Queue", queues[0])
			return len(found) > 0, err
		},
	})
	if err != nil {
		return nil, err
	}
	if err := c.subscribed(ctx, o.Topic, o.Subscription); err != nil {
		return nil, errors.Join(err, r.Close(ctx))
	}
	return r, nil
}

// Leader returns the master if it has the partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	b, err := c.jolokia.master(ctx)
	if err != nil {
		return "", err
	}
	name := c.partitions(system.Topic{Name: t.Name, Partitions: partition + 1})[partition]
	found, err := c.existing(ctx, b, name)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s has no queue of %s", b.endpoint, name)
	}
	return b.endpoint, nil
}

// Close closes every producer and consumer that is open.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx)
}
