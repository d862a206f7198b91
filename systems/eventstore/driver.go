package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type eventStore struct{}

// New returns the EventStoreDB system.
func New() system.System { return eventStore{} }

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
		Levels:       levels(),
		Delivery:     []workload.Delivery{workload.AtLeastOnce},
		Settings:     settings,
		Clients:      aims,
		Waits:        []system.Wait{system.Lingers(setLinger)},
		Redelivery:   redelivery,
		Capabilities: capabilities,
	}
}

// redelivery says when a message comes again although no consumer fails.
func redelivery(s system.Settings, _ workload.Delivery) system.Redelivery {
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
	groups  driver.Groups[driver.Made]
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
	_, err := c.admin.readLast(ctx, "plimsoll-no-such-stream")
	if err == nil || codeOf(err) == kurrentdb.ErrorCodeResourceNotFound {
		return nil
	}
	return c.explain(err)
}

// readLast returns the number of a stream's last event.
func (l *link) readLast(ctx context.Context, stream string) (number uint64, err error) {
	err = l.call(ctx, func(ctx context.Context, client *kurrentdb.Client) error {
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
