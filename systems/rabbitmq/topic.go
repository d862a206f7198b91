package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	settlePoll = 100 * time.Millisecond
	// settleWithin bounds the wait for a topic's queues and their copies;
	// hundreds of queues take their time.
	settleWithin = time.Minute

	argQueueType    = "x-queue-type"
	argQueueVersion = "x-queue-version"
)

// unread is the subscription whose queues hold a topic's messages until a real
// one opens. Without any queue the exchange would return every message.
const unread = ""

// queueName is the queue of a partition for a subscription; with streams all
// subscriptions read the one without a subscription's name.
func queueName(t system.Topic, subscription string, partition int) string {
	if subscription == unread {
		return t.Name + "." + strconv.Itoa(partition)
	}
	return t.Name + "." + subscription + "." + strconv.Itoa(partition)
}

func policyName(t system.Topic) string { return "plimsoll-" + t.Name }

// route is how a message finds the queues of a partition.
type route struct {
	key     string
	headers amqp.Table // nil: none
}

// routes are the partitions', by the exchange's type. A topic exchange
// compares words, so its keys have two.
func (c config) routes(t system.Topic) []route {
	all := make([]route, t.Partitions)
	for i := range all {
		all[i].key = strconv.Itoa(i)
		switch c.exchange {
		case "topic":
			all[i].key = "partition." + all[i].key
		case headers:
			all[i] = route{headers: amqp.Table{"partition": int32(i)}}
		}
	}
	return all
}

// binding is the route as a queue asks for it.
func (r route) binding() (key string, arguments amqp.Table) {
	if r.headers == nil {
		return r.key, nil
	}
	arguments = amqp.Table{"x-match": "all"}
	for name, value := range r.headers {
		arguments[name] = value
	}
	return "", arguments
}

// arguments returns the arguments for a queue of the type and options that the settings ask for.
// The leader is on the node that the client is connected to, and queues are declared round the
// nodes.
func (c config) arguments() amqp.Table {
	switch c.kind {
	case quorum:
		return amqp.Table{argQueueType: quorum, "x-quorum-initial-group-size": c.replicas,
			"x-queue-leader-locator": "client-local"}
	case streamed:
		return amqp.Table{argQueueType: streamed, "x-initial-cluster-size": c.replicas,
			"x-queue-leader-locator": "client-local"}
	}
	return amqp.Table{argQueueType: classic, argQueueVersion: int32(c.queueVersion),
		"x-queue-master-locator": "client-local"}
}

// CreateTopic makes the exchange and a queue for each partition, and waits
// until every queue has all its copies.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if c.cfg.exchange == fanout && t.Partitions > 1 {
		return fmt.Errorf(
			"%s %s routes every message to every queue, so a topic has one partition and not %d: "+
				"take %s", setExchangeType, fanout, t.Partitions, direct)
	}
	exists, err := c.exchangeExists(ctx, t.Name)
	if err != nil {
		return err
	}
	if exists {
		return errors.New("a topic of that name exists already: delete it, or choose another name")
	}
	if err := c.readServers(ctx, newReading(c.cfg)); err != nil {
		return err
	}
	if c.cfg.kind == mirrored {
		err := c.api.setPolicy(ctx, c.cfg.vhost, policyName(t), "^"+regexp.QuoteMeta(t.Name)+`\.`,
			map[string]any{"ha-mode": "all", "ha-sync-mode": "automatic"})
		if err != nil {
			return fmt.Errorf("setting the policy that mirrors its queues: %w", err)
		}
	}
	if err := c.declareExchange(ctx, t); err != nil {
		return err
	}
	if err := c.declareQueues(ctx, t, unread); err != nil {
		return err
	}
	if _, err := c.settledQueues(ctx, t); err != nil {
		return fmt.Errorf("the topic was created and is not ready: %w", err)
	}
	return nil
}

// exchangeExists asks whether there is an exchange of that name.
func (c *cluster) exchangeExists(ctx context.Context, name string) (bool, error) {
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(name, c.cfg.exchange, true, false, false, false, nil)
	})
	var answer *amqp.Error
	switch {
	case err == nil, errors.As(err, &answer) && answer.Code == amqp.PreconditionFailed:
		return true, nil
	case errors.As(err, &answer) && answer.Code == amqp.NotFound:
		return false, nil
	}
	return false, fmt.Errorf("asking for exchange %s: %w", name, err)
}

func (c *cluster) declareExchange(ctx context.Context, t system.Topic) error {
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare(t.Name, c.cfg.exchange, true, false, false, false, nil)
	})
	if err != nil {
		return fmt.Errorf("making exchange %s: %w", t.Name, c.explainDeclare(err))
	}
	return nil
}

// declareQueues makes a subscription's queues where they are not there, binds
// them, and so spreads their leaders evenly over the endpoints.
func (c *cluster) declareQueues(ctx context.Context, t system.Topic, subscription string) error {
	routes, arguments := c.cfg.routes(t), c.cfg.arguments()
	return c.eachEndpoint(ctx, t, func(ch *amqp.Channel, partition int) error {
		name := queueName(t, subscription, partition)
		if _, err := ch.QueueDeclare(name, true, false, false, false, arguments); err != nil {
			return fmt.Errorf("making queue %s: %w", name, c.explainDeclare(err))
		}
		key, headers := routes[partition].binding()
		if err := ch.QueueBind(name, key, t.Name, false, headers); err != nil {
			return fmt.Errorf("binding queue %s: %w", name, err)
		}
		return nil
	})
}

// deleteQueues deletes a subscription's queues; those that are not there are
// none.
func (c *cluster) deleteQueues(ctx context.Context, t system.Topic, subscription string) error {
	return c.eachEndpoint(ctx, t, func(ch *amqp.Channel, partition int) error {
		name := queueName(t, subscription, partition)
		if _, err := ch.QueueDelete(name, false, false, false); err != nil {
			return fmt.Errorf("deleting queue %s: %w", name, err)
		}
		return nil
	})
}

// eachEndpoint does something for every partition, each at the endpoint of its
// number, side by side for the endpoints.
func (c *cluster) eachEndpoint(ctx context.Context, t system.Topic,
	do func(ch *amqp.Channel, partition int) error) error {
	endpoints := len(c.dialer.endpoints)
	errs := make([]error, endpoints)
	var wg sync.WaitGroup
	for i := range min(endpoints, t.Partitions) {
		wg.Go(func() {
			errs[i] = c.withChannel(ctx, i, func(ch *amqp.Channel) error {
				for partition := i; partition < t.Partitions; partition += endpoints {
					if err := do(ch, partition); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // what stops one stops all, and is said once
		}
	}
	return nil
}

// withChannel does something on a channel of its own, to the endpoint of that
// number. The library's calls know no context: when ctx ends, the connection is
// closed under them.
func (c *cluster) withChannel(ctx context.Context, number int,
	do func(ch *amqp.Channel) error) error {
	conn, err := c.connection(ctx, number)
	if err != nil {
		return err
	}
	stop := guard(ctx, conn)
	defer stop()
	ch, err := conn.Channel()
	if err != nil {
		return fmt.Errorf("opening a channel: %w", err)
	}
	defer func() { _ = ch.Close() }() // it says no more than do has said
	if err := do(ch); err != nil {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		return err
	}
	return nil
}

// guard closes the connection when ctx ends, until it is told to stop.
func guard(ctx context.Context, conn *amqp.Connection) (stop func()) {
	ended := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = hangUp(ctx, conn) // whoever waits on it gets the error
	})
	return func() {
		if !cancel() {
			<-ended
		}
	}
}

func (c *cluster) explainDeclare(err error) error {
	var answer *amqp.Error
	switch {
	case !errors.As(err, &answer):
		return err
	case answer.Code == amqp.AccessRefused:
		return fmt.Errorf(
			"the user may not create it: grant the right to configure, or give another user: %w",
			err)
	case answer.Code == amqp.PreconditionFailed:
		return fmt.Errorf(
			"it exists already and is another one: delete it, or choose another name: %w", err)
	}
	return err
}

// DeleteTopic deletes the exchange, the queues that it routes to, and the
// policy that mirrors them.
func (c *cluster) DeleteTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	subscriptions := []string{unread}
	for _, g := range c.groups.Drop(t) {
		if c.cfg.kind != streamed {
			subscriptions = append(subscriptions, g.subscription)
		}
	}
	var errs []error
	for _, subscription := range subscriptions {
		errs = append(errs, c.deleteQueues(ctx, t, subscription))
	}
	errs = append(errs, c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		return ch.ExchangeDelete(t.Name, false, false)
	}))
	if c.cfg.kind == mirrored {
		errs = append(errs, c.api.deletePolicy(ctx, c.cfg.vhost, policyName(t)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("deleting topic %s: %w", t.Name, err)
	}
	return nil
}

// Leader is the endpoint of the server where the leader of the partition's queue
// or stream is. Subscriptions have queues of their own, which need not have one
// leader: it is that of the first by name.
func (c *cluster) Leader(ctx context.Context, t system.Topic, partition int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var node string
	var err error
	if c.cfg.kind == streamed {
		node, err = c.streamLeader(queueName(t, unread, partition))
	} else {
		node, err = c.queueLeader(ctx, t, partition)
	}
	if err != nil {
		return "", err
	}
	return endpointOf(node, c.dialer.endpoints)
}

func (c *cluster) queueLeader(ctx context.Context, t system.Topic, partition int) (string, error) {
	queues, err := c.api.queues(ctx, c.cfg.vhost, t.Name)
	if err != nil {
		return "", fmt.Errorf("asking for the queues of exchange %s: %w", t.Name, err)
	}
	return leaderAmong(queues, t, partition)
}

// leaderAmong is the node that leads the partition.
func leaderAmong(queues []queueReport, t system.Topic, partition int) (string, error) {
	end := "." + strconv.Itoa(partition)
	queues = slices.SortedFunc(slices.Values(queues), func(a, b queueReport) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, q := range queues {
		if !strings.HasSuffix(q.Name, end) {
			continue
		}
		at := q.leads()
		if at == "" || len(q.Online) > 0 && !slices.Contains(q.Online, at) {
			return "", fmt.Errorf("queue %s has no leader now", q.Name)
		}
		return at, nil
	}
	return "", fmt.Errorf("exchange %s routes to no queue of partition %d", t.Name, partition)
}

// streamLeader asks by the stream protocol; the management API tells it only
// seconds later.
func (c *cluster) streamLeader(name string) (string, error) {
	environment, err := c.streamEnvironment(0)
	if err != nil {
		return "", err
	}
	defer func() { _ = environment.Close() }() // it always returns nil
	told, err := environment.StreamMetaData(name)
	if err != nil {
		return "", fmt.Errorf("asking for the leader of stream %s: %w", name, err)
	}
	if told.Leader == nil {
		return "", fmt.Errorf("stream %s has no leader now", name)
	}
	return told.Leader.Host, nil
}

// endpointOf is where clients reach a node that is called name@host, or host
// alone.
func endpointOf(node string, endpoints []string) (string, error) {
	_, host, named := strings.Cut(node, "@")
	if !named {
		host = node
	}
	for _, e := range endpoints {
		if at, _, err := net.SplitHostPort(e); err == nil && at == host {
			return e, nil
		}
	}
	return "", fmt.Errorf("%s leads, and none of the endpoints is at its host", node)
}
