package artemis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type artemisSystem struct{}

// New returns the ActiveMQ Artemis system.
func New() driver.CompleteSystem { return artemisSystem{} }

// Describe returns Artemis's terms, durability levels and settings.
func (artemisSystem) Describe() system.Description {
	return system.Description{
		Name: "artemis",
		Summary: "ActiveMQ Artemis: queues on one active server, whose journal a backup or a " +
			"mirror copies, over AMQP 1.0",
		Client: amqp.Client(),
		Terms: driver.Terms{
			Topic:           "multicast addresses, one for each partition",
			Partition:       "address, called topic.partition; all are on the active server",
			Key:             "correlation id of the message; servers do nothing with it",
			Subscription:    "durable queue on each of the addresses, called address.subscription",
			Consumer:        "consumer of all these queues, which it shares with the others",
			Acknowledgement: "accepted, the outcome that the server gives a delivery",
			Backlog:         "messages that wait in the queues",
		}.List(),
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: slices.Concat(clientSettings, serverSettings),
		Clients:  amqp.Aims(),
		Waits:    settingWaits,
		Redelivery: system.NeverRedelivered("the server delivers a message again only after its " +
			"consumer's connection has ended: acceptance has no time-out"),
		RefuseReturns:  system.Always(""), // as modified, with a failed delivery
		RefuseExisting: system.Always(system.Destructive),
		Capabilities:   capabilities,
	}
}

// Check returns all violations of a request before anything starts.
func (artemisSystem) Check(c system.Check) error {
	return append(problems(c.Settings, c.Durability),
		checkNodes(c.Settings, c.Durability, c.Nodes)...).Err()
}

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the servers. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	dialer  *amqp.Dialer
	admin   *management // of the active server
	clients driver.Clients

	checked driver.Made // the servers were compared with the level
}

// Connect finds the server that accepts clients. It returns within ten seconds.
func (artemisSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "artemis-1:5672"); err != nil {
		return nil, err
	}
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	c.dialer = dialer(o, o.Endpoints...)
	if mirrored(o.Settings, o.Durability) {
		// The mirror accepts clients too, but its messages would be on no other server.
		c.dialer = dialer(o, o.Endpoints[0])
	}
	c.admin = newManagement(c.dialer)
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	// This fails if the server is not Artemis or the user lacks the right.
	if _, err := c.admin.text(ctx, broker, "Version"); err != nil {
		c.admin.close()
		return nil, err
	}
	return c, nil
}

// dialer connects to some of the servers.
func dialer(o system.Options, endpoints ...string) *amqp.Dialer {
	return &amqp.Dialer{
		Endpoints: endpoints, Credentials: o.Credentials, TLS: o.TLS,
		Silence:  o.Settings.Duration(setSilence),
		Patience: o.Settings.Duration(setPatience),
	}
}

// address returns the address of a partition.
func address(t system.Topic, partition int) string { return t.Name + "." + strconv.Itoa(partition) }

// queue returns the name of a subscription's queue on a partition.
func queue(t system.Topic, subscription string, partition int) string {
	return address(t, partition) + "." + subscription
}

// unread is the subscription whose queues hold a topic's messages until a real one opens. A server
// accepts and drops messages to an address without queues.
const unread = "plimsoll-unread"

// checkServers compares the servers with the level, once.
func (c *cluster) checkServers(ctx context.Context) error {
	return c.checked.Once(func() error {
		return c.readServers(ctx, &driver.Reading{Level: c.level}, nil)
	})
}

// CreateTopic makes the topic's addresses, each with the queue unread.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	if err := c.checkServers(ctx); err != nil {
		return fmt.Errorf("create the topic: %w", err)
	}
	for i := range t.Partitions {
		_, err := c.admin.call(ctx, broker, "createAddress", address(t, i), multicast)
		if err != nil {
			if refused(err, "AMQ229204") {
				err = fmt.Errorf("a topic of the name exists: delete it, or choose another name: "+
					"%w", err)
			}
			return fmt.Errorf("create the topic: %w", err)
		}
		if err := c.createQueue(ctx, t, unread, i); err != nil {
			return fmt.Errorf("create the topic: %w", err)
		}
	}
	return nil
}

// createQueue makes a durable queue, unless it is there.
func (c *cluster) createQueue(ctx context.Context, t system.Topic, subscription string,
	partition int) error {
	_, err := c.admin.call(ctx, broker, "createQueue", fmt.Sprintf(
		`{"name":%q,"address":%q,"routing-type":%q,"durable":true,"auto-delete":false,`+
			`"auto-create-address":false,"max-consumers":-1,"purge-on-no-consumers":false}`,
		queue(t, subscription, partition), address(t, partition), multicast), true)
	return err
}

// DeleteTopic deletes the topic's addresses with their queues.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	var errs []error
	for i := range t.Partitions {
		_, err := c.admin.call(ctx, broker, "deleteAddress", address(t, i), true)
		if err != nil && !refused(err, "AMQ229203") { // it is not there
			errs = append(errs, fmt.Errorf("delete the topic: %w", err))
		}
	}
	return errors.Join(errs...)
}

// OpenProducer opens a producer with a connection of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (
	system.Producer, error,
) {
	to := amqp.ProducerOptions{
		Dialer: c.dialer, Clients: &c.clients, InFlight: o.InFlight, Durable: true,
		Timeout: c.Duration(setTimeout),
	}
	for i := range o.Topic.Partitions {
		to.Targets = append(to.Targets, amqp.Target{
			Address: address(o.Topic, i), Options: &goamqp.SenderOptions{
				TargetCapabilities: []string{"topic"},
			},
		})
	}
	return amqp.NewProducer(ctx, to)
}

// OpenConsumer makes the subscription's queues, unless they are there, and reads.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	from := amqp.ConsumerOptions{
		Dialer: c.dialer, Clients: &c.clients, Credit: int(c.Count(setCredit)), Handle: o,
	}
	for i := range o.Topic.Partitions {
		if err := c.subscribe(ctx, o.Topic, o.Subscription, i); err != nil {
			return nil, fmt.Errorf("create the subscription: %w", err)
		}
		from.Sources = append(from.Sources, amqp.Source{
			Address: address(o.Topic, i) + "::" + queue(o.Topic, o.Subscription, i),
		})
	}
	return amqp.NewConsumer(ctx, from)
}

// subscribe creates a subscription's queue, and then deletes the queue unread, which is no longer
// needed.
func (c *cluster) subscribe(ctx context.Context, t system.Topic, subscription string,
	partition int) error {
	if err := c.createQueue(ctx, t, subscription, partition); err != nil {
		return err
	}
	_, err := c.admin.call(ctx, broker, "destroyQueue", queue(t, unread, partition))
	if refused(err, "AMQ229017") { // another consumer has deleted it
		return nil
	}
	return err
}

// Leader returns the active server if it has the partition.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	at, err := c.admin.endpoint(ctx)
	if err != nil {
		return "", err
	}
	_, err = c.admin.call(ctx, broker, "getAddressInfo", address(t, partition))
	if err != nil {
		return "", fmt.Errorf("look for partition %d of %s: %w", partition, t.Name, err)
	}
	return at, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error { c.admin.close(); return nil })
}
