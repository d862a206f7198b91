package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// flushTimeout bounds the wait for the last acknowledgements to be written
// when the caller's context has ended.
const flushTimeout = time.Second

var (
	ack = []byte("+ACK")
	nak = []byte("-NAK")
)

// consumer receives from one durable consumer. The client library calls take for
// one message at a time.
type consumer struct {
	link        *link
	conn        *nats.Conn // the link's
	sub         *nats.Subscription
	clients     *driver.Clients
	acknowledge bool // after Receive; false: the server requires no acknowledgement
	closing     driver.Closing
	driver.Receiver

	mu    sync.Mutex
	busy  bool // a message is being handled
	asked asked
	over  sync.Cond // signalled when the consumer has stopped and no message can arrive
}

// openConsumer creates the durable consumer, unless it exists, and starts to receive from it.
func openConsumer(ctx context.Context, k *link, clients *driver.Clients, s system.Settings,
	o system.ConsumerOptions) (*consumer, error) {
	js, err := jetstream.New(k.conn)
	if err != nil {
		return nil, err
	}
	want := consumerConfig(s)
	at := homeOf(s, o.Topic.Name)
	want.Durable, want.FilterSubject = at.durable(o.Subscription), at.filter()
	want.AckPolicy = jetstream.AckExplicitPolicy
	if o.Delivery == workload.AtMostOnce {
		want.AckPolicy = jetstream.AckNonePolicy
		want.AckWait, want.MaxAckPending = 0, 0
	}
	err = persist(ctx, func(ctx context.Context) error {
		_, err := js.CreateConsumer(ctx, at.stream, want)
		return err
	})
	if errors.Is(err, jetstream.ErrConsumerExists) {
		return nil, errors.New(
			"the subscription exists with another delivery guarantee or other settings: choose " +
				"another name")
	}
	if err != nil {
		return nil, fmt.Errorf("create the durable consumer: %w", err)
	}
	r := &consumer{
		link: k, conn: k.conn, clients: clients, Receiver: driver.Receiver{Options: o},
		acknowledge: want.AckPolicy == jetstream.AckExplicitPolicy,
		asked:       newAsked(k.conn, at.stream, want.Durable, s),
	}
	r.over.L = &r.mu
	if err := r.start(); err != nil {
		return nil, fmt.Errorf("consume: %w", err)
	}
	return r, nil
}

func (r *consumer) start() error {
	// Held until all fields that take uses are set.
	r.mu.Lock()
	defer r.mu.Unlock()
	sub, err := r.conn.Subscribe(r.asked.inbox, r.take)
	if err != nil {
		return err
	}
	// The pull requests bound the pending messages. The library's own bound would drop messages.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	r.sub = sub
	if err := r.asked.more(); err != nil {
		return err
	}
	r.link.join(r)
	return nil
}

// take handles what the server sends: a message, the status of a request for messages, or an answer
// about the durable consumer. Only messages come with another subject than the inbox.
func (r *consumer) take(m *nats.Msg) {
	if code := statusOf(m); code != "" {
		r.status(code, m)
		return
	}
	if m.Subject == r.asked.inbox {
		r.looked(m)
		return
	}
	r.begin()
	reply := ack
	handled, back := r.Take(system.Received{Payload: m.Data, Partition: partitionOf(m.Subject)})
	if !handled || back {
		// Returned at once, so that another consumer need not wait for ack_wait.
		reply = nak
	}
	if r.acknowledge {
		// This fails only when the connection is closed for good, which Fail reports. The message
		// is then redelivered after ack_wait, as it must be.
		_ = r.conn.Publish(m.Reply, reply)
	}
	r.end()
}

func (r *consumer) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = true
}

// end counts a message and requests more in time.
func (r *consumer) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	r.asked.came(1)
	r.continueOrEnd(r.asked.room())
}

// continueOrEnd requests more, or signals Close that no message can arrive. The caller holds r.mu.
func (r *consumer) continueOrEnd(more bool) {
	switch {
	case r.Stopped():
		if r.asked.left == 0 {
			r.over.Broadcast()
		}
	case more:
		// If this fails, the connection is closed or reconnecting; then reconnected or tick
		// repeats the request.
		_ = r.asked.more()
	}
}

// status handles the server's status of a request.
func (r *consumer) status(code string, m *nats.Msg) {
	r.mu.Lock()
	final := r.asked.status(code, m)
	r.continueOrEnd(r.asked.left == 0 && (code == statusTimeout || code == statusNoMessages))
	r.mu.Unlock()
	if final != nil {
		r.Fail(final)
	}
}

// looked handles an answer about the durable consumer.
func (r *consumer) looked(m *nats.Msg) {
	r.mu.Lock()
	deleted := r.asked.looked(m.Data)
	r.mu.Unlock()
	if deleted {
		r.Fail(errDeleted)
	}
}

func (r *consumer) disconnected() {}
func (r *consumer) closed()       { r.Fail(nats.ErrConnectionClosed) }

// reconnected requests messages again, because all requests have ended.
func (r *consumer) reconnected() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked.forget()
	r.continueOrEnd(true)
}

// tick keeps a request open at all times: it sends another one when the server has been silent,
// and before the newest request expires. When no server answers for the durable consumer, it asks
// whether that still exists.
func (r *consumer) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, _, err := r.sub.Pending()
	if r.busy || err != nil || waiting > 0 {
		r.asked.heard() // the server's status waits behind the message in hand
		return
	}
	if r.asked.silent() {
		r.asked.forget()
	}
	r.continueOrEnd(r.asked.left == 0 || r.asked.due())
	_ = r.asked.lookUp() // if this fails, the next tick asks again
}

// Close stops receiving at once and returns messages that still arrive. It waits until the open
// requests are filled or expire, at most pull_expires, because messages that the server sends
// after an earlier end would be lost until ack_wait. It is idempotent. If ctx ends first, a
// running Receive is left to end by itself, and no other begins.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(r.clients, r, func() error { return r.close(ctx) })
}

func (r *consumer) close(ctx context.Context) error {
	r.Stop()
	err := r.awaitOver(ctx)
	defer r.link.leave(r)
	_ = r.sub.Unsubscribe() // fails if the connection is closed
	if err != nil {
		return fmt.Errorf("close the consumer: give back what was fetched: %w", err)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	if !r.conn.IsConnected() {
		return nil // the connection is closed: nothing can be returned
	}
	if err := r.conn.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("close the consumer: send the last acknowledgements: %w", err)
	}
	return nil
}

// awaitOver waits until no message can arrive and none is being handled, or until ctx ends.
func (r *consumer) awaitOver(ctx context.Context) error {
	wake := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.over.Broadcast()
	})
	defer wake()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.asked.left > 0 || r.busy {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !r.conn.IsConnected() && !r.busy {
			return nil
		}
		r.over.Wait()
	}
	return nil
}
