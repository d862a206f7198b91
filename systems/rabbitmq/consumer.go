package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// reader is the common part of consumers of queues and of streams: the functions that receive
// messages and failures, and a tap for each of the consumer's partitions.
type reader struct {
	of      *cluster
	group   *group
	early   bool // acknowledge before handling
	life    context.Context
	cancel  context.CancelFunc // ends the taps
	failing chan struct{}      // closed when the reader cannot go on
	closing driver.Closing
	driver.Receiver
	running sync.WaitGroup // of the taps' goroutines

	handling sync.Mutex // held while Receive runs

	mu      sync.Mutex
	failure error // the first
	taps    map[int]*tap
}

// tap is one partition of a reader.
type tap struct {
	partition int
	leave     chan struct{} // closed when the partition goes to another consumer
	ready     chan struct{} // closed when messages can arrive
	ended     chan struct{} // closed when nothing more is handled
}

func (c *cluster) newReader(o system.ConsumerOptions) *reader {
	life, cancel := context.WithCancel(context.Background())
	return &reader{
		of: c, group: c.groupOf(o), Receiver: driver.Receiver{Options: o},
		early: o.Delivery == workload.AtMostOnce, life: life, cancel: cancel,
		failing: make(chan struct{}), taps: make(map[int]*tap),
	}
}

// open adds a tap for a partition that the reader must receive; nil: the reader is closing.
func (r *reader) open(partition int) *tap {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Stopped() {
		return nil
	}
	t := &tap{partition: partition, leave: make(chan struct{}), ready: make(chan struct{}),
		ended: make(chan struct{})}
	r.taps[partition] = t
	r.running.Add(1)
	return t
}

// begin lets the reader's consumer join its group, and waits until messages can arrive; on an
// error it closes the consumer. place creates the subscription's queues.
func (r *reader) begin(ctx context.Context, all member, place func() error) error {
	err := r.group.join(all, place)
	if err == nil {
		err = r.awaitReady(ctx)
	}
	if err != nil {
		return errors.Join(err, all.Close(ctx))
	}
	return r.of.clients.Keep(ctx, all)
}

// receive receives a partition until leave, by attempts; see retry.
func (r *reader) receive(partition int, attempt func(t *tap) (bool, error)) {
	t := r.open(partition)
	if t == nil {
		return
	}
	go func() {
		defer r.running.Done()
		defer close(t.ended)
		r.retry(t, func() (bool, error) { return attempt(t) })
	}()
}

// begun notes that messages can arrive. Only the tap's goroutine calls it.
func (t *tap) begun() {
	select {
	case <-t.ready:
	default:
		close(t.ready)
	}
}

func (r *reader) place() int { return r.Options.Index }

// leave makes the reader stop receiving a partition, and waits until the partition's received
// messages are handled.
func (r *reader) leave(ctx context.Context, partition int) error {
	r.mu.Lock()
	t := r.taps[partition]
	delete(r.taps, partition)
	r.mu.Unlock()
	if t == nil {
		return nil
	}
	close(t.leave)
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("hand partition %d over to another consumer: %w", partition, ctx.Err())
	}
}

// awaitReady waits until messages can arrive on every tap.
func (r *reader) awaitReady(ctx context.Context) error {
	r.mu.Lock()
	var all []*tap
	for _, t := range r.taps {
		all = append(all, t)
	}
	r.mu.Unlock()
	for _, t := range all {
		select {
		case <-t.ready:
		case <-t.ended:
		case <-r.failing:
			return r.failure
		case <-ctx.Done():
			return fmt.Errorf("begin to receive partition %d: %w", t.partition, ctx.Err())
		}
	}
	return nil
}

// AwaitAssignment shares the partitions evenly among the subscription's consumers that this
// connection has opened.
func (r *reader) AwaitAssignment(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if err := r.group.settle(ctx); err != nil {
		return fmt.Errorf("share out the partitions: %w", err)
	}
	return r.awaitReady(ctx)
}

// take hands a message to Receive, unless the reader is closing.
func (r *reader) take(m system.Received) (handled, back bool) {
	r.handling.Lock()
	defer r.handling.Unlock()
	return r.Take(m)
}

// fail reports an error that ends the reader.
func (r *reader) fail(err error) {
	r.mu.Lock()
	if !r.Stopped() && r.failure == nil {
		r.failure = err
		close(r.failing)
	}
	r.mu.Unlock()
	r.Fail(err)
}

// stop ends the taps and waits for them within ctx.
func (r *reader) stop(ctx context.Context) error {
	r.mu.Lock() // so that no tap opens from now on
	r.Stop()
	r.mu.Unlock()
	r.cancel()
	ended := make(chan struct{})
	go func() {
		r.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	// The taps end by themselves, unless a message is still being handled.
	select {
	case <-ended:
		return nil
	case <-time.After(closeGrace):
		return fmt.Errorf("close the consumer: a message is still being handled: %w", ctx.Err())
	}
}

// retry runs attempt until the tap must end, with a longer pause after each attempt that fails at
// once. After reconnect_timeout without success the reader fails. attempt reports whether it began
// to receive.
func (r *reader) retry(t *tap, attempt func() (received bool, err error)) {
	patience := r.of.cfg.Duration(setReconnect)
	tries := newTries(patience)
	for {
		received, err := attempt()
		if received {
			tries = newTries(patience)
		}
		select {
		case <-t.leave:
			return
		case <-r.life.Done():
			return
		default:
		}
		if tries.over() {
			r.fail(fmt.Errorf("partition %d was not received for %s (%s): %w", t.partition,
				patience, setReconnect, err))
			return
		}
		if !tries.pause(r.life) {
			return
		}
	}
}

// consumer receives queues on one connection, each on its own channel.
type consumer struct {
	*reader
	linking sync.Mutex // guards the following fields, and opening a connection
	conn    *amqp.Connection
	wire    *wire // of conn
	number  int   // of the endpoint
}

// OpenConsumer creates the subscription's missing queues, and begins to receive the queues that no
// other consumer has.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if c.cfg.kind == streamed {
		return c.openStreamConsumer(ctx, o)
	}
	if c.cfg.protocol == amqp10 {
		return c.openLinkConsumer(ctx, o)
	}
	r := &consumer{reader: c.newReader(o), number: o.Index}
	return r, r.begin(ctx, r, func() error {
		return c.placeSubscription(ctx, o.Topic, o.Subscription)
	})
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

// placeSubscription creates a subscription's queues, and then deletes the queues that held
// messages before the first subscription.
func (c *cluster) placeSubscription(ctx context.Context, t system.Topic,
	subscription string) error {
	if err := c.declareQueues(ctx, t, subscription); err != nil {
		return fmt.Errorf("make the queues of subscription %s: %w", subscription, err)
	}
	return c.deleteQueues(ctx, t, unread)
}

func (r *consumer) assign(partition int) { r.receive(partition, r.consume) }

// link returns a live connection.
func (r *consumer) link() (*amqp.Connection, *wire, error) {
	r.linking.Lock()
	defer r.linking.Unlock()
	if r.conn != nil && !r.conn.IsClosed() {
		return r.conn, r.wire, nil
	}
	w := newWire(nil)
	w.heard = w.flush
	conn, err := r.of.dialer.dialOn(r.life, r.number, "plimsoll consumer of "+
		r.Options.Topic.Name, w)
	r.number++ // the endpoint of the next attempt
	if err != nil {
		return nil, nil, err
	}
	r.conn, r.wire = conn, w
	return conn, w, nil
}

// consume receives a queue until the channel ends.
func (r *consumer) consume(t *tap) (received bool, err error) {
	conn, wire, err := r.link()
	if err != nil {
		return false, err
	}
	stop := guard(r.life, conn)
	ch, err := conn.Channel()
	if err == nil && !r.early {
		err = ch.Qos(int(r.of.cfg.Count(setPrefetch)), 0, false)
	}
	var deliveries <-chan amqp.Delivery
	tag := queueName(r.Options.Topic, r.Options.Subscription, t.partition)
	if err == nil {
		deliveries, err = ch.Consume(tag, tag, r.early, false, false, false, nil)
	}
	stop()
	if err != nil {
		if ch != nil {
			_ = ch.Close() // its error adds nothing to err
		}
		return false, fmt.Errorf("receive queue %s: %w", tag, err)
	}
	t.begun()
	f := &flow{r: r, t: t, channel: ch, wire: wire, deliveries: deliveries, tag: tag,
		delay: r.of.cfg.Duration(setAckDelay), batch: int(r.of.cfg.Count(setAckBatch))}
	over := make(chan struct{})
	go f.watch(conn, over)
	f.run()
	close(over)
	_ = ch.Close() // handled messages are acknowledged as far as possible
	return true, fmt.Errorf("queue %s: the server ended the consumer", tag)
}

// slowHandling is the time from which on the handling of a message is slow: its acknowledgement is
// not kept back, because the next message may be as slow.
const slowHandling = 100 * time.Microsecond

// flow holds the deliveries of a basic.consume.
type flow struct {
	r          *consumer
	t          *tap
	channel    *amqp.Channel
	wire       *wire
	deliveries <-chan amqp.Delivery
	tag        string
	delay      time.Duration // ack_delay
	batch      int           // ack_batch
	heard      atomic.Bool   // a message came since watch looked
	last       uint64        // delivery tag of the last message handled
	pending    int           // messages handled and not acknowledged
	overdue    *time.Timer   // runs while messages are pending and ack_delay is not 0
}

// lookEvery is how often a consumer that receives nothing looks for its queue.
const lookEvery = 30 * time.Second

// watch closes the channel when the queue was deleted, until the flow is over: servers tell the
// consumers of a quorum queue nothing then. A request that is not answered ends with the
// connection.
func (f *flow) watch(conn *amqp.Connection, over <-chan struct{}) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		if !f.heard.Swap(false) && isMissing(conn, f.tag) {
			_ = f.channel.Close() // fails if it is closed already
			return
		}
	}
}

// run handles deliveries. It acknowledges when a batch is full, and ack_delay after the batch's
// first message when no message waits. Acknowledgements of messages that arrive together are sent
// together, when the library has read all that has arrived.
func (f *flow) run() {
	f.overdue = time.NewTimer(time.Hour)
	f.overdue.Stop()
	defer f.wire.flush()
	defer f.acknowledge()
	leave := f.t.leave
	for {
		var d amqp.Delivery
		var is bool
		select {
		case d, is = <-f.deliveries:
		default:
			if f.delay == 0 {
				f.acknowledge()
			}
			if f.wire.waiting.Load() { // else it flushes when it begins to wait
				f.wire.flush()
			}
			select {
			case d, is = <-f.deliveries:
			case <-f.overdue.C:
				f.acknowledge()
				continue // no message waits, so this flushes
			case <-leave:
				// Messages that have arrived are handled below, until the library closes
				// deliveries.
				leave = nil
				if f.channel.Cancel(f.tag, false) != nil {
					return
				}
				continue
			case <-f.r.life.Done():
				return
			}
		}
		if !is {
			return
		}
		began := time.Now()
		handled, back := f.take(d)
		if !handled {
			return
		}
		if f.r.early {
			continue
		}
		f.keep(time.Since(began))
		if back {
			f.acknowledge() // an acknowledgement counts for all messages before it
			_ = f.channel.Nack(d.DeliveryTag, false, true)
			continue
		}
		f.last = d.DeliveryTag
		f.handled()
	}
}

// take hands over a message. The queue is its partition, and it carries no key.
func (f *flow) take(d amqp.Delivery) (handled, back bool) {
	if !f.heard.Load() {
		f.heard.Store(true)
	}
	return f.r.take(system.Received{Payload: d.Body, Partition: int32(f.t.partition)})
}

// keep lets the wire keep the next acknowledgements back, unless the last message took long.
func (f *flow) keep(took time.Duration) {
	if took < slowHandling {
		f.wire.gather()
		return
	}
	f.wire.flush()
}

// handled counts a message, and acknowledges a full batch.
func (f *flow) handled() {
	f.pending++
	switch {
	case f.pending >= f.batch:
		f.acknowledge()
	case f.pending == 1 && f.delay > 0:
		f.overdue.Reset(f.delay)
	}
}

// acknowledge acknowledges all messages that were handled. If the acknowledgement does not reach
// the server, the server redelivers them, as it must.
func (f *flow) acknowledge() {
	if f.pending > 0 {
		_ = f.channel.Ack(f.last, true)
		f.pending = 0
		f.overdue.Stop()
	}
}

// Close stops receiving, acknowledges handled messages, and leaves the queues to other consumers.
// It takes until ctx ends, or closeGrace if that is longer. It is idempotent. If ctx ends first, a
// running Receive is left to end by itself, and no other begins.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error { return r.close(ctx) })
}

func (r *consumer) close(ctx context.Context) error {
	err := r.stop(ctx)
	r.linking.Lock()
	conn := r.conn
	r.linking.Unlock()
	if conn != nil {
		err = errors.Join(err, hangUp(ctx, conn))
	}
	r.group.quit(r)
	return err
}
