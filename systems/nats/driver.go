package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type natsSystem struct{}

// New returns the NATS JetStream system.
func New() driver.CompleteSystem { return natsSystem{} }

// NodeCommand returns the command with which this program runs a server.
func (natsSystem) NodeCommand() string { return NodeCommand }

// Describe returns JetStream's terms, levels and settings.
func (natsSystem) Describe() system.Description {
	return system.Description{
		Name: "nats", Spreads: true,
		Summary: "NATS JetStream: streams replicated by Raft, read through durable pull consumers",
		Client:  "nats.go " + nats.Version,
		Terms: driver.Terms{
			Topic:           "stream",
			Partition:       "subject <topic>.<n> of the stream; all partitions share one leader",
			Key:             "chooses the subject; it is not stored",
			Subscription:    "durable pull consumer",
			Consumer:        "pull subscription on the durable consumer",
			Acknowledgement: "PubAck",
			Backlog:         "num_pending of the durable consumer",
		}.List(),
		Levels:        levels(),
		Delivery:      []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:      declared,
		Clients:       aims,
		Waits:         []system.Wait{system.Lingers(setLinger)},
		Copies:        []string{setReplicas},
		Redelivery:    redelivery,
		RefuseReturns: system.Always(""), // with a negative acknowledgement
		RefuseResize:  refuseResize,
		RefuseAdding:  system.Always(""),
		Capabilities:  capabilities,
	}
}

// Connect connects to the servers at the endpoints and checks that JetStream can be used. It
// returns within ten seconds.
func (natsSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if bad := problems(o.Settings, o.Durability); len(bad) > 0 {
		return nil, bad
	}
	if err := checkEndpoints(o.Endpoints); err != nil {
		return nil, err
	}
	c := &cluster{
		Settings: o.Settings, options: o, admin: o, level: o.Durability,
		copies: int(o.Settings.Count(setReplicas)), vantages: make(map[int]*nats.Conn),
	}
	c.admin.Credentials = o.Credentials.Admin()
	c.producing = links{every: max(c.Duration(setAckTimeout)/sweeps, time.Millisecond),
		connect: func(ctx context.Context) (*nats.Conn, error) {
			return c.connectClient(ctx, "plimsoll producer")
		}}
	c.consuming = links{every: c.Duration(setPullHeartbeat) / 2,
		connect: func(ctx context.Context) (*nats.Conn, error) {
			return c.connectClient(ctx, "plimsoll consumer")
		}}
	c.servers.of = c
	var err error
	c.conn, err = c.connect(ctx, 0, "plimsoll")
	if err != nil {
		return nil, err
	}
	if c.single = c.conn.ConnectedClusterName() == ""; c.single {
		c.copies = copiesOf(o.Settings, o.Durability).On(1)
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

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is a connection to a running JetStream. Its methods may be called
// from any goroutine.
type cluster struct {
	system.Settings
	options, admin system.Options // of the clients, and with the operator as the user
	level          workload.Level
	copies         int        // of each stream
	single         bool       // the server is in no cluster
	conn           *nats.Conn // for requests that are not measured
	js             jetstream.JetStream

	tagging sync.Mutex
	tags    []string // set by serverTags

	sharing              sharing
	clients              driver.Clients
	producing, consuming links
	servers              serverNames
	joined               atomic.Int32 // servers since it was connected; below 0: that left

	mu       sync.Mutex
	opened   int                // clients so far: each starts at the next endpoint
	vantages map[int]*nats.Conn // by endpoint
}

func (c *cluster) connect(ctx context.Context, first int, name string) (*nats.Conn, error) {
	buffer := int(c.Bytes(setReconnectBuffer))
	if buffer == 0 {
		buffer = -1 // the client library's value for none
	}
	return connectTo(ctx, c.options, first, name, buffer)
}

// connectClient opens a connection of producers or consumers.
func (c *cluster) connectClient(ctx context.Context, name string) (*nats.Conn, error) {
	c.mu.Lock()
	first := c.opened
	c.opened++
	c.mu.Unlock()
	return c.connect(ctx, first, name)
}

// OpenProducer opens a producer, with its own connection unless there are many.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	k, err := c.producing.take(ctx)
	if err != nil {
		return nil, err
	}
	most := k.conn.MaxPayload()
	if c.Duration(setLinger) > 0 {
		most -= batchHeaders
	}
	if int64(o.MessageMax) > most {
		k.leave(nil)
		return nil, fmt.Errorf(
			"messages of %d bytes are more than the servers take (%s leaves room for %d): make "+
				"the messages smaller or raise it on the servers", o.MessageMax, setMaxPayload,
			most)
	}
	at := homeOf(c.Settings, o.Topic.Name)
	subjects := make([]string, max(o.Topic.Partitions, 1))
	for i := range subjects {
		subjects[i] = at.subject(i)
	}
	if c.Duration(setLinger) > 0 {
		b := newBatching(k, c, subjects, o)
		return b, c.clients.Keep(ctx, b)
	}
	p, err := newProducer(k, &c.clients, subjects, o.InFlight)
	if err != nil {
		k.leave(nil)
		return nil, err
	}
	return p, c.clients.Keep(ctx, p)
}

// OpenConsumer opens a consumer, with its own connection unless there are many. It creates the
// subscription if necessary.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	k, err := c.consuming.take(ctx)
	if err != nil {
		return nil, err
	}
	r, err := openConsumer(ctx, k, &c.clients, c.Settings, o)
	if err != nil {
		k.leave(nil)
		return nil, err
	}
	return r, c.clients.Keep(ctx, r)
}

// OpenReplay deletes the durable consumer and its state.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	at := homeOf(c.Settings, o.Topic.Name)
	err := c.js.DeleteConsumer(ctx, at.stream, at.durable(o.Subscription))
	if err != nil {
		return nil, "", fmt.Errorf("delete the durable consumer: %w", err)
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	err := c.clients.Close(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.vantages {
		conn.Close()
	}
	c.conn.Close()
	return err
}

// redelivery says that a server redelivers a message when it has seen no acknowledgement for
// ack_wait: acknowledgements are not confirmed and may be lost, and a message may wait that long
// in its consumer. The copy goes out with the next pull request, which a live consumer sends
// within pull_expires.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	if d == workload.AtMostOnce {
		return system.Redelivery{Never: true,
			Why: "the durable consumer's AckPolicy is none: the server counts a message as " +
				"handled when it sends it"}
	}
	return system.Redelivery{After: s.Duration(setAckWait) + s.Duration(setPullExpires),
		Why: "a server delivers a message again that was not acknowledged for " + setAckWait +
			" (" + s.Text(setAckWait) + "), with the next pull request, at most " +
			setPullExpires + " (" + s.Text(setPullExpires) + ") later"}
}

const (
	// connectWithin bounds connecting to all endpoints together, and leaves time for the other
	// steps within the contract's ten seconds.
	connectWithin = 6 * time.Second
	askWithin     = 3 * time.Second // one question to a server that is connected
	pingEvery     = 10 * time.Second
	retryAfter    = 250 * time.Millisecond
)

// connectTo opens one connection, to the endpoint number first if it answers.
func connectTo(
	ctx context.Context, o system.Options, first int, name string, reconnectBuffer int,
) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	at := first % len(o.Endpoints)
	order := slices.Concat(o.Endpoints[at:], o.Endpoints[:at])
	each := connectWithin / time.Duration(2*len(order))
	each = min(max(each, 500*time.Millisecond), 3*time.Second)
	d := &dialer{ctx: ctx, timeout: each}
	options := []nats.Option{
		nats.Name(name), nats.UserInfo(o.Credentials.User, o.Credentials.Password),
		nats.SetCustomDialer(d), nats.SkipHostLookup(), nats.Timeout(each),
		nats.DontRandomize(), nats.MaxReconnects(-1), nats.ReconnectWait(retryAfter),
		nats.ReconnectBufSize(reconnectBuffer),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		// A server that no longer reads must not block a Send for long.
		nats.FlusherTimeout(askWithin),
		// Without a handler the library prints to standard error.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if o.TLS != nil {
		options = append(options, nats.Secure(o.TLS))
	}
	conn, err := nats.Connect(strings.Join(order, ","), options...)
	if err != nil {
		return nil, explainDial(err, d.last(), o.Endpoints)
	}
	d.connected()
	return conn, nil
}

// checkEndpoints refuses endpoints that the client library would misread or print.
func checkEndpoints(endpoints []string) error {
	if len(endpoints) == 0 {
		return driver.ErrNoEndpoints
	}
	for _, e := range endpoints {
		address := e
		if !strings.Contains(address, "://") {
			address = "nats://" + address
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || strings.Contains(e, ",") {
			return errors.New("an endpoint is not host:port or nats://host:port")
		}
		if u.User != nil {
			return fmt.Errorf("endpoint %s holds a user or password: give them as credentials, "+
				"so that they stay out of results", u.Redacted())
		}
	}
	return nil
}

// dialer dials for the client library and keeps the error, which the library does not report.
type dialer struct {
	timeout time.Duration

	mu  sync.Mutex
	ctx context.Context // of the first connection; nil afterwards
	err error
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	ctx := d.ctx
	d.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	return conn, err
}

func (d *dialer) last() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *dialer) connected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = nil
}

// explainDial returns an error that says why no endpoint accepts connections.
func explainDial(err, dialErr error, endpoints []string) error {
	peer := driver.Peer{Endpoints: endpoints, Protocol: "NATS"}
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrAuthRevoked),
		strings.Contains(strings.ToLower(err.Error()), "authorization violation"):
		return peer.RefusesLogin(err, "")
	case dialErr != nil:
		return cmp.Or(peer.Explain(dialErr), fmt.Errorf("%s: %w", peer.At(), dialErr))
	case errors.Is(err, nats.ErrNoInfoReceived), isTimeout(err), errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("something accepts connections at %s but does not greet as NATS does: "+
			"check the port: %w", peer.At(), err)
	}
	return cmp.Or(peer.Explain(err), fmt.Errorf("%s: %w", peer.At(), err))
}

func isTimeout(err error) bool { return errors.Is(err, nats.ErrTimeout) || driver.TimedOut(err) }

// checkJetStream returns an error that says why JetStream cannot be used.
func checkJetStream(ctx context.Context, js jetstream.JetStream, endpoints []string) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	_, err := js.AccountInfo(ctx)
	at := strings.Join(endpoints, ", ")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("JetStream is not enabled for this user's account at %s: enable it, "+
			"or use another user: %w", at, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("JetStream is not enabled at %s: add a jetstream block to the "+
			"servers' configuration: %w", at, err)
	case isTimeout(err):
		return fmt.Errorf("JetStream at %s does not answer: does the cluster have a leader? %w",
			at, err)
	}
	return fmt.Errorf("ask %s about JetStream: %w", at, err)
}
