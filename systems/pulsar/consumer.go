package pulsar

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// mostEarly bounds the messages that at most once acknowledges together before they are handled.
const mostEarly = 1000

// consumer is one consumer of a subscription, with a client of its own.
type consumer struct {
	client   client.Client
	lib      client.Consumer
	of       *cluster
	group    *shares
	early    bool // acknowledge before handling
	polling  context.Context
	stop     context.CancelFunc
	finished chan struct{} // closed when run has ended
	closing  driver.Closing
	driver.Receiver
}

// shares are the partitions in which each consumer of a failover subscription is active.
type shares = driver.Shares[*consumer]

// OpenConsumer opens a consumer on its own connections. It creates a missing subscription, which
// begins at the earliest message and exists in every partition when OpenConsumer returns.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	lib, said, err := newClient(c.options)
	if err != nil {
		return nil, err
	}
	r := &consumer{
		client: lib, of: c, Receiver: driver.Receiver{Options: o},
		early:    o.Delivery == workload.AtMostOnce,
		finished: make(chan struct{}),
	}
	r.polling, r.stop = context.WithCancel(context.Background())
	r.group = c.groups.Of(o.Topic, o.Subscription,
		func() *shares { return driver.NewShares[*consumer](o) })
	r.group.Join(r)
	r.lib, err = within(ctx,
		func() (client.Consumer, error) { return lib.Subscribe(c.consumerOptions(o, r)) }, nil)
	if err != nil {
		r.stop()
		r.group.Leave(r)
		return nil, c.notOpened(ctx, "consumer", lib, said.cause(err))
	}
	go r.run()
	return r, c.clients.Keep(ctx, r)
}

// OpenReplay resets the subscription's cursor to the earliest message.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	if err := c.admin.do(ctx, http.MethodPost,
		c.subscriptionPath(o.Topic.Name, o.Subscription)+"/resetcursor/0", nil, nil); err != nil {
		return nil, "", fmt.Errorf("reset the subscription's cursor: %w", c.explainAdmin(err))
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "retention in the namespace's policies; without it messages that all subscriptions " +
		"acknowledged are deleted", err
}

func (c *cluster) subscriptionPath(topic, subscription string) string {
	return c.adminPath(topic) + "/subscription/" + url.PathEscape(subscription)
}

func (c *cluster) consumerOptions(o system.ConsumerOptions, r *consumer) client.ConsumerOptions {
	options := client.ConsumerOptions{
		Topic: c.fullName(o.Topic.Name), SubscriptionName: o.Subscription,
		// Brokers assign partitions in the order of the consumers' names.
		Name:                        fmt.Sprintf("plimsoll-%06d", o.Index),
		Type:                        subscriptionTypes[c.Text(setSubscriptionType)],
		SubscriptionInitialPosition: client.SubscriptionPositionEarliest,
		ReceiverQueueSize:           int(c.Count(setReceiverQueue)),
		AutoDiscoveryPeriod:         c.Duration(setDiscovery),
		AckGroupingOptions: &client.AckGroupingOptions{
			MaxSize: uint32(c.Count(setAckGroupSize)), MaxTime: c.Duration(setAckGroupTime)},
		Interceptors: client.ConsumerInterceptors{&ending{r}},
	}
	if c.Duration(setAckGroupTime) == 0 {
		options.AckGroupingOptions = &client.AckGroupingOptions{MaxSize: 1}
	}
	if c.Text(setSubscriptionType) == failover {
		options.EventListener = r
	}
	if r.early {
		// Acknowledgements of several messages are waited for, and may end within a batch.
		options.AckWithResponse, options.EnableBatchIndexAcknowledgment = true, true
		options.MessageChannel = make(chan client.ConsumerMessage, mostEarly)
	}
	return options
}

// ending receives the event that the library closes a consumer.
type ending struct{ of *consumer }

func (*ending) BeforeConsume(client.ConsumerMessage)                   {}
func (*ending) OnAcknowledge(client.Consumer, client.MessageID)        {}
func (*ending) OnNegativeAcksSend(client.Consumer, []client.MessageID) {}

// OnConsumerClose fails the consumer unless the driver closed it.
func (e *ending) OnConsumerClose(_ client.Consumer, err error) {
	if err != nil {
		e.of.Fail(e.of.of.explain(err))
	}
}

// run handles messages until the consumer closes.
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
				r.Fail(fmt.Errorf("acknowledge before handling: %w", r.of.explain(err)))
				return
			}
			clear(several)
		case <-r.polling.Done():
			return
		}
	}
}

// take handles a message and acknowledges it. If the acknowledgement is refused or lost, the
// message is redelivered, as it must be.
func (r *consumer) take(m client.Message) {
	if r.Handle(received(m)) {
		_ = r.lib.AckID(m.ID())
	}
}

// gather adds messages that have arrived already, up to mostEarly.
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
		if !r.Handle(received(m)) {
			return nil
		}
	}
	return nil
}

// received returns a message for Receive. The key shares its bytes with the library's string.
func received(m client.Message) system.Received {
	one := system.Received{Payload: m.Payload(), Partition: m.ID().PartitionIdx()}
	if key := m.Key(); key != "" {
		one.Key = unsafe.Slice(unsafe.StringData(key), len(key))
	}
	return one
}

// Close stops receiving, sends the acknowledgements that were gathered and
// leaves the subscription. It is idempotent. If ctx ends first, a running Receive is left to end
// by itself, and no other begins.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		r.Stop()
		defer r.group.Leave(r)
		r.stop()
		return errors.Join(driver.AwaitHandled(ctx, r.finished), closeClient(ctx, r.client))
	})
}

// BecameActive and BecameInactive record the broker's notice, on the library's goroutines.
func (r *consumer) BecameActive(_ client.Consumer, _ string, partition int32) {
	r.group.Change(r, true, partition)
}

// BecameInactive is the opposite of BecameActive.
func (r *consumer) BecameInactive(_ client.Consumer, _ string, partition int32) {
	r.group.Change(r, false, partition)
}

// AwaitAssignment waits until the partitions are assigned evenly to the consumers of the
// subscription. A broker waits a second before it makes another consumer the active one.
func (r *consumer) AwaitAssignment(ctx context.Context) error {
	if r.of.Text(setSubscriptionType) != failover {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	return r.group.AwaitEven(ctx, settlePoll)
}
