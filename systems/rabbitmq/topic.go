package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	settlePoll = 100 * time.Millisecond
	// settleWithin bounds the wait for a topic's queues and their copies, also for hundreds of
	// queues.
	settleWithin = time.Minute

	argQueueType    = "x-queue-type"
	argQueueVersion = "x-queue-version"
	argQueueMode    = "x-queue-mode"
	argMaxPriority  = "x-max-priority"
)

// storageArguments are the arguments that say how a classic queue keeps its messages.
var storageArguments = []string{argQueueVersion, argQueueMode, argMaxPriority}

// unread is the subscription whose queues hold a topic's messages until a real
// one opens. Without any queue the exchange would return every message.
const unread = ""

// queueName returns the name of a partition's queue for a subscription. With streams all
// subscriptions read the one without a subscription's name.
func queueName(t system.Topic, subscription string, partition int) string {
	if subscription == unread {
		return t.Name + "." + strconv.Itoa(partition)
	}
	return t.Name + "." + subscription + "." + strconv.Itoa(partition)
}

func policyName(t system.Topic) string { return "plimsoll-" + t.Name }

// route says how the exchange routes a message to the queues of a partition.
type route struct {
	key     string
	headers map[string]int32 // nil: none
}

// routes returns the partitions' routes for the exchange's type. A topic exchange compares words,
// so its keys have two words.
func (p plan) routes(t system.Topic) []route {
	all := make([]route, t.Partitions)
	for i := range all {
		all[i].key = strconv.Itoa(i)
		switch p.Text(setExchangeType) {
		case "topic":
			all[i].key = "partition." + all[i].key
		case headers:
			all[i] = route{headers: map[string]int32{"partition": int32(i)}}
		}
	}
	return all
}

// binding returns the route as an argument of a queue's binding.
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
// The leader is on the node to which the client is connected, and queues are declared on the nodes
// in turn.
func (p plan) arguments() amqp.Table {
	switch p.kind {
	case quorum:
		return amqp.Table{argQueueType: quorum, "x-quorum-initial-group-size": p.replicas(),
			"x-queue-leader-locator": "client-local"}
	case streamed:
		return amqp.Table{argQueueType: streamed, "x-initial-cluster-size": p.replicas(),
			"x-queue-leader-locator": "client-local"}
	}
	version, _ := strconv.Atoi(p.Text(setQueueVersion))
	out := amqp.Table{argQueueType: classic, argQueueVersion: int32(version),
		"x-queue-master-locator": "client-local"}
	if p.Text(setQueueMode) == lazy {
		out[argQueueMode] = lazy
	}
	if most := p.Count(setMaxPriority); most > 0 {
		out[argMaxPriority] = int32(most)
	}
	return out
}

// CreateTopic creates the exchange and a queue for each partition, and waits until every queue has
// all its copies.
func (c *cluster) CreateTopic(ctx context.Context, t system.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if c.cfg.Text(setExchangeType) == fanout && t.Partitions > 1 {
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
	// Without the API nobody could tell whether the queues are ready.
	if _, err := c.api.queues(ctx, c.cfg.Text(setVhost), t.Name); err != nil &&
		!errors.Is(err, errNotThere) {
		return err
	}
	if c.cfg.kind == mirrored {
		err := c.api.setPolicy(ctx, c.cfg.Text(setVhost), policyName(t),
			"^"+regexp.QuoteMeta(t.Name)+`\.`,
			map[string]any{"ha-mode": "all", "ha-sync-mode": "automatic"})
		if err != nil {
			return fmt.Errorf("set the policy that mirrors its queues: %w", err)
		}
	}
	if err := c.declareExchange(ctx, t); err != nil {
		return err
	}
	err = c.declareQueues(ctx, t, unread)
	if err == nil {
		_, err = c.settledQueues(ctx, t)
	}
	if err != nil {
		return &system.Unready{Err: err}
	}
	return nil
}

// exchangeExists reports whether there is an exchange of a name.
func (c *cluster) exchangeExists(ctx context.Context, name string) (bool, error) {
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		return ch.ExchangeDeclarePassive(name, c.cfg.Text(setExchangeType), true, false, false,
			false, nil)
	})
	var answer *amqp.Error
	switch {
	case err == nil, errors.As(err, &answer) && answer.Code == amqp.PreconditionFailed:
		return true, nil
	case errors.As(err, &answer) && answer.Code == amqp.NotFound:
		return false, nil
	}
	return false, fmt.Errorf("ask for exchange %s: %w", name, err)
}

// isMissing reports whether a server answers that there is no such queue.
func isMissing(w *wire, queue string) bool {
	ch, err := w.open(events{})
	if err != nil {
		return false
	}
	defer func() { _ = ch.Close() }() // the refusal has closed it
	_, err = ch.QueueDeclarePassive(queue, true, false, false, false, nil)
	var refused *amqp.Error
	return errors.As(err, &refused) && refused.Code == amqp.NotFound
}

func (c *cluster) declareExchange(ctx context.Context, t system.Topic) error {
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		return ch.ExchangeDeclare(t.Name, c.cfg.Text(setExchangeType), true, false, false, false,
			nil)
	})
	if err != nil {
		return fmt.Errorf("make exchange %s: %w", t.Name, c.explainDeclare(err))
	}
	return nil
}

// declareQueues creates a subscription's missing queues, binds them, and spreads their leaders
// evenly over the endpoints.
func (c *cluster) declareQueues(ctx context.Context, t system.Topic, subscription string) error {
	routes, arguments := c.cfg.routes(t), c.cfg.arguments()
	return c.eachEndpoint(ctx, t, func(ch *amqp.Channel, partition int) error {
		name := queueName(t, subscription, partition)
		if _, err := ch.QueueDeclare(name, true, false, false, false, arguments); err != nil {
			return fmt.Errorf("make queue %s: %w", name, c.explainDeclare(err))
		}
		key, headers := routes[partition].binding()
		if err := ch.QueueBind(name, key, t.Name, false, headers); err != nil {
			return fmt.Errorf("bind queue %s: %w", name, err)
		}
		return nil
	})
}

// deleteQueues deletes the existing queues of a subscription.
func (c *cluster) deleteQueues(ctx context.Context, t system.Topic, subscription string) error {
	return c.eachEndpoint(ctx, t, func(ch *amqp.Channel, partition int) error {
		name := queueName(t, subscription, partition)
		if _, err := ch.QueueDelete(name, false, false, false); err != nil {
			return fmt.Errorf("delete queue %s: %w", name, err)
		}
		return nil
	})
}

// eachEndpoint calls a function for every partition, at the endpoint of the partition's number, in
// parallel for the endpoints.
func (c *cluster) eachEndpoint(ctx context.Context, t system.Topic,
	do func(ch *amqp.Channel, partition int) error) error {
	endpoints := len(c.dialer.Endpoints)
	errs := driver.DoAll(min(endpoints, t.Partitions), func(i int) error {
		return c.withChannel(ctx, i, func(ch *amqp.Channel) error {
			for partition := i; partition < t.Partitions; partition += endpoints {
				if err := do(ch, partition); err != nil {
					return err
				}
			}
			return nil
		})
	})
	return cmp.Or(errs...) // the error is the same for all, and is reported once
}

// withChannel calls a function with a new channel to the endpoint with a number. The library's
// calls take no context, so when ctx ends, the connection is closed under them.
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
		return fmt.Errorf("open a channel: %w", err)
	}
	defer func() { _ = ch.Close() }() // its error adds nothing to do's
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
		_ = hangUp(ctx, conn) // waiting calls get the error
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
			"it exists already and differs: delete it, or choose another name: %w", err)
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
		errs = append(errs, c.api.deletePolicy(ctx, c.cfg.Text(setVhost), policyName(t)))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("delete topic %s: %w", t.Name, err)
	}
	return nil
}

// Leader returns the endpoint of the server with the leader of the partition's queue or stream.
// Each subscription has its own queue, whose leaders may differ: Leader takes the first queue by
// name.
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
	return endpointOf(node, c.dialer.Endpoints)
}

func (c *cluster) queueLeader(ctx context.Context, t system.Topic, partition int) (string, error) {
	queues, err := c.api.queues(ctx, c.cfg.Text(setVhost), t.Name)
	if err != nil {
		return "", fmt.Errorf("ask for the queues of exchange %s: %w", t.Name, err)
	}
	return leaderAmong(queues, t, partition)
}

// leaderAmong returns the node that leads the partition.
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

// streamLeader reads the leader through the stream protocol. The management API shows it only
// seconds later.
func (c *cluster) streamLeader(name string) (string, error) {
	environment, err := c.streamEnvironment(0)
	if err != nil {
		return "", err
	}
	defer func() { _ = environment.Close() }() // it always returns nil
	told, err := environment.StreamMetaData(name)
	if err != nil {
		return "", fmt.Errorf("ask for the leader of stream %s: %w", name, err)
	}
	if told.Leader == nil {
		return "", fmt.Errorf("stream %s has no leader now", name)
	}
	return told.Leader.Host, nil
}

// endpointOf returns the endpoint of a node that is called name@host, or just host.
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
	return "", fmt.Errorf("%s leads, but no endpoint is at its host", node)
}
