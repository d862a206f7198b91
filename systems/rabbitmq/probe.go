package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// OpenShared opens nothing: consumers of a queue share it anyway.
func (c *cluster) OpenShared(
	context.Context, system.ConsumerOptions,
) (system.Consumer, string, error) {
	if c.cfg.kind == streamed {
		return nil, "", &system.NotSupported{Reason: "every reader of a stream gets it all; " +
			"readers of one name can take turns (single active consumer, RabbitMQ 3.11 or later)"}
	}
	return nil, "", &system.NotSupported{Reason: "the consumers of a queue share it as they are"}
}

// OpenReplay lets a subscription begin again at a stream's first message.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	if c.cfg.kind != streamed {
		return nil, "", &system.NotSupported{
			Reason: "a queue deletes acknowledged messages; queue type stream keeps them"}
	}
	g := c.groupOf(o)
	for partition := range o.Topic.Partitions {
		g.moveTo(partition, 0)
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// PublishAcked publishes with and without a publisher confirm. The queue type decides what a
// confirm waits for.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind,
	payload []byte) (string, error) {
	replicated := c.cfg.replicated()
	switch {
	case kind == system.AckOne && replicated:
		return "", &system.NotSupported{
			Reason: "the type of the queue decides what a confirm waits for, and here it is the " +
				"copies"}
	case kind == system.AckReplicas && !replicated:
		return "", &system.NotSupported{
			Reason: "a classic queue has one copy; a confirm of a quorum queue, a mirrored one " +
				"or a stream waits for the copies"}
	}
	to := c.cfg.routes(t)[0]
	message := amqp.Publishing{Headers: to.headers, DeliveryMode: amqp.Persistent, Body: payload}
	answer := ""
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		if kind == system.AckNone {
			answer = "published on a channel without confirms, so the server answers nothing"
			return ch.PublishWithContext(ctx, t.Name, to.key, false, false, message)
		}
		if err := ch.Confirm(false); err != nil {
			return err
		}
		returned := ch.NotifyReturn(make(chan amqp.Return, 1))
		key := to.key
		if kind == system.AckRefusal {
			key, message.Headers = "nobody", nil
		}
		confirm, err := ch.PublishWithDeferredConfirmWithContext(ctx, t.Name, key, true, false,
			message)
		if err != nil {
			return err
		}
		acked, err := confirm.WaitContext(ctx)
		if err != nil {
			return err
		}
		said := "basic.nack"
		if acked {
			said = "basic.ack"
		}
		answer = fmt.Sprintf("publisher confirm: %s from a %s queue", said, c.cfg.kind)
		if kind != system.AckRefusal {
			return nil
		}
		select {
		case r := <-returned:
			answer = fmt.Sprintf(
				"basic.return %d %s for a message that no queue takes, published as mandatory",
				r.ReplyCode, r.ReplyText)
			return nil
		default:
			return errors.New("a message that no queue takes was not returned")
		}
	})
	return answer, err
}

// PublishBeyond fills a queue that refuses messages when it is full.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (system.BackPressure,
	string, error) {
	limit := n / 2
	b, err := c.openBox(ctx, t,
		amqp.Table{"x-max-length": int64(limit), "x-overflow": "reject-publish"})
	var lacking *system.NotSupported
	if errors.As(err, &lacking) {
		lacking.Reason += "; a bound (max-length-bytes) drops the oldest messages, and only when " +
			"memory or disk run short do servers stop reading from publishers (connection.blocked)"
	}
	if err != nil {
		return system.BackPressure{}, "", err
	}
	p := system.BackPressure{
		Limit: fmt.Sprintf("x-max-length %d, x-overflow reject-publish", limit)}
	err = driver.Overfill(ctx, b, n, &p, func(err error) string {
		if errors.Is(err, errNacked) {
			return "basic.nack"
		}
		return ""
	})
	return p, "x-max-length with x-overflow reject-publish; otherwise servers stop reading from " +
			"publishers only when memory or disk run short (connection.blocked)", errors.Join(err,
			b.Close(ctx))
}

// Transact publishes on a channel in transaction mode.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte,
	commit bool) (string, error) {
	to := c.cfg.routes(t)[0]
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		if err := ch.Tx(); err != nil {
			return err
		}
		for _, payload := range payloads {
			err := ch.PublishWithContext(ctx, t.Name, to.key, false, false,
				amqp.Publishing{Headers: to.headers, DeliveryMode: amqp.Persistent, Body: payload})
			if err != nil {
				return err
			}
		}
		if commit {
			return ch.TxCommit()
		}
		return ch.TxRollback()
	})
	var refused *amqp.Error
	if errors.As(err, &refused) && refused.Server {
		return "", &system.NotSupported{Reason: fmt.Sprintf(
			"tx on a %s queue: the server answers %d %s", c.cfg.kind, refused.Code, refused.Reason)}
	}
	return "tx.select on a channel instead of confirms, which the protocol makes atomic for one " +
		"queue only", err
}

// PublishTwice publishes to a stream twice with one publishing id.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (answer,
	condition string, err error) {
	if c.cfg.kind != streamed {
		return "", "", &system.NotSupported{
			Reason: "queues do not compare messages, and a publisher that lost its connection " +
				"before the confirm must publish again; receivers recognise a copy by an id of " +
				"the application's"}
	}
	answer, err = c.publishStreamTwice(ctx, queueName(t, unread, 0), payload)
	return answer,
		"publishers of the stream protocol with a name and publishing ids that they keep", err
}

// refusal returns a *system.NotSupported for a declaration that a server refuses.
func (c *cluster) refusal(what string, err error) error {
	var refused *amqp.Error
	if !errors.As(err, &refused) || !refused.Server {
		return fmt.Errorf("declare %s: %w", what, err)
	}
	return &system.NotSupported{Reason: fmt.Sprintf("declaring %s: the server answers %d %s", what,
		refused.Code, strings.TrimSpace(refused.Reason))}
}

// box holds the declarations of a probe, on its own connection.
type box struct {
	of       *cluster
	topic    system.Topic
	conn     *amqp.Connection
	channel  *amqp.Channel // for publishing, in confirm mode
	exchange string        // empty: the default one
	key      string        // routing key of messages without a key
	delayed  string        // queue of messages with a delay
	queues   []string
	reading  sync.WaitGroup
}

// newBox returns a box without a queue.
func (c *cluster) newBox(ctx context.Context, t system.Topic) (*box, error) {
	conn, err := c.dialer.dial(ctx, 0, "plimsoll probe")
	if err != nil {
		return nil, err
	}
	b := &box{of: c, topic: t, conn: conn}
	if b.channel, err = conn.Channel(); err == nil {
		err = b.channel.Confirm(false)
	}
	if err == nil && c.cfg.kind == mirrored {
		err = c.api.setPolicy(ctx, c.cfg.vhost, policyName(t),
			"^"+regexp.QuoteMeta(t.Name)+`(\.|$)`, map[string]any{"ha-mode": "all",
				"ha-sync-mode": "automatic"})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare a queue: %w", err), b.Close(ctx))
	}
	return b, nil
}

// openBox returns a box with a queue of the topic's name, the settings' type, and further
// arguments. If the server refuses them, the error is a *system.NotSupported.
func (c *cluster) openBox(ctx context.Context, t system.Topic, further amqp.Table) (*box, error) {
	b, err := c.newBox(ctx, t)
	if err != nil {
		return nil, err
	}
	b.key = t.Name
	if err := b.declare(t.Name, further); err != nil {
		return nil, errors.Join(err, b.Close(ctx))
	}
	return b, nil
}

// declare creates a queue, on its own channel, because a refusal closes the channel.
func (b *box) declare(name string, further amqp.Table) error {
	arguments := b.of.cfg.arguments()
	maps.Copy(arguments, further)
	what := "a " + b.of.cfg.kind + " queue"
	if len(further) > 0 {
		what += " with " + strings.Join(slices.Sorted(maps.Keys(further)), ", ")
	}
	return b.declareAs(name, what, arguments)
}

func (b *box) declareAs(name, what string, arguments amqp.Table) error {
	ch, err := b.conn.Channel()
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	if _, err := ch.QueueDeclare(name, true, false, false, false, arguments); err != nil {
		return b.of.refusal(what, err)
	}
	b.queues = append(b.queues, name)
	return ch.Close()
}

// Post publishes and waits for the confirm.
func (b *box) Post(ctx context.Context, l system.Envelope) error {
	m := amqp.Publishing{DeliveryMode: amqp.Persistent, Priority: uint8(l.Priority),
		Body: l.Payload}
	key := b.key
	if l.Key != "" {
		key = l.Key
	}
	if l.TTL > 0 {
		m.Expiration = strconv.FormatInt(l.TTL.Milliseconds(), 10)
	}
	if l.Delay > 0 {
		m.Expiration, key = strconv.FormatInt(l.Delay.Milliseconds(), 10), b.delayed
	}
	for name, value := range l.Headers {
		if m.Headers == nil {
			m.Headers = amqp.Table{}
		}
		m.Headers[name] = value
	}
	confirm, err := b.channel.PublishWithDeferredConfirmWithContext(ctx, b.exchange, key, false,
		false, m)
	if err != nil {
		return err
	}
	acked, err := confirm.WaitContext(ctx)
	if err == nil && !acked {
		err = errNacked
	}
	return err
}

// Open receives from the box's queue.
func (b *box) Open(_ context.Context, receive func(payload []byte)) error {
	return b.consume(b.key, func(d amqp.Delivery) {
		receive(d.Body)
		_ = d.Ack(false) // if this is lost, the message is redelivered
	})
}

// consume receives from a queue until the connection closes.
func (b *box) consume(queue string, handle func(d amqp.Delivery)) error {
	ch, err := b.conn.Channel()
	if err == nil {
		err = ch.Qos(100, 0, false)
	}
	if err != nil {
		return fmt.Errorf("open a channel: %w", err)
	}
	var arguments amqp.Table
	if b.of.cfg.kind == streamed {
		arguments = amqp.Table{"x-stream-offset": "first"}
	}
	deliveries, err := ch.Consume(queue, "", false, false, false, false, arguments)
	if err != nil {
		return fmt.Errorf("receive queue %s: %w", queue, err)
	}
	b.reading.Go(func() {
		for d := range deliveries {
			handle(d)
		}
	})
	return nil
}

// Close deletes the declarations.
func (b *box) Close(ctx context.Context) error {
	errs := []error{hangUp(ctx, b.conn)}
	b.reading.Wait()
	errs = append(errs, b.of.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		for _, queue := range b.queues {
			if _, err := ch.QueueDelete(queue, false, false, false); err != nil {
				return fmt.Errorf("delete queue %s: %w", queue, err)
			}
		}
		if b.exchange == "" {
			return nil
		}
		return ch.ExchangeDelete(b.exchange, false, false)
	}))
	if b.of.cfg.kind == mirrored {
		errs = append(errs, b.of.api.deletePolicy(ctx, b.of.cfg.vhost, policyName(b.topic)))
	}
	return errors.Join(errs...)
}

// OpenMailbox creates a queue. Each message has its own time to live.
func (c *cluster) OpenMailbox(
	ctx context.Context, t system.Topic, f system.Feature,
) (m system.Mailbox, condition string, err error) {
	var further amqp.Table
	switch f {
	case system.FeaturePriority:
		further = amqp.Table{"x-max-priority": int32(9)}
	case system.FeatureDelay:
		said, err := c.delayedExchange(ctx, t.Name+".delayed")
		if err != nil {
			return nil, "", err
		}
		condition = "through a queue without consumers whose expired messages go to the real one " +
			"as dead letters; " + said
	}
	b, err := c.openBox(ctx, t, further)
	if err != nil {
		return nil, "", err
	}
	if f == system.FeatureDelay {
		if err := b.park(); err != nil {
			return nil, "", errors.Join(err, b.Close(ctx))
		}
	}
	return b, condition, nil
}

// park declares a queue for delayed messages. They expire there and go to the box's queue as dead
// letters.
func (b *box) park() error {
	b.delayed = b.key + ".parked"
	return b.declareAs(b.delayed, "a parking queue", amqp.Table{
		argQueueType: classic, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": b.key,
	})
}

// delayedExchange checks for the plugin for delays. It uses a separate connection, because the
// server closes the connection if there is no plugin.
func (c *cluster) delayedExchange(ctx context.Context, name string) (said string, err error) {
	conn, err := c.dialer.dial(ctx, 0, "plimsoll probe")
	if err != nil {
		return "", err
	}
	defer func() { _ = hangUp(ctx, conn) }() // the server may have closed it
	ch, err := conn.Channel()
	if err != nil {
		return "", fmt.Errorf("open a channel: %w", err)
	}
	err = ch.ExchangeDeclare(name, "x-delayed-message", false, true, false, false,
		amqp.Table{"x-delayed-type": direct})
	var refused *amqp.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("or the plugin rabbitmq_delayed_message_exchange, which is not there: "+
			"%d %s", refused.Code, refused.Reason), nil
	case err != nil:
		return "", fmt.Errorf("declare a delaying exchange: %w", err)
	}
	return "or the plugin rabbitmq_delayed_message_exchange, which is there",
		ch.ExchangeDelete(name, false, false)
}

// OpenRejecting creates a queue whose rejected messages go to another queue.
func (c *cluster) OpenRejecting(
	ctx context.Context, t system.Topic, rejected, dead func(payload []byte),
) (system.Publisher, string, error) {
	aside := t.Name + ".dead"
	b, err := c.openBox(ctx, t, amqp.Table{"x-dead-letter-exchange": "",
		"x-dead-letter-routing-key": aside})
	if err != nil {
		return nil, "", err
	}
	err = b.declareAs(aside, "a queue for dead letters", amqp.Table{argQueueType: classic})
	if err == nil {
		err = b.consume(aside, func(d amqp.Delivery) {
			dead(d.Body)
			_ = d.Ack(false)
		})
	}
	if err == nil {
		err = b.consume(t.Name, func(d amqp.Delivery) {
			rejected(d.Body)
			_ = d.Reject(false)
		})
	}
	if err != nil {
		return nil, "", errors.Join(err, b.Close(ctx))
	}
	return b, "", nil
}

// OpenRoutes creates an exchange of the kind and a queue for each binding.
func (c *cluster) OpenRoutes(
	ctx context.Context, r system.Routing,
) (system.Publisher, string, error) {
	b, err := c.newBox(ctx, r.Topic)
	if err != nil {
		return nil, "", err
	}
	kind := string(r.Kind)
	if r.Kind == system.RoutePattern {
		kind = "topic"
	}
	if err := b.channel.ExchangeDeclare(r.Topic.Name, kind, true, false, false, false,
		nil); err != nil {
		return nil, "", errors.Join(c.refusal("an exchange of type "+kind, err), b.Close(ctx))
	}
	b.exchange = r.Topic.Name
	for i, binding := range r.Bindings {
		if err := b.bind(fmt.Sprintf("%s.%d", r.Topic.Name, i), binding); err != nil {
			return nil, "", errors.Join(err, b.Close(ctx))
		}
	}
	return b, "", nil
}

func (b *box) bind(queue string, binding system.Binding) error {
	if err := b.declare(queue, nil); err != nil {
		return err
	}
	var arguments amqp.Table
	if binding.Headers != nil {
		arguments = amqp.Table{"x-match": "all"}
		for name, value := range binding.Headers {
			arguments[name] = value
		}
	}
	if err := b.channel.QueueBind(queue, binding.Key, b.exchange, false, arguments); err != nil {
		return fmt.Errorf("bind queue %s: %w", queue, err)
	}
	return b.consume(queue, func(d amqp.Delivery) {
		binding.Receive(d.Body)
		_ = d.Ack(false)
	})
}
