package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type eventStore struct{}

// New returns the EventStoreDB system.
func New() system.System { return eventStore{} }

// Names of the settings.
const (
	setConnections = "append_connections"
	setAppendMax   = "append_max"
	setAppendBytes = "append_bytes"
	setLinger      = "linger"
	setRequest     = "request_timeout"
	setDelivery    = "delivery_timeout"
	setBuffer      = "buffer_size"
	setReadBatch   = "read_batch"
	setHistory     = "history_buffer"
	setLive        = "live_buffer"
	setTimeout     = "message_timeout"
	setRetries     = "max_retries"
	setCheckAfter  = "checkpoint_after"
	setCheckMin    = "checkpoint_min"
	setCheckMax    = "checkpoint_max"
	setStrategy    = "consumer_strategy"
	setMaxCount    = "max_count"
)

var settings = system.MustSettings(`
append_connections count 4 1..100
    most connections of a producer, each with one append under way; a partition belongs to one
append_max count 500 1..10000
    most events of one append
append_bytes bytes 960KB 1KB..16MB
    most bytes of payload and key in one append of several events; the server's max-append-size is
    1 MiB
linger duration 0s 0s..1m
    how long a connection waits for more events; they gather as well while an append is under way
request_timeout duration 10s 1ms..1h
    how long the server may take to answer; after it the outcome of an append is unknown
delivery_timeout duration 30s 1ms..1h
    how long a message is kept while there is no leader
buffer_size count 1000 1..100000
    most messages of a partition that a consumer holds without acknowledgement; the client's own
    default is 10
read_batch count 20 1..100000
    events that a group reads at a time while it catches up
history_buffer count 500 1..100000
    events that a group keeps in memory while it catches up
live_buffer count 500 1..100000
    new events that a group keeps in memory before it reads them from the stream again
message_timeout duration 30s 1ms..1h
    after how long without an acknowledgement the server delivers a message again
max_retries count 10 0..1M
    deliveries again, after which the server parks the message: it comes to no consumer any more
checkpoint_after duration 2s 1ms..1h
    how often a group saves its position
checkpoint_min count 10 1..1M
    acknowledged messages below which a group does not save its position
checkpoint_max count 1000 1..1M
    acknowledged messages at which a group saves its position at once
consumer_strategy text RoundRobin RoundRobin|DispatchToSingle|Pinned
    how a group shares its messages out among consumers
max_count count 0
    events that each stream keeps ($maxCount), read or not; 0: all
`)

// Describe returns EventStoreDB's terms, durability levels and settings.
func (eventStore) Describe() system.Description {
	return system.Description{
		Name: "eventstore",
		Summary: "EventStoreDB, now KurrentDB: streams of events, read by persistent " +
			"subscriptions; endpoints only, and not tried against a real server",
		Client: "KurrentDB-Client-Go " +
			driver.LibraryVersion("github.com/kurrent-io/KurrentDB-Client-Go"),
		Terms: driver.Terms{
			Topic:           "streams, one for each partition",
			Partition:       "stream, called topic-creation-partition; the leader takes all writes",
			Key:             "metadata of the event",
			Subscription:    "persistent subscription on each of the streams, from their start",
			Consumer:        "subscriber of each of these; all share all partitions",
			Acknowledgement: "the answer to AppendToStream, one for several events",
			Backlog:         "events that the group has not delivered, and those in flight",
		}.List(),
		Levels:   levels(),
		Delivery: []workload.Delivery{workload.AtLeastOnce},
		Settings: settings,
	}
}

// Check returns all violations of a request before anything starts.
func (eventStore) Check(c system.Check) error {
	if bad := problems(c.Settings, c.Durability); len(bad) > 0 {
		return bad
	}
	return nil
}

// problems returns the violations of the settings at a level.
func problems(s system.Settings, l workload.Level) strict.Violations {
	bad := append(driver.CheckLevel(l), s.OutOfRange(settings)...)
	if why := levels()[l].Refusal; why != "" {
		bad = append(bad, strict.Violation{
			Message: fmt.Sprintf("eventstore cannot give durability level %d: %s", l, why)})
	}
	if s.Count(setCheckMin) > s.Count(setCheckMax) {
		bad = append(bad, s.Wrong(setCheckMin, "is more than "+setCheckMax+": make it smaller"))
	}
	return bad
}

// Redelivery says when a message comes again although no consumer fails.
func (eventStore) Redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
	const tick = time.Second // how often the server looks for messages whose time is over
	return system.Redelivery{After: s.Duration(setTimeout) + tick,
		Why: "the server redelivers messages that are not acknowledged within " + setTimeout +
			" (" + s.Text(setTimeout) + "), also while they wait in a consumer's buffer"}
}

const askWithin = 3 * time.Second

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the leader. Its methods may be called from any goroutine.
type cluster struct {
	system.Settings
	options system.Options
	level   workload.Level
	admin   *link // for requests that are not measured
	clients driver.Clients
	groups  driver.Groups[group]
}

// Connect finds the leader through the endpoints. It returns within ten seconds.
func (eventStore) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if err := checkTarget(o); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, driver.ConnectWithin)
	defer cancel()
	c := &cluster{Settings: o.Settings, options: o, level: o.Durability}
	c.admin = c.newLink()
	if err := c.mayRead(ctx); err != nil {
		return nil, errors.Join(err, c.admin.close())
	}
	return c, nil
}

// checkTarget refuses targets that the client library cannot use.
func checkTarget(o system.Options) error {
	if len(o.Endpoints) == 0 {
		return errors.New("plimsoll cannot start EventStoreDB, because no package registry has " +
			"its server: start one and name its endpoints in the target")
	}
	if err := driver.CheckEndpoints(o.Endpoints, "eventstore-1:2113"); err != nil {
		return err
	}
	switch {
	case o.TLS == nil && o.Credentials != (system.Credentials{}):
		return errors.New("the client library sends user and password over TLS only: give the " +
			"target tls, or remove the credentials")
	case o.TLS != nil && o.TLS.ServerName != "":
		return errors.New("the client library checks each certificate against its endpoint: " +
			"remove tls.server_name, and name endpoints that the certificates hold")
	case o.TLS != nil && len(o.TLS.Certificates) > 0:
		return errors.New("this driver cannot use a client certificate: remove tls.cert_file and " +
			"tls.key_file, and give user and password")
	}
	return nil
}

// mayRead checks that the user may read streams, by reading a stream that does not exist.
func (c *cluster) mayRead(ctx context.Context) error {
	_, err := c.readLast(ctx, "plimsoll-no-such-stream")
	if err == nil || codeOf(err) == kurrentdb.ErrorCodeResourceNotFound {
		return nil
	}
	return c.explain(err)
}

// readLast returns the number of a stream's last event.
func (c *cluster) readLast(ctx context.Context, stream string) (number uint64, err error) {
	err = c.admin.call(ctx, func(ctx context.Context, client *kurrentdb.Client) error {
		events, err := client.ReadStream(ctx, stream, kurrentdb.ReadStreamOptions{
			From: kurrentdb.End{}, Direction: kurrentdb.Backwards}, 1)
		if err != nil {
			return err
		}
		defer events.Close()
		last, err := events.Recv()
		if err == nil && last.Event != nil {
			number = last.Event.EventNumber
		}
		return err
	})
	return number, err
}

// codeOf returns the library's code of an error.
func codeOf(err error) kurrentdb.ErrorCode {
	var e *kurrentdb.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return kurrentdb.ErrorCodeUnknown
}

// peer describes the servers in errors.
func (c *cluster) peer() driver.Peer {
	return driver.Peer{Endpoints: c.options.Endpoints, Protocol: "EventStoreDB", Advertises: true,
		Encrypted: c.options.TLS != nil}
}

// explain returns an error that says in one sentence what an error of the library or of gRPC
// means.
func (c *cluster) explain(err error) error {
	if errors.Is(err, errNotConnected) {
		return err // already explained
	}
	peer := c.peer()
	code := grpcCode(err)
	switch {
	case codeOf(err) == kurrentdb.ErrorCodeUnauthenticated, code == codes.Unauthenticated:
		return peer.RefusesLogin(err, "")
	case codeOf(err) == kurrentdb.ErrorCodeAccessDenied, code == codes.PermissionDenied:
		return fmt.Errorf("the user lacks rights at %s that a run needs: name a user of the group "+
			"$ops or $admins in the target's credentials: %w", peer.At(), err)
	case code == codes.Unavailable:
		return peer.HungUp(err)
	case code == codes.Unimplemented, codeOf(err) == kurrentdb.ErrorCodeUnsupportedFeature:
		return fmt.Errorf("%s answers, but not as EventStoreDB 20.6 or later does: correct the "+
			"endpoints: %w", peer.At(), err)
	case code == codes.DeadlineExceeded, driver.TimedOut(err):
		return peer.Silent(err)
	}
	return err
}

// grpcCode returns the code of the gRPC status in an error, codes.Unknown if there is none.
func grpcCode(err error) codes.Code {
	var s interface{ GRPCStatus() *status.Status }
	if errors.As(err, &s) {
		return s.GRPCStatus().Code()
	}
	return codes.Unknown
}

// Close closes every producer and consumer that is open, and the connection.
func (c *cluster) Close(ctx context.Context) error {
	return c.clients.Close(ctx, c.admin.close)
}
