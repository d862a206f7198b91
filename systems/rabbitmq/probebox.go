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
)

var (
	_ system.Expirer      = (*cluster)(nil)
	_ system.Prioritiser  = (*cluster)(nil)
	_ system.Delayer      = (*cluster)(nil)
	_ system.DeadLetterer = (*cluster)(nil)
	_ system.Router       = (*cluster)(nil)
)

// box is what one probe declared, on a connection of its own.
type box struct {
	of       *cluster
	topic    system.Topic
	conn     *amqp.Connection
	channel  *amqp.Channel // of what is published, in confirm mode
	exchange string        // empty: the default one
	key      string        // where messages without one go
	delayed  string        // where those with a delay go
	queues   []string
	reading  sync.WaitGroup
}

// newBox is a box without a queue.
func (c *cluster) newBox(ctx context.Context, t system.Topic) (*box, error) {
	conn, err := c.dialer.dial(ctx, 0, "plimsoll probe", nil)
	if err != nil {
		return nil, err
	}
	b := &box{of: c, topic: t, conn: conn}
	if b.channel, err = conn.Channel(); err == nil {
		err = b.channel.Confirm(false)
	}
	if err == nil && c.cfg.kind == mirrored {
		err = c.api.setPolicy(ctx, c.cfg.vhost, policyName(t), "^"+regexp.QuoteMeta(t.Name)+`(\.|$)`, map[string]any{"ha-mode": "all", "ha-sync-mode": "automatic"})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("prepare a queue: %w", err), b.Close(ctx))
	}
	return b, nil
}

// openBox is a box with a queue of the topic's name and the settings' type,
// and further arguments. What the server says to them is a *system.NotSupported.
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

// declare makes a queue, on a channel of its own: a refusal closes it.
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
	m := amqp.Publishing{DeliveryMode: amqp.Persistent, Priority: uint8(l.Priority), Body: l.Payload}
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
	confirm, err := b.channel.PublishWithDeferredConfirmWithContext(ctx, b.exchange, key, false, false, m)
	if err != nil {
		return err
	}
	acked, err := confirm.WaitContext(ctx)
	if err == nil && !acked {
		err = errNacked
	}
	return err
}

// Open receives the box's queue.
func (b *box) Open(_ context.Context, receive func(payload []byte)) error {
	return b.consume(b.key, func(d amqp.Delivery) {
		receive(d.Body)
		_ = d.Ack(false) // lost, the message comes again
	})
}

// consume receives a queue until the connection closes.
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

// Close deletes what was declared.
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

// OpenExpiring makes a queue; each message says how long it lives.
func (c *cluster) OpenExpiring(ctx context.Context, t system.Topic) (system.Mailbox, string, error) {
	b, err := c.openBox(ctx, t, nil)
	if err != nil {
		return nil, "", err
	}
	return b, "", nil
}

// OpenPrioritised makes a queue with priorities.
func (c *cluster) OpenPrioritised(ctx context.Context, t system.Topic) (system.Mailbox, string, error) {
	b, err := c.openBox(ctx, t, amqp.Table{"x-max-priority": int32(9)})
	if err != nil {
		return nil, "", err
	}
	return b, "", nil
}

// OpenDelaying makes a queue beside which delayed messages are parked in
// another one, until they expire there and go to the first as dead letters.
func (c *cluster) OpenDelaying(ctx context.Context, t system.Topic) (system.Mailbox, string, error) {
	said, err := c.delayedExchange(ctx, t.Name+".delayed")
	if err != nil {
		return nil, "", err
	}
	b, err := c.openBox(ctx, t, nil)
	if err != nil {
		return nil, "", err
	}
	b.delayed = t.Name + ".parked"
	err = b.declareAs(b.delayed, "a parking queue", amqp.Table{
		argQueueType: classic, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": t.Name,
	})
	if err != nil {
		return nil, "", errors.Join(err, b.Close(ctx))
	}
	return b, "through a queue without consumers whose expired messages go to the real one as dead letters; " + said, nil
}

// delayedExchange asks whether there is the plugin for delays, on a connection
// of its own, because the server closes it when there is not.
func (c *cluster) delayedExchange(ctx context.Context, name string) (said string, err error) {
	conn, err := c.dialer.dial(ctx, 0, "plimsoll probe", nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = hangUp(ctx, conn) }() // the server may have closed it
	ch, err := conn.Channel()
	if err != nil {
		return "", fmt.Errorf("open a channel: %w", err)
	}
	err = ch.ExchangeDeclare(name, "x-delayed-message", false, true, false, false, amqp.Table{"x-delayed-type": direct})
	var refused *amqp.Error
	switch {
	case errors.As(err, &refused):
		return fmt.Sprintf("or the plugin rabbitmq_delayed_message_exchange, which is not there: %d %s", refused.Code, refused.Reason), nil
	case err != nil:
		return "", fmt.Errorf("declare a delaying exchange: %w", err)
	}
	return "or the plugin rabbitmq_delayed_message_exchange, which is there", ch.ExchangeDelete(name, false, false)
}

// OpenRejecting makes a queue whose rejected messages go to another one.
func (c *cluster) OpenRejecting(ctx context.Context, t system.Topic, rejected, dead func(payload []byte)) (system.Publisher, string, error) {
	aside := t.Name + ".dead"
	b, err := c.openBox(ctx, t, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": aside})
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

// OpenRoutes makes an exchange of the kind and a queue for each binding.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (system.Publisher, string, error) {
	b, err := c.newBox(ctx, r.Topic)
	if err != nil {
		return nil, "", err
	}
	kind := string(r.Kind)
	if r.Kind == system.RoutePattern {
		kind = "topic"
	}
	if err := b.channel.ExchangeDeclare(r.Topic.Name, kind, true, false, false, false, nil); err != nil {
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
