package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	links "github.com/plimsoll-bench/plimsoll/system/driver/amqp"
	"github.com/plimsoll-bench/plimsoll/workload"
)

type rabbitSystem struct{}

// New returns the RabbitMQ system.
func New() driver.CompleteSystem { return rabbitSystem{} }

const (
	queueLibrary  = "github.com/rabbitmq/amqp091-go"
	streamLibrary = "github.com/rabbitmq/rabbitmq-stream-go-client"
)

// Describe returns RabbitMQ's terms, levels and settings.
func (rabbitSystem) Describe() system.Description {
	return system.Description{
		Name: "rabbitmq", Spreads: true,
		Summary: "RabbitMQ: an exchange that routes to queues, classic, mirrored or quorum, or " +
			"to streams",
		Client: "amqp091-go " + driver.LibraryVersion(queueLibrary) + ", " + links.Client() +
			", rabbitmq-stream-go-client " + driver.LibraryVersion(streamLibrary),
		Terms: driver.Terms{
			Topic: "exchange",
			Partition: "queue of each subscription, bound by routing key; with streams " +
				"one stream that all subscriptions read",
			Key: "not sent; plimsoll chooses the partition by it, the same way for " +
				"every system",
			Subscription: "a queue for each partition; with streams the name under which " +
				"offsets are stored, which begins at the start",
			Consumer: "a connection with a channel and a basic.consume for each of its " +
				"share of the queues",
			Acknowledgement: "publisher confirm",
			Backlog:         "messages ready in the queues",
		}.List(),
		Levels:         levels(),
		Delivery:       []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings:       declared,
		Clients:        aims,
		Waits:          settingWaits,
		Redelivery:     redelivery,
		RefuseReturns:  refuseReturns,
		RefuseResize:   refuseResize,
		RefuseAdding:   refuseAdding,
		OwnsPartitions: func(s system.Settings) bool { return s.Text(setProtocol) != amqp10 },
		RefuseExisting: refuseExisting,
		Capabilities:   capabilities,
		Variant: func(o system.Options) string {
			kind := planOf(o.Settings, o.Durability).kind
			if o.Settings.Text(setProtocol) == amqp10 {
				kind += " by AMQP 1.0"
			}
			return kind
		},
	}
}

// Check returns all violations of a request before anything starts.
func (rabbitSystem) Check(c system.Check) error {
	bad := problems(c.Settings, c.Durability)
	return append(bad, checkNodes(planOf(c.Settings, c.Durability), c.Nodes)...).Err()
}

// Connect reaches the servers at the endpoints. It returns within ten seconds.
func (rabbitSystem) Connect(ctx context.Context, o system.Options) (system.Cluster, error) {
	if err := driver.CheckOptions(o, problems, "rabbit-1:5672"); err != nil {
		return nil, err
	}
	c := &cluster{cfg: planOf(o.Settings, o.Durability), options: o, api: newManagement(o),
		dialer: dialer{o}}
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

var _ driver.CompleteCluster = (*cluster)(nil)

// cluster is the connection to the servers. Its methods may be called from any goroutine.
type cluster struct {
	cfg     plan
	options system.Options
	api     *management
	dialer  dialer

	asking sync.Mutex         // guards conns, and the making of new ones
	conns  []*amqp.Connection // for requests that are not measured, by endpoint; nil: there is none

	clients driver.Clients
	groups  driver.Groups[group]
	joined  atomic.Int32 // servers since it was connected; below 0: that left
}

// checkServer refuses settings that the servers' version no longer supports.
func (c *cluster) checkServer() error {
	version := ""
	for _, conn := range c.conns {
		if conn != nil {
			version, _ = conn.Properties["version"].(string)
			break
		}
	}
	major, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(major) // a version of another form, 0, is not judged
	if why := c.cfg.lacking(n); why != "" {
		return fmt.Errorf("the server is RabbitMQ %s, which %s", version, why)
	}
	return nil
}

// connection returns a connection for requests that are not measured, to the endpoint with a
// number, or to another if that one does not answer.
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
		conn, err := c.dialer.dial(ctx, at, "plimsoll")
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
		return nil, fmt.Errorf("read the servers' versions: %w", err)
	}
	var lines []string
	for _, n := range nodes {
		if !n.Running {
			lines = append(lines, n.Name+" does not run")
			continue
		}
		lines = append(lines, fmt.Sprintf("%s RabbitMQ %s, Erlang kernel %s", n.Name,
			n.version("rabbit"), n.version("kernel")))
	}
	return lines, nil
}

// Close closes every producer and consumer that is open, and the connections.
func (c *cluster) Close(ctx context.Context) error {
	c.asking.Lock()
	conns := c.conns
	c.conns = nil
	c.asking.Unlock()
	err := c.clients.Close(ctx)
	errs := driver.DoAll(len(conns), func(i int) error {
		if conns[i] == nil {
			return nil
		}
		return hangUp(ctx, conns[i])
	})
	return errors.Join(err, errors.Join(errs...))
}

// redelivery says that nothing is redelivered while a channel is open, because an open channel
// loses no acknowledgement. After consumer_timeout without an acknowledgement a server takes
// messages back by closing the channel, which fails the run; plimsoll acknowledges each message as
// it is received.
func redelivery(s system.Settings, d workload.Delivery) system.Redelivery {
	switch {
	case s.Text(setQueueType) == streamed:
		return system.Redelivery{Never: true,
			Why: "a stream's reader only goes forward, and no acknowledgement times out"}
	case s.Text(setProtocol) == amqp10 && d == workload.AtMostOnce:
		return system.Redelivery{Never: true, Why: "a message is settled as the server sends it"}
	case s.Text(setProtocol) == amqp10:
		return system.Redelivery{Never: true,
			Why: "an accepted message is not redelivered while its link is open, and " +
				"consumer_timeout closes the link of a consumer that does not accept"}
	case d == workload.AtMostOnce:
		return system.Redelivery{Never: true,
			Why: "basic.consume without acknowledgements: the server forgets a message when " +
				"it sends it"}
	}
	return system.Redelivery{Never: true,
		Why: "an acknowledged message is not redelivered while its channel is open, and " +
			"consumer_timeout closes the channel of a consumer that does not acknowledge"}
}

// refuseReturns says that consumers of a queue can give messages back, and consumers of a stream
// cannot.
func refuseReturns(s system.Settings) string {
	if s.Text(setQueueType) == streamed {
		return "a stream has no negative acknowledgement: set queue_type: quorum"
	}
	return ""
}

const (
	connectWithin = 8 * time.Second // the contract allows ten
	askWithin     = 10 * time.Second
	// closeGrace is the most time that closing takes beyond its bound, for work that must be done.
	closeGrace = time.Second
	// firstPause is the pause before a reconnection. It doubles up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// checkURL checks that text can be the URL of a management API.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is not a URL: write it like http://rabbit-1:15672", text)
	case u.User != nil:
		return errors.New("holds a user or password: give them as credentials, so that they " +
			"stay out of results")
	}
	return nil
}

// dialer makes connections to the cluster's nodes. Its methods may be called
// from any goroutine.
type dialer struct{ system.Options }

// dial connects to the endpoint with a number, modulo their count.
func (d dialer) dial(ctx context.Context, number int, name string) (*amqp.Connection, error) {
	w := newWire(nil)
	err := d.connect(ctx, number, name, w)
	return w.conn, err
}

// connect connects as dial does, on a new wire of the caller.
func (d dialer) connect(ctx context.Context, number int, name string, w *wire) error {
	endpoint := d.Endpoints[number%len(d.Endpoints)]
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	deadline, _ := ctx.Deadline()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	config := amqp.Config{
		Vhost: d.Settings.Text(setVhost), Heartbeat: d.Settings.Duration(setHeartbeat),
		FrameSize: frameMost, Properties: properties, Locale: "en_US",
		SASL: []amqp.Authentication{
			&amqp.PlainAuth{Username: d.Credentials.User, Password: d.Credentials.Password},
		},
	}
	if d.Settings.Text(setSASL) == "external" {
		config.SASL = []amqp.Authentication{&amqp.ExternalAuth{}}
	}
	raw, err := driver.Dial(ctx, "tcp", endpoint, d.TLS)
	if err != nil {
		return d.explain(err, endpoint)
	}
	w.attach(raw, config.Heartbeat)
	_ = w.SetDeadline(deadline) // Open reports it; the library removes the deadline
	conn, err := amqp.Open(w, config)
	if err != nil {
		_ = w.Close() // the other error says more
		return d.explain(err, endpoint)
	}
	w.conn = conn
	w.agree(conn.Config.Heartbeat, conn.Config.FrameSize)
	return nil
}

// dialAll connects to all endpoints in parallel, and returns the connections in the endpoints'
// order, or an error if there is none.
func (d dialer) dialAll(ctx context.Context, name string) ([]*amqp.Connection, error) {
	conns, errs := driver.AskAll(len(d.Endpoints), func(i int) (*amqp.Connection, error) {
		return d.dial(ctx, i, name)
	})
	for _, conn := range conns {
		if conn != nil {
			return conns, nil
		}
	}
	return nil, errs[0]
}

// lastMoment is when closing must be over: with ctx, but not before closeGrace.
func lastMoment(ctx context.Context) time.Time {
	deadline := time.Now().Add(askWithin)
	if at, bounded := ctx.Deadline(); bounded && at.Before(deadline) {
		deadline = at
	}
	if least := time.Now().Add(closeGrace); ctx.Err() != nil || deadline.Before(least) {
		deadline = least
	}
	return deadline
}

// hangUp closes a connection until lastMoment.
func hangUp(ctx context.Context, conn *amqp.Connection) error {
	if err := conn.CloseDeadline(lastMoment(ctx)); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("close the connection: %w", err)
	}
	return nil
}

// explain returns an error that says why a connection failed and what to do.
func (d dialer) explain(err error, at string) error {
	peer := driver.Peer{Endpoints: []string{at}, Protocol: "RabbitMQ", Encrypted: d.TLS != nil}
	var answer *amqp.Error
	answered := errors.As(err, &answer)
	switch {
	case errors.Is(err, amqp.ErrCredentials), answered && answer.Server &&
		answer.Code == amqp.AccessRefused:
		return peer.RefusesLogin(err, "")
	case errors.Is(err, amqp.ErrSASL):
		return fmt.Errorf("%s does not know the %s: choose another: %w", at, setSASL, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	switch {
	case answered && answer.Server && answer.Code == amqp.NotAllowed, errors.Is(err, amqp.ErrVhost):
		return fmt.Errorf("%s does not let the user into virtual host %s: create it, grant the "+
			"user rights in it, or correct %s: %w", at, d.Settings.Text(setVhost), setVhost, err)
	case peer.Encrypted && !strings.Contains(err.Error(), "EOF") && answered && !answer.Server:
		return fmt.Errorf("%s closes the connection at once: it may not be RabbitMQ's port for "+
			"TLS, correct the port: %w", at, err)
	case peer.Encrypted && strings.Contains(err.Error(), "EOF"), answered && !answer.Server:
		return peer.HungUp(err)
	}
	return fmt.Errorf("connect to %s: %w", at, err)
}

// tries paces the attempts to reach a server again. The pause between two doubles.
type tries struct {
	until time.Time
	next  time.Duration
}

func newTries(patience time.Duration) tries {
	return tries{until: time.Now().Add(patience), next: firstPause}
}

// over reports whether the patience is at its end.
func (t *tries) over() bool { return time.Now().After(t.until) }

// pause waits before the next attempt; false: ctx has ended.
func (t *tries) pause(ctx context.Context) bool {
	wait := t.next
	t.next = min(2*wait, longestPause)
	return clock.Sleep(ctx, wait)
}

// refuseExisting says that readers take messages from queues, and that a topic of streams is a
// stream for each partition.
func refuseExisting(s system.Settings) string {
	if s.Text(setQueueType) == streamed {
		return system.OwnForm
	}
	return system.Destructive
}
