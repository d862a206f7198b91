package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	_ system.Varied              = rabbitSystem{}
	_ system.CapabilityExplainer = (*cluster)(nil)
	_ system.Replayer            = (*cluster)(nil)
	_ system.AckChooser          = (*cluster)(nil)
	_ system.BackPressurer       = (*cluster)(nil)
	_ system.Transactor          = (*cluster)(nil)
	_ system.Deduplicator        = (*cluster)(nil)
)

// Variant is the type of queue.
func (rabbitSystem) Variant(o system.Options) string { return planOf(o.Settings, o.Durability).kind }

// ExplainLack says what RabbitMQ has no such thing for.
func (c *cluster) ExplainLack(a system.Capability) string {
	if a != system.CanShare {
		return ""
	}
	if c.cfg.kind == streamed {
		return "every reader of a stream gets all of it; those of one name can take turns (single active consumer, RabbitMQ 3.11 or later)"
	}
	return "the consumers of a queue share it as they are"
}

// OpenReplay has a subscription begin again at a stream's first message.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string, error) {
	if c.cfg.kind != streamed {
		return nil, "", &system.NotSupported{Reason: "a queue deletes what was acknowledged; a stream keeps it (queue type stream)"}
	}
	g := c.groupOf(o.Topic, o.Subscription)
	for partition := range o.Topic.Partitions {
		g.moveTo(partition, 0)
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// PublishAcked publishes with and without a publisher confirm. What a confirm
// waits for is the queue type's to say.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind, payload []byte) (string, error) {
	replicated := c.cfg.replicated()
	switch {
	case kind == system.AckOne && replicated:
		return "", &system.NotSupported{Reason: "the type of the queue decides what a confirm waits for, and here it is the copies"}
	case kind == system.AckReplicas && !replicated:
		return "", &system.NotSupported{Reason: "a classic queue has one copy; a confirm of a quorum queue, a mirrored one or a stream waits for the copies"}
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
		confirm, err := ch.PublishWithDeferredConfirmWithContext(ctx, t.Name, key, true, false, message)
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
			answer = fmt.Sprintf("basic.return %d %s for a message that no queue takes, published as mandatory", r.ReplyCode, r.ReplyText)
			return nil
		default:
			return errors.New("a message that no queue takes was not returned")
		}
	})
	return answer, err
}

// PublishBeyond fills a queue that refuses what is too much.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (system.BackPressure, string, error) {
	limit := n / 2
	b, err := c.openBox(ctx, t, amqp.Table{"x-max-length": int64(limit), "x-overflow": "reject-publish"})
	var lacking *system.NotSupported
	if errors.As(err, &lacking) {
		lacking.Reason += "; a bound (max-length-bytes) drops the oldest messages, and only when memory or disk run short do servers stop reading from publishers (connection.blocked)"
	}
	if err != nil {
		return system.BackPressure{}, "", err
	}
	p := system.BackPressure{Limit: fmt.Sprintf("x-max-length %d, x-overflow reject-publish", limit)}
	for i := range n {
		err := b.Post(ctx, system.Envelope{Payload: []byte(strconv.Itoa(i))})
		switch {
		case err == nil:
			p.Accepted++
		case errors.Is(err, errNacked):
			p.Refused++
			p.Refusal = "basic.nack"
		default:
			return p, "", errors.Join(err, b.Close(ctx))
		}
	}
	return p, "x-max-length with x-overflow reject-publish; otherwise servers stop reading from publishers only when memory or disk run short (connection.blocked)", b.Close(ctx)
}

// Transact publishes on a channel in transaction mode.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte, commit bool) (string, error) {
	to := c.cfg.routes(t)[0]
	err := c.withChannel(ctx, 0, func(ch *amqp.Channel) error {
		if err := ch.Tx(); err != nil {
			return err
		}
		for _, payload := range payloads {
			err := ch.PublishWithContext(ctx, t.Name, to.key, false, false, amqp.Publishing{Headers: to.headers, DeliveryMode: amqp.Persistent, Body: payload})
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
		return "", &system.NotSupported{Reason: fmt.Sprintf("tx on a %s queue: the server answers %d %s", c.cfg.kind, refused.Code, refused.Reason)}
	}
	return "tx.select on a channel in place of confirms, which the protocol makes atomic for one queue only", err
}

// PublishTwice publishes to a stream twice with one publishing id.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (answer, condition string, err error) {
	if c.cfg.kind != streamed {
		return "", "", &system.NotSupported{Reason: "queues do not compare messages, and a publisher that lost its connection before the confirm must publish again; receivers recognise a copy by an id of the application's"}
	}
	answer, err = c.publishStreamTwice(ctx, queueName(t, unread, 0), payload)
	return answer, "publishers of the stream protocol with a name and publishing ids that they keep", err
}

// refusal is what a server said to a declaration that it does not take.
func (c *cluster) refusal(what string, err error) error {
	var refused *amqp.Error
	if !errors.As(err, &refused) || !refused.Server {
		return fmt.Errorf("declare %s: %w", what, err)
	}
	return &system.NotSupported{Reason: fmt.Sprintf("declaring %s: the server answers %d %s", what, refused.Code, strings.TrimSpace(refused.Reason))}
}
