package pulsar

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// mostEarly is how many messages at most once acknowledges together before
// they are handled.
const mostEarly = 1000

// consumer is one consumer of a subscription, with a client of its own.
type consumer struct {
	client   client.Client
	lib      client.Consumer
	of       *cluster
	group    *group
	receive  func(system.Received)
	failed   func(error)
	early    bool // acknowledge before handling
	polling  context.Context
	stop     context.CancelFunc
	finished chan struct{} // closed when run has ended
	ended    chan struct{} // closed when Close has ended

	mu      sync.Mutex
	closing bool
	told    bool // Failed was called
}

var _ system.AssignmentWaiter = (*consumer)(nil)

// OpenConsumer opens a consumer on connections of its own. A subscription that
// is not there is made and begins at the earliest message; when this returns it
// is there in every partition.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	lib, said, err := newClient(c.options, c.cfg)
	if err != nil {
		return nil, err
	}
	r := &consumer{
		client: lib, of: c, receive: o.Receive, failed: o.Failed, early: o.Delivery == workload.AtMostOnce,
		finished: make(chan struct{}), ended: make(chan struct{}),
	}
	r.polling, r.stop = context.WithCancel(context.Background())
	r.group = c.join(o.Topic, o.Subscription, r)
	r.lib, err = within(ctx, func() (client.Consumer, error) { return lib.Subscribe(c.consumerOptions(o, r)) }, nil)
	if err != nil {
		r.stop()
		r.group.leave(r)
		return nil, errors.Join(fmt.Errorf("opening the consumer: %w", c.explain(said.cause(err))), closeClient(ctx, lib))
	}
	go r.run()
	if err := c.clients.Keep(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

func (c *cluster) consumerOptions(o system.ConsumerOptions, r *consumer) client.ConsumerOptions {
	options := client.ConsumerOptions{
		Topic: c.fullName(o.Topic.Name), SubscriptionName: o.Subscription,
		// Brokers share partitions out in the order of the names.
		Name:                        fmt.Sprintf("plimsoll-%06d", o.Index),
		Type:                        c.cfg.subscription,
		SubscriptionInitialPosition: client.SubscriptionPositionEarliest,
		ReceiverQueueSize:           c.cfg.receiverQueue,
		AckGroupingOptions:          &client.AckGroupingOptions{MaxSize: c.cfg.ackGroupSize, MaxTime: c.cfg.ackGroupTime},
		Interceptors:                client.ConsumerInterceptors{&ending{r}},
	}
	if c.cfg.ackGroupTime == 0 {
		options.AckGroupingOptions = &client.AckGroupingOptions{MaxSize: 1}
	}
	if c.cfg.subscription == client.Failover {
		options.EventListener = r
	}
	if r.early {
		// What is acknowledged together is waited for, and may end amid a batch.
		options.AckWithResponse, options.EnableBatchIndexAcknowledgment = true, true
		options.MessageChannel = make(chan client.ConsumerMessage, mostEarly)
	}
	return options
}

// ending is told when the library closes a consumer.
type ending struct{ of *consumer }

func (*ending) BeforeConsume(client.ConsumerMessage)                   {}
func (*ending) OnAcknowledge(client.Consumer, client.MessageID)        {}
func (*ending) OnNegativeAcksSend(client.Consumer, []client.MessageID) {}

// OnConsumerClose fails the consumer unless it was closed by us.
func (e *ending) OnConsumerClose(_ client.Consumer, err error) {
	if err != nil {
		e.of.fail(err)
	}
}

// run takes what arrives until the consumer closes.
func (r *consumer) run() {
	defer close(r.finished)
	var several []client.Message
	for {
		select {
		case m := <-r.lib.Chan():
			if !r.early {
				r.take(m.Message)
				continue
			}
			several = r.gather(append(several[:0], m.Message))
			if err := r.takeEarly(several); err != nil && r.polling.Err() == nil {
				r.fail(fmt.Errorf("acknowledging before handling: %w", err))
				return
			}
			clear(several)
		case <-r.polling.Done():
			return
		}
	}
}

// take handles a message and acknowledges it. An acknowledgement that is
// refused or lost has the message delivered again, as it must be.
func (r *consumer) take(m client.Message) {
	if !r.begin() {
		return
	}
	r.receive(received(m))
	_ = r.lib.AckID(m.ID())
}

// gather adds what has arrived already, up to mostEarly.
func (r *consumer) gather(all []client.Message) []client.Message {
	for len(all) < mostEarly {
		select {
		case m := <-r.lib.Chan():
			all = append(all, m.Message)
		default:
			return all
		}
	}
	return all
}

// takeEarly acknowledges messages, waits for the brokers' answer and handles
// them.
func (r *consumer) takeEarly(all []client.Message) error {
	ids := make([]client.MessageID, len(all))
	for i, m := range all {
		ids[i] = m.ID()
	}
	if err := r.lib.AckIDList(ids); err != nil {
		return err
	}
	for _, m := range all {
		if !r.begin() {
			return nil
		}
		r.receive(received(m))
	}
	return nil
}

// received is a message as Receive takes it. The key's bytes are the library's string.
func received(m client.Message) system.Received {
	one := system.Received{Payload: m.Payload(), Partition: m.ID().PartitionIdx()}
	if key := m.Key(); key != "" {
		one.Key = unsafe.Slice(unsafe.StringData(key), len(key))
	}
	return one
}

// begin says whether a message may still be handed to Receive.
func (r *consumer) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.closing
}

// fail tells of an error after which nothing more will come.
func (r *consumer) fail(err error) {
	r.mu.Lock()
	tell := !r.closing && !r.told
	r.told = true
	r.mu.Unlock()
	if tell && r.failed != nil {
		r.failed(fmt.Errorf("the consumer cannot go on: %w", r.of.explain(err)))
	}
}

// Close stops receiving, sends the acknowledgements that were gathered and
// leaves the subscription. It is idempotent. When ctx ends first, a Receive
// that is still running is left to end by itself; none begins.
func (r *consumer) Close(ctx context.Context) error {
	r.mu.Lock()
	first := !r.closing
	r.closing = true
	r.mu.Unlock()
	if !first {
		<-r.ended
		return nil
	}
	defer close(r.ended)
	defer r.of.clients.Forget(r)
	defer r.group.leave(r)
	r.stop()
	var err error
	select {
	case <-r.finished:
	case <-ctx.Done():
		err = fmt.Errorf("closing the consumer: a message is still being handled: %w", ctx.Err())
	}
	return errors.Join(err, closeClient(ctx, r.client))
}
