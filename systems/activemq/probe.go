package activemq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/system/driver/amqp"
)

// PublishAcked publishes with and without an answer.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	b, err := c.openBox(ctx, t)
	if err != nil {
		return "", err
	}
	defer b.hangUp(ctx)
	switch kind {
	case system.AckRefusal:
		_, err := b.conn.NewSender(ctx, "temp-queue://not-yours", nil)
		if err == nil {
			return "", errors.New("the broker did not refuse")
		}
		return err.Error(), nil
	case system.AckNone:
		b.settled = goamqp.SenderSettleModeSettled.Ptr()
	case system.AckReplicas:
		if !c.level.Majority() {
			return "", system.Lacks("sync=" + syncModes[c.level] +
				" or KahaDB: the answer waits for no " +
				"other broker")
		}
	}
	to := c.target(c.partitions(t)[0])
	if err := b.post(ctx, to.Address, system.Envelope{Payload: payload}); err != nil {
		return "", err
	}
	if kind == system.AckNone {
		return "sent settled", nil
	}
	return "accepted", nil
}

// box is a connection on which the messages of a probe are sent and received.
type box struct {
	of      *cluster
	topic   string
	address string // for envelopes without a key
	conn    *amqp.Conn
	settled *goamqp.SenderSettleMode
	keyed   bool // the key is part of the address
	queues  []string

	life    context.Context
	cancel  context.CancelFunc
	reading sync.WaitGroup
	mu      sync.Mutex
	senders map[string]*goamqp.Sender
}

func (c *cluster) openBox(ctx context.Context, t system.Topic) (*box, error) {
	conn, err := c.dialer.Dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	b := &box{of: c, topic: t.Name, conn: conn, senders: map[string]*goamqp.Sender{}}
	b.life, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

// sender returns the link to an address.
func (b *box) sender(ctx context.Context, address string) (*goamqp.Sender, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.senders[address]; s != nil {
		return s, nil
	}
	s, err := b.conn.NewSender(ctx, address, &goamqp.SenderOptions{SettlementMode: b.settled})
	if err != nil {
		return nil, fmt.Errorf("open a link to %s: %w", address, err)
	}
	b.senders[address] = s
	return s, nil
}

// probeProperty is the application property that names the probe's topic.
const probeProperty = "plimsoll"

func (b *box) post(ctx context.Context, address string, e system.Envelope) error {
	s, err := b.sender(ctx, address)
	if err != nil {
		return err
	}
	m := goamqp.NewMessage(e.Payload)
	m.Header = &goamqp.MessageHeader{Durable: true, TTL: e.TTL, Priority: uint8(e.Priority)}
	m.ApplicationProperties = map[string]any{probeProperty: b.topic}
	for name, value := range e.Headers {
		m.ApplicationProperties[name] = value
	}
	if e.Delay > 0 {
		m.Annotations = goamqp.Annotations{"x-opt-delivery-delay": e.Delay.Milliseconds()}
	}
	return s.Send(ctx, m, nil)
}

// Post sends an envelope to the box's address, or to the address of its key.
func (b *box) Post(ctx context.Context, e system.Envelope) error {
	address := b.address
	if b.keyed {
		address += "." + e.Key
	}
	return b.post(ctx, address, e)
}

// Open receives from the box's address.
func (b *box) Open(ctx context.Context, receive func(payload []byte)) error {
	return b.receive(ctx, b.address, "", func(r *goamqp.Receiver, m *goamqp.Message) error {
		receive(amqp.Payload(m))
		return r.AcceptMessage(b.life, m)
	})
}

// receive hands over the messages of an address that match a selector, one by one.
func (b *box) receive(ctx context.Context, address, selector string,
	handle func(*goamqp.Receiver, *goamqp.Message) error) error {
	o := &goamqp.ReceiverOptions{Credit: 1}
	if selector != "" {
		o.Filters = []goamqp.LinkFilter{goamqp.NewSelectorFilter(selector)}
	}
	r, err := b.conn.NewReceiver(ctx, address, o)
	if err != nil {
		return fmt.Errorf("open a link from %s: %w", address, err)
	}
	b.reading.Go(func() {
		for {
			m, err := r.Receive(b.life, nil)
			if err != nil || handle(r, m) != nil {
				return
			}
		}
	})
	return nil
}

// hangUp ends the connection and the goroutines that read from it.
func (b *box) hangUp(ctx context.Context) {
	b.cancel()
	b.conn.Close(ctx)
	b.reading.Wait()
}

// Close ends the receivers and removes the queues.
func (b *box) Close(ctx context.Context) error {
	b.hangUp(ctx)
	if len(b.queues) == 0 {
		return nil
	}
	master, err := b.of.jolokia.master(ctx)
	if err != nil {
		return err
	}
	return untilGone(ctx, func() error { return master.do(ctx, "removeQueue", b.queues) })
}

// openQueue returns a box with a queue.
func (c *cluster) openQueue(ctx context.Context, t system.Topic) (*box, error) {
	b, err := c.openBox(ctx, t)
	if err != nil {
		return nil, err
	}
	b.address, b.queues = "queue://"+t.Name, []string{t.Name}
	_, err = b.sender(ctx, b.address) // this creates the queue
	if err != nil {
		return nil, errors.Join(err, b.Close(ctx))
	}
	return b, nil
}

// OpenRoutes uses a topic for each key, ActiveMQ's wildcards for patterns, and selectors for
// headers.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	b, err := c.openBox(ctx, r.Topic)
	if err != nil {
		return nil, "", err
	}
	b.address = "topic://" + r.Topic.Name
	b.keyed = r.Kind == system.RouteDirect || r.Kind == system.RoutePattern
	for _, one := range r.Bindings {
		address, selector := b.address, selectorOf(one.Headers)
		if b.keyed {
			address += "." + one.Key
		}
		err := b.receive(ctx, address, selector,
			func(r *goamqp.Receiver, m *goamqp.Message) error {
				one.Receive(amqp.Payload(m))
				return r.AcceptMessage(b.life, m)
			})
		if err != nil {
			return nil, "", errors.Join(err, b.Close(ctx))
		}
	}
	condition := map[system.RouteKind]string{
		system.RouteDirect:  "a topic for each key",
		system.RoutePattern: "a topic for each key, and wildcards in the address",
		system.RouteHeaders: "a selector of each consumer",
	}
	return b, condition[r.Kind], nil
}

// selectorOf returns the selector that requires all the headers.
func selectorOf(headers map[string]string) string {
	var all []string
	for name, value := range headers {
		all = append(all, name+" = '"+strings.ReplaceAll(value, "'", "''")+"'")
	}
	return strings.Join(all, " AND ")
}

// OpenMailbox makes a queue.
func (c *cluster) OpenMailbox(ctx context.Context, t system.Topic, f system.Feature) (
	system.Mailbox, string, error,
) {
	condition := ""
	switch f {
	case system.FeaturePriority:
		return nil, "", &system.NotSupported{
			Reason:    "a queue is read in its order",
			Condition: "prioritizedMessages=true in the brokers' policyEntry of the queue",
		}
	case system.FeatureDelay:
		condition = "schedulerSupport=true"
		if c.Text(setStore) == storeLevelDB {
			condition += "; the scheduler keeps messages in a store of the master's own, " +
				"which is not replicated"
		}
	}
	b, err := c.openQueue(ctx, t)
	if err != nil {
		return nil, "", err
	}
	return b, condition, nil
}

// OpenRejecting makes a queue whose rejected messages go to the brokers' queue of dead
// letters.
func (c *cluster) OpenRejecting(
	ctx context.Context, t system.Topic, rejected, dead func(payload []byte),
) (system.Publisher, string, error) {
	b, err := c.openQueue(ctx, t)
	if err != nil {
		return nil, "", err
	}
	// All applications share that queue, so only this probe's messages are taken from it.
	own := selectorOf(map[string]string{probeProperty: t.Name})
	err = b.receive(ctx, "queue://ActiveMQ.DLQ", own,
		func(r *goamqp.Receiver, m *goamqp.Message) error {
			dead(amqp.Payload(m))
			return r.AcceptMessage(b.life, m)
		})
	if err == nil {
		err = b.receive(ctx, b.address, "", func(r *goamqp.Receiver, m *goamqp.Message) error {
			rejected(amqp.Payload(m))
			return r.RejectMessage(b.life, m, nil)
		})
	}
	if err != nil {
		return nil, "", errors.Join(err, b.Close(ctx))
	}
	return b, "", nil
}

// PublishBeyond tries nothing and says how a queue can be bounded.
func (c *cluster) PublishBeyond(context.Context, system.Topic, int) (
	p system.BackPressure, condition string, err error,
) {
	return p, "", &system.NotSupported{
		Reason: "the brokers stop reading from producers when memory or disk is used up " +
			"(systemUsage), which holds all queues, and was therefore not tried",
		Condition: "memoryLimit in the brokers' policyEntry of the queue",
	}
}

// lacks holds the reasons for missing capabilities and their substitutes.
var lacks = driver.Lacks{
	Sharing: driver.SharedAsTheyAre,
	Replay: "a queue forgets what was accepted; a mirror of the queue (mirroredQueue) or a " +
		"subscription of its own keeps the messages from then on",
	Transactions: "the brokers have transactions over AMQP 1.0, and go-amqp has none",
	Deduplication: "the brokers recognise copies by the sequence number of an OpenWire producer, " +
		"which AMQP 1.0 does not carry",
}
