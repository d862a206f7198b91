package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/strict"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type kafkaSystem struct{}

// New returns the Kafka system.
func New() driver.CompleteSystem { return kafkaSystem{} }

// Describe returns Kafka's terms, levels and settings.
func (kafkaSystem) Describe() system.Description {
	return system.Description{
		Name: "kafka", Spreads: true,
		Summary: "Apache Kafka and its protocol: topics replicated by leader and " +
			"followers, read by consumer groups",
		Client: "franz-go " + driver.LibraryVersion("github.com/twmb/franz-go"),
		Terms: driver.Terms{
			Topic:     "topic",
			Partition: "partition; each has a leader of its own",
			Key: "the record's key; plimsoll chooses the partition by it, the same " +
				"way for every system",
			Subscription: "consumer group, or share group, which begins at the start of the " +
				"topic",
			Consumer: "member of the group",
			Acknowledgement: "the leader's answer to the produce request; exactly once: the end " +
				"of the transaction",
			Backlog: "lag of the group",
		}.List(),
		Levels: levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce,
			workload.ExactlyOnce},
		Settings: declared,
		Clients:  aims,
		Waits:    settingWaits,
		Periods: []system.Period{{What: "Kafka's check for old segments",
			Every: 5 * time.Minute}},
		Copies:       []string{setReplication},
		RefuseAdding: system.Always(""), Discovery: setMetadataAge,
		RefuseResize: func(r system.Check) string {
			return copiesOf(r.Settings, r.Durability).RefuseResize(r.Nodes)
		},
		Redelivery:     redelivery,
		OwnsPartitions: func(s system.Settings) bool { return !sharesRecords(s) },
		Unordered:      unordered,
		RefuseReturns:  refuseReturns,
		Spread:         spread,
		RefuseExisting: refuseExisting,
		Variant:        variant,
		Capabilities:   capabilities,
	}
}

// Check returns all violations of a request before anything starts.
func (kafkaSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	if c.Delivery == workload.ExactlyOnce {
		if !c.Durability.Majority() {
			bad = append(bad, strict.Violation{
				Message: fmt.Sprintf("durability level %d is acks=1, and transactions need "+
					"acks=all: take level 1 or 2, or another delivery", c.Durability)})
		}
		if !c.Settings.Bool(setIdempotence) {
			bad = append(bad, c.Settings.Wrong(setIdempotence,
				"cannot be false with delivery exactly_once: transactions need it"))
		}
	}
	bad = append(bad, groupProblems(c)...)
	bad = append(bad, checkNodes(c.Settings, c.Durability, c.Nodes)...)
	return bad.Err()
}

// Connect reaches the brokers at the endpoints. It returns within ten seconds.
func (kafkaSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "broker-1:9092"); err != nil {
		return nil, err
	}
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	client, err := kgo.NewClient(
		append(baseOptions(o), kgo.RequestRetries(3), kgo.RetryTimeout(askWithin))...)
	if err != nil {
		return nil, fmt.Errorf("the client library refuses the settings: %w", err)
	}
	if err := ping(ctx, client); err != nil {
		client.Close()
		return nil, explain(err, o)
	}
	c.client, c.admin = client, kadm.NewClient(client)
	if err := c.checkGroupType(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return c, nil
}

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is a connection to running brokers. Its methods may be called from
// any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	client  *kgo.Client // for requests that are not measured
	admin   *kadm.Client

	clients driver.Clients
	groups  driver.Groups[group]
	watch   watch
	joined  atomic.Int32 // brokers that joined since it was connected; below 0: that left
}

// idempotent reports whether producers let the brokers recognise copies.
func (c *cluster) idempotent() bool { return c.Bool(setIdempotence) && c.level.Majority() }

func (c *cluster) acksText() string {
	if c.level.Majority() {
		return "all"
	}
	return "1"
}

// ServerVersions returns a line for each broker. The versions are inferred from the requests that
// a broker knows, so a broker may be newer.
func (c *cluster) ServerVersions(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	all, err := c.admin.ApiVersions(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	var lines []string
	for _, v := range all.Sorted() {
		if v.Err != nil {
			lines = append(lines, fmt.Sprintf("broker %d does not tell: %v", v.NodeID, v.Err))
			continue
		}
		lines = append(lines, fmt.Sprintf("broker %d Kafka %s, by its protocol", v.NodeID,
			strings.TrimPrefix(v.VersionGuess(), "v")))
	}
	return slices.Compact(lines), nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, func() error { c.watch.close(); c.client.Close(); return nil })
}

// redelivery says that a running member of a consumer group receives nothing twice, with any
// delivery: it acknowledges by moving its position, and no timer moves the position back.
func redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	if sharesRecords(s) {
		return system.Redelivery{After: s.Duration(setRecordLock),
			Why: "a record that was not acknowledged within " + setRecordLock + " (" +
				s.Text(setRecordLock) + ") is delivered again; " +
				"a record is delivered five times at most"}
	}
	return system.Redelivery{Never: true,
		Why: "a consumer's position only goes forward, and no acknowledgement times out; its " +
			"last committed position is read again only by another member that gets its " +
			"partitions, when members come or go or one sends no heartbeat for " +
			setSessionTimeout + " (" + s.Text(setSessionTimeout) + ")"}
}

// spread describes the Java client's built-in partitioner since 3.3. It takes the next partition
// when it has given one batch_size bytes and no batch of it is open. plimsoll does not see batches.
// Where they fill up before linger ends, it stays for linger, so that few of them remain open.
func spread(s system.Settings) system.Spread {
	d := system.Spread{
		Stay: s.Duration(setLinger), StayBytes: s.Bytes(setBatchSize),
		How: fmt.Sprintf("the Java client stays with a partition for %s (%s), and takes the next "+
			"one at the end of a batch", setBatchSize, s.Text(setBatchSize)),
		Source: "KIP-794 (BuiltInPartitioner of the Java client since 3.3, with KAFKA-14156)",
	}
	if d.Stay > 0 {
		d.How += fmt.Sprintf("; plimsoll stays for at least %s (%s)", setLinger,
			s.Text(setLinger))
	}
	return d
}

const (
	dialWithin = 3 * time.Second
	askWithin  = 10 * time.Second
)

// mechanism returns the authentication with user and password, or nil without credentials.
func mechanism(name string, c system.Credentials) sasl.Mechanism {
	if c.User == "" && c.Password == "" {
		return nil
	}
	switch name {
	case "scram-sha-256":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism()
	}
	return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism()
}

// baseOptions returns the options that all clients of a cluster share.
func baseOptions(o system.Options) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Endpoints...), kgo.ClientID("plimsoll"),
		kgo.DialTimeout(dialWithin), kgo.RequestTimeoutOverhead(dialWithin),
		// No client telemetry to the brokers.
		kgo.DisableClientMetrics(),
		// Find partitions that have moved soon.
		kgo.MetadataMinAge(100 * time.Millisecond),
		kgo.MetadataMaxAge(o.Settings.Duration(setMetadataAge)),
	}
	if o.TLS != nil {
		options = append(options, kgo.DialTLSConfig(o.TLS))
	}
	if m := mechanism(o.Settings.Text(setSASL), o.Credentials); m != nil {
		options = append(options, kgo.SASL(m))
	}
	return options
}

// ping checks, within driver.ConnectWithin, that an endpoint answers.
func ping(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	return client.Ping(ctx)
}

// explain returns an error that says why a connection failed and what to do.
func (c *cluster) explain(err error) error { return explain(err, c.options) }

func explain(err error, o system.Options) error {
	peer := driver.Peer{Endpoints: o.Endpoints, Protocol: "Kafka", Advertises: true,
		Encrypted: o.TLS != nil}
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return peer.RefusesLogin(err, " and "+setSASL)
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return fmt.Errorf("%s does not know the %s: choose another: %w", peer.At(), setSASL, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	var eof *kgo.ErrFirstReadEOF
	switch hungUp := errors.As(err, &eof); {
	case strings.Contains(err.Error(), "tls alert record"):
		return fmt.Errorf("%s speaks TLS and the target has none: add tls: {ca_file: …} to it, "+
			"or correct the port: %w", peer.At(), err)
	case hungUp && !peer.Encrypted && o.Credentials.User == "":
		return fmt.Errorf("%s closes the connection at once, like a port that requires TLS "+
			"or a password: give the target tls or credentials, or correct the port: %w",
			peer.At(), err)
	case hungUp, errors.Is(err, io.EOF) && peer.Encrypted:
		return peer.HungUp(err)
	}
	return err
}
