package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
	link    *link
	number  int // of the endpoint
}

// link is a connection of a consumer. The goroutine that reads it handles the messages.
type link struct {
	*wire
	waiting []*flow // that have messages to acknowledge; only the goroutine that reads uses it
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

// linked returns a live connection.
func (r *consumer) linked() (*link, error) {
	r.linking.Lock()
	defer r.linking.Unlock()
	if r.link != nil && !r.link.conn.IsClosed() {
		return r.link, nil
	}
	l := &link{}
	l.wire = newWire(l.acknowledge)
	err := r.of.dialer.connect(r.life, r.number, "plimsoll consumer of "+r.Options.Topic.Name,
		l.wire)
	r.number++ // the endpoint of the next attempt
	if err != nil {
		return nil, err
	}
	r.link = l
	return l, nil
}

// acknowledge sends the acknowledgements of messages that arrived together.
func (l *link) acknowledge() {
	for _, f := range l.waiting {
		f.rest()
	}
	l.waiting = l.waiting[:0]
	_ = l.send() // Read reports it
}

// consume receives a queue until the channel ends.
func (r *consumer) consume(t *tap) (received bool, err error) {
	l, err := r.linked()
	if err != nil {
		return false, err
	}
	f := &flow{r: r, t: t, link: l,
		tag:   queueName(r.Options.Topic, r.Options.Subscription, t.partition),
		delay: r.of.cfg.Duration(setAckDelay), batch: int(r.of.cfg.Count(setAckBatch))}
	if err := f.begin(); err != nil {
		return false, fmt.Errorf("receive queue %s: %w", f.tag, err)
	}
	t.begun()
	f.await()
	f.end()
	return true, fmt.Errorf("queue %s: the server ended the consumer", f.tag)
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
	l := r.link
	r.linking.Unlock()
	switch {
	case l == nil:
	case err != nil:
		_ = l.Close() // no farewell: the goroutine that would read the answer handles a message
	default:
		err = hangUp(ctx, l.conn)
	}
	r.group.quit(r)
	return err
}
