package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// boxReader is the name of a box's subscription.
const boxReader = "reader"

// box holds the client of one probe, and the topics and consumers that the probe opened.
type box struct {
	of       *cluster
	lib      client.Client
	producer client.Producer
	topics   []system.Topic
	life     context.Context
	stop     context.CancelFunc // stops receiving
	reading  sync.WaitGroup
	before   func(ctx context.Context) error // called before Open; may be nil
}

// newBox returns a box without a topic.
func (c *cluster) newBox() (*box, error) {
	lib, _, err := newClient(c.options, c.cfg)
	if err != nil {
		return nil, err
	}
	b := &box{of: c, lib: lib}
	b.life, b.stop = context.WithCancel(context.Background())
	return b, nil
}

// postBox returns a box that publishes to an existing topic.
func (c *cluster) postBox(t system.Topic) (*box, error) {
	b, err := c.newBox()
	if err != nil {
		return nil, err
	}
	if err := b.produce(client.ProducerOptions{Topic: c.fullName(t.Name)}); err != nil {
		return nil, errors.Join(err, b.Close(context.Background()))
	}
	return b, nil
}

// openBox returns a box with its own topic.
func (c *cluster) openBox(ctx context.Context, t system.Topic) (*box, error) {
	if err := c.CreateTopic(ctx, t); err != nil {
		return nil, err
	}
	b, err := c.postBox(t)
	if err != nil {
		return nil, errors.Join(err, c.DeleteTopic(ctx, t))
	}
	b.topics = append(b.topics, t)
	return b, nil
}

// produce opens a producer without a send timeout, because the library's timeout goroutine
// outlives the producer. The caller's context bounds the sending.
func (b *box) produce(o client.ProducerOptions) error {
	o.DisableBatching, o.SendTimeout = true, -1
	p, err := b.lib.CreateProducer(o)
	if err != nil {
		return fmt.Errorf("open a producer: %w", b.of.explain(oneLine{err}))
	}
	b.producer = p
	return nil
}

func (b *box) send(ctx context.Context, m *client.ProducerMessage) (client.MessageID, error) {
	return b.producer.Send(ctx, m)
}

// Post publishes and waits for the receipt.
func (b *box) Post(ctx context.Context, l system.Envelope) error {
	_, err := b.send(ctx, &client.ProducerMessage{Payload: l.Payload, Key: l.Key,
		Properties: l.Headers, DeliverAfter: l.Delay})
	return err
}

// Open receives through a shared subscription.
func (b *box) Open(ctx context.Context, receive func(payload []byte)) error {
	if b.before != nil {
		if err := b.before(ctx); err != nil {
			return err
		}
	}
	return b.consume(client.ConsumerOptions{
		Topic: b.of.fullName(b.topics[0].Name), SubscriptionName: boxReader,
	}, func(k client.Consumer, m client.Message) {
		receive(m.Payload())
		_ = k.Ack(m) // if this is lost, the message is redelivered
	})
}

// consume receives through a shared subscription from the earliest message on, until the box
// closes.
func (b *box) consume(o client.ConsumerOptions,
	handle func(client.Consumer, client.Message)) error {
	o.Type, o.SubscriptionInitialPosition = client.Shared, client.SubscriptionPositionEarliest
	// Few at a time, so that every consumer of a shared subscription gets some.
	o.ReceiverQueueSize = 5
	k, err := b.lib.Subscribe(o)
	if err != nil {
		return fmt.Errorf("subscribe: %w", b.of.explain(oneLine{err}))
	}
	b.reading.Go(func() {
		for {
			m, err := k.Receive(b.life)
			if err != nil {
				return
			}
			handle(k, m)
		}
	})
	return nil
}

// Close ends the client and deletes the topics that the box created.
func (b *box) Close(ctx context.Context) error {
	b.stop()
	b.reading.Wait()
	errs := []error{closeClient(ctx, b.lib)}
	for _, t := range b.topics {
		errs = append(errs, b.of.DeleteTopic(ctx, t))
	}
	return errors.Join(errs...)
}

// timeToLive is how long messages of a mailbox with FeatureTTL live.
const timeToLive = 2 * time.Second

// OpenMailbox creates a topic. Each message carries its own delay. A time to live belongs to the
// topic, and brokers check it only every five minutes, so the probe requests the check.
func (c *cluster) OpenMailbox(
	ctx context.Context, t system.Topic, f system.Feature,
) (m system.Mailbox, condition string, err error) {
	if f == system.FeaturePriority {
		return nil, "", &system.NotSupported{Reason: "a topic is a log read in its order, and " +
			"priority levels are for consumers, not for messages; urgent messages take a topic " +
			"of their own"}
	}
	b, err := c.openBox(ctx, t)
	if err != nil {
		return nil, "", err
	}
	if f == system.FeatureDelay {
		return b, "a subscription of type shared; others get delayed messages at once", nil
	}
	err = c.admin.do(ctx, http.MethodPut, c.subscriptionPath(t.Name, boxReader), nil, nil)
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("make a subscription: %w", c.explainAdmin(err)),
			b.Close(ctx))
	}
	b.before = b.expire
	return b, fmt.Sprintf("a time to live for all messages of a namespace or topic; brokers look "+
		"every 5m (messageExpiryCheckIntervalInMinutes), and the probe made them expire those "+
		"older than %s", timeToLive), nil
}

// expire makes the broker expire older messages, and waits until it has.
func (b *box) expire(ctx context.Context) error {
	topic := b.topics[0].Name
	if err := b.of.admin.do(ctx, http.MethodPost, fmt.Sprintf("%s/expireMessages/%d",
		b.of.subscriptionPath(topic, boxReader), int(timeToLive.Seconds())), nil, nil); err != nil {
		return fmt.Errorf("expire messages: %w", b.of.explainAdmin(err))
	}
	for range 40 {
		var stats struct {
			Subscriptions map[string]struct{ MsgBacklog int }
		}
		if err := b.of.admin.get(ctx, b.of.adminPath(topic)+"/partitioned-stats",
			&stats); err != nil {
			return fmt.Errorf("read the backlog: %w", b.of.explainAdmin(err))
		}
		if stats.Subscriptions[boxReader].MsgBacklog <= 1 {
			return nil
		}
		select {
		case <-time.After(5 * settlePoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil // the message is still there, and the probe will see it
}

// OpenRejecting makes the client library put rejected messages aside.
func (c *cluster) OpenRejecting(ctx context.Context, t system.Topic, rejected,
	dead func(payload []byte)) (system.Publisher, string, error) {
	b, err := c.openBox(ctx, t)
	if err != nil {
		return nil, "", err
	}
	aside := system.Topic{Name: t.Name + ".dead", Partitions: 1}
	if err = c.CreateTopic(ctx, aside); err == nil {
		b.topics = append(b.topics, aside)
		err = b.consume(client.ConsumerOptions{Topic: c.fullName(aside.Name),
			SubscriptionName: boxReader}, func(k client.Consumer, m client.Message) {
			dead(m.Payload())
			_ = k.Ack(m)
		})
	}
	if err == nil {
		err = b.consume(client.ConsumerOptions{
			Topic: c.fullName(
				t.Name), SubscriptionName: boxReader, NackRedeliveryDelay: time.Second,
			DLQ: &client.DLQPolicy{MaxDeliveries: 2, DeadLetterTopic: c.fullName(aside.Name),
				ProducerOptions: client.ProducerOptions{SendTimeout: -1}},
		}, func(k client.Consumer, m client.Message) {
			rejected(m.Payload())
			k.Nack(m)
		})
	}
	if err != nil {
		return nil, "", errors.Join(err, b.Close(ctx))
	}
	return b, "the client library's dead letter policy, with a subscription of type shared: it " +
		"publishes messages that were delivered too often to another topic", nil
}

// routes uses topics in place of keys.
type routes struct {
	*box
	driver.KeyTopics
	producers map[string]client.Producer
}

// OpenRoutes makes a topic for each key, which consumers choose by name, or by
// a regular expression.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (system.Publisher, string,
	error) {
	if r.Kind == system.RouteHeaders {
		return nil, "", &system.NotSupported{
			Reason: "a subscription gets its whole topic; to select by properties, use topics of " +
				"their own, or an entry filter, which is a plugin of the brokers"}
	}
	b, err := c.newBox()
	if err != nil {
		return nil, "", err
	}
	x := &routes{box: b, KeyTopics: driver.KeyTopics{Cluster: c, Routing: r},
		producers: map[string]client.Producer{}}
	for i, binding := range r.Bindings {
		if err := x.bind(ctx, i, binding); err != nil {
			return nil, "", errors.Join(err, x.Close(ctx))
		}
	}
	return x, x.Condition(), nil
}

func (x *routes) bind(ctx context.Context, i int, binding system.Binding) error {
	o := client.ConsumerOptions{SubscriptionName: fmt.Sprintf("binding-%d", i)}
	if x.Routing.Kind == system.RoutePattern {
		prefix := x.Routing.Topic.Name
		namespace, _, _ := strings.Cut(x.of.fullName(prefix), prefix)
		o.TopicsPattern = namespace + x.Pattern(binding.Key)
		o.AutoDiscoveryPeriod = time.Second
	} else {
		name, err := x.Ensure(ctx, binding.Key)
		if err != nil {
			return err
		}
		o.Topic = x.of.fullName(name)
	}
	return x.consume(o, func(k client.Consumer, m client.Message) {
		binding.Receive(m.Payload())
		_ = k.Ack(m)
	})
}

// Post publishes to the key's topic.
func (x *routes) Post(ctx context.Context, l system.Envelope) error {
	name, err := x.Ensure(ctx, l.Key)
	if err != nil {
		return err
	}
	if x.producers[name] == nil {
		if err := x.produce(client.ProducerOptions{Topic: x.of.fullName(name)}); err != nil {
			return err
		}
		x.producers[name] = x.producer
	}
	x.producer = x.producers[name]
	return x.box.Post(ctx, l)
}

// Close ends the client and deletes the topics.
func (x *routes) Close(ctx context.Context) error {
	return errors.Join(x.box.Close(ctx), x.Delete(ctx))
}
