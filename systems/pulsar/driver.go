package pulsar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type pulsarSystem struct{}

// New returns the Pulsar system.
func New() driver.CompleteSystem { return pulsarSystem{} }

// Describe returns Pulsar's terms, levels and settings.
func (pulsarSystem) Describe() system.Description {
	return system.Description{
		Name: "pulsar", Spreads: true,
		Summary: "Apache Pulsar: stateless brokers, and bookies that keep ledgers with a " +
			"quorum of copies",
		Client: "pulsar-client-go " + driver.LibraryVersion("github.com/apache/pulsar-client-go"),
		Terms: driver.Terms{
			Topic:     "partitioned topic in a namespace of the level's own",
			Partition: "partition; each is a managed ledger that one broker owns",
			Key: "the message's key; plimsoll chooses the partition by it, the same " +
				"way for every system",
			Subscription: "durable subscription, which begins at the earliest message",
			Consumer:     "consumer of the subscription",
			Acknowledgement: "the broker's send receipt, when the ack quorum of bookies has the " +
				"entry",
			Backlog: "msgBacklog of the subscription",
		}.List(),
		Levels:     levels(),
		Delivery:   []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:   declared,
		Clients:    aims,
		Waits:      settingWaits,
		Copies:     []string{setEnsemble, setWriteQuorum},
		Redelivery: redelivery,
		Periods: []system.Period{{What: "the bookies' search for deleted ledgers",
			Every: bookieGC}},
		RefuseResize:   refuseResize,
		RefuseAdding:   system.Always(""),
		Discovery:      setDiscovery,
		OwnsPartitions: ownsPartitions,
		Spread:         spread,
		Capabilities:   capabilities,
	}
}

// Check returns all violations of a request before anything starts.
func (pulsarSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	return append(bad, checkNodes(c.Settings, c.Durability, c.Nodes)...).Err()
}

// Connect connects to the brokers at the endpoints, and to their admin API. It returns within ten
// seconds.
func (pulsarSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "broker-1:6650"); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	if err := probe(ctx, o); err != nil {
		return nil, explain(err, o)
	}
	token := o.Credentials.Admin().Password
	c := &cluster{
		Settings: o.Settings, options: o, level: o.Durability, copies: readCopies(o.Settings),
		admin: newAdmin(adminOf(o.Endpoints, o.Settings.Text(setAdminEndpoints), o.TLS != nil),
			o.TLS, token),
	}
	if err := c.admin.get(ctx, "/admin/v2/clusters", nil); err != nil {
		c.admin.close()
		return nil, c.explainAdmin(err)
	}
	if c.bookies = len(c.allBookies(ctx)); c.bookies > 0 {
		c.copies.fit(o.Settings, o.Durability, c.bookies)
	}
	lib, _, err := newClient(o)
	if err != nil {
		c.admin.close()
		return nil, err
	}
	c.client = lib
	return c, nil
}

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the brokers. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	client  client.Client // for requests that are not measured
	admin   *admin
	bookies int // when it was connected; 0: not known
	copies  copies

	clients driver.Clients
	groups  driver.Groups[shares]
	made    atomic.Bool // this connection created the namespace

	joined atomic.Int32 // brokers since it was connected; below 0: that left
	left   sync.Map     // addresses of bookies that left for good
}

// explainAdmin is explain for errors of the admin API.
func (c *cluster) explainAdmin(err error) error {
	var r *driver.Refused
	if errors.As(err, &r) {
		return c.explain(err)
	}
	o := c.options
	o.Endpoints = nil
	for _, base := range c.admin.Bases {
		_, address, _ := strings.Cut(base, "://")
		o.Endpoints = append(o.Endpoints, address)
	}
	return fmt.Errorf("the brokers' admin API (setting %s): %w", setAdminEndpoints, explain(err, o))
}

// ServerVersions returns a line for each broker whose admin API is known.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var lines []string
	for _, base := range c.admin.Bases {
		_, address, _ := strings.Cut(base, "://")
		var version string
		one := admin{API: c.admin.API}
		one.Bases = []string{base}
		if err := one.get(ctx, "/admin/v2/brokers/version", &version); err != nil {
			lines = append(lines, fmt.Sprintf("broker %s does not tell: %v", address, err))
			continue
		}
		lines = append(lines, fmt.Sprintf("broker %s runs Pulsar %s", address, version))
	}
	return lines, nil
}

// Close closes every open producer and consumer, deletes the namespace if this connection created
// it and it is empty, and closes the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error {
		defer c.admin.close()
		c.removeNamespace(ctx)
		return closeClient(ctx, c.client)
	})
}

// closeClient closes a client with its producers and consumers. The library waits for each
// broker's answer for at most operation_timeout; after closeWithin the closing is left to end by
// itself.
func closeClient(ctx context.Context, lib client.Client) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	_, err := within(ctx, func() (struct{}, error) { lib.Close(); return struct{}{}, nil }, nil)
	if err != nil {
		return fmt.Errorf(
			"the brokers did not answer the close within %s: check that they still run: %w",
			closeWithin, err)
	}
	return nil
}

// notOpened closes the library of a producer or consumer that was not opened, and returns the
// reason.
func (c *cluster) notOpened(ctx context.Context, what string, lib client.Client, err error) error {
	err = fmt.Errorf("open the %s: %w", what, c.explain(err))
	return errors.Join(err, closeClient(ctx, lib))
}

// redelivery says that Pulsar repeats nothing to a consumer that stays connected: its
// redelivery timers, ackTimeout and negative acknowledgement, are the client's, and
// plimsoll's client has the first not at all and sends none of the second. Brokers
// that move bundles by themselves have consumers connect anew, and that repeats what
// was handled and whose acknowledgement was still gathered.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	switch {
	case d == workload.AtMostOnce:
		return system.Redelivery{Never: true,
			Why: "a message is acknowledged, and the broker has answered, before it is handled"}
	case s.Bool(setLoadBalancing):
		return system.Redelivery{
			Why: "with " + setLoadBalancing + " brokers may move a bundle at any time; its " +
				"consumers reconnect and get messages again that were handled within " +
				setAckGroupTime + " (" + s.Text(setAckGroupTime) + ")"}
	}
	return system.Redelivery{Never: true,
		Why: "the Go client has no ackTimeout and plimsoll sends no negative acknowledgement; " +
			"a broker redelivers only to a consumer that reconnects"}
}

// ownsPartitions reports whether the type of subscription gives each partition to one
// consumer.
func ownsPartitions(s system.Settings) bool {
	kind := s.Text(setSubscriptionType)
	return kind == exclusive || kind == failover
}

const (
	// switchFrequency is the number of publish delays for which the Java client stays with a
	// partition: batchingPartitionSwitchFrequencyByPublishDelay, by default.
	switchFrequency = 10
	// leastStay is the shortest such time: the client's clock is in milliseconds.
	leastStay = time.Millisecond
)

// spread is the Java client's default, the routing mode RoundRobinPartition, which the
// OpenMessaging Benchmark uses too. plimsoll's Go client would take the next partition after one
// batching_max_publish_delay, or when a batch is full; so plimsoll gives it the partition of every
// message.
func spread(s system.Settings) system.Spread {
	d := system.Spread{
		Source: "RoundRobinPartitionMessageRouterImpl of the Java client " +
			"(batchingPartitionSwitchFrequencyByPublishDelay, 10 by default, apache/pulsar#5788)",
	}
	if !s.Bool(setBatching) {
		d.How = "the Java client takes the next partition for each message, because " +
			setBatching + " is false"
		return d
	}
	d.Stay = max((switchFrequency * s.Duration(setBatchingDelay)).Truncate(leastStay), leastStay)
	d.How = fmt.Sprintf("the Java client takes the next partition every %s, %d times %s (%s)",
		d.Stay, switchFrequency, setBatchingDelay, s.Text(setBatchingDelay))
	return d
}
