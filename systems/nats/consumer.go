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
	"github.com/plimsoll-bench/plimsoll/workload"
)

// flushTimeout bounds the wait for the last acknowledgements to be written
// when the caller gave no time for it.
const flushTimeout = time.Second

var (
	ack = []byte("+ACK")
	nak = []byte("-NAK")
)

// consumer receives from one durable consumer on a connection of its own. The
// client library calls take for one message at a time.
type consumer struct {
	conn        *nats.Conn
	sub         *nats.Subscription
	receive     func([]byte)
	failed      func(error)
	acknowledge bool // after Receive; otherwise the server does not ask for it
	stop        chan struct{}
	kept        chan struct{} // closed when keep has ended

	mu      sync.Mutex
	closing bool
	told    bool // Failed was called
	busy    bool // a message is being handled
	asked   asked
	over    sync.Cond // closing, and no message may come any more
}

// openConsumer puts the durable consumer in place, unless another consumer of
// the subscription did, and starts receiving from it.
func openConsumer(ctx context.Context, conn *nats.Conn, c config, o system.ConsumerOptions) (*consumer, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	want := c.consumer
	want.Durable = safeName(o.Subscription)
	want.AckPolicy = jetstream.AckExplicitPolicy
	if o.Delivery == workload.AtMostOnce {
		want.AckPolicy = jetstream.AckNonePolicy
		want.AckWait, want.MaxAckPending = 0, 0
	}
	stream := safeName(o.Topic.Name)
	_, err = js.CreateConsumer(ctx, stream, want)
	if errors.Is(err, jetstream.ErrConsumerExists) {
		return nil, errors.New("the subscription exists with another delivery guarantee or other settings: choose another name")
	}
	if err != nil {
		return nil, fmt.Errorf("creating the durable consumer: %w", err)
	}
	r := &consumer{
		conn: conn, receive: o.Receive, failed: o.Failed,
		acknowledge: want.AckPolicy == jetstream.AckExplicitPolicy,
		stop:        make(chan struct{}), kept: make(chan struct{}),
		asked: newAsked(conn, stream, want.Durable, c.pull),
	}
	r.over.L = &r.mu
	if err := r.start(); err != nil {
		return nil, fmt.Errorf("consuming: %w", err)
	}
	return r, nil
}

func (r *consumer) start() error {
	// Held until the subscription is known to all that take looks at.
	r.mu.Lock()
	defer r.mu.Unlock()
	sub, err := r.conn.Subscribe(r.asked.inbox, r.take)
	if err != nil {
		return err
	}
	// What was asked for bounds what can be pending; the library's own bound
	// drops messages.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	r.sub = sub
	if err := r.asked.more(); err != nil {
		return err
	}
	r.conn.SetReconnectHandler(func(*nats.Conn) { r.again() })
	r.conn.SetClosedHandler(func(*nats.Conn) { r.fail(nats.ErrConnectionClosed) })
	go r.keep()
	return nil
}

// take handles what the server sends: a message, or a word about a request.
func (r *consumer) take(m *nats.Msg) {
	if code := statusOf(m); code != "" {
		r.status(code, m)
		return
	}
	if !r.begin() {
		// Given back at once, so that another consumer need not wait for
		// ack_wait. When it cannot be sent, ack_wait does it.
		if r.acknowledge {
			_ = r.conn.Publish(m.Reply, nak)
		}
		r.end()
		return
	}
	r.receive(m.Data)
	if r.acknowledge {
		// It fails only when the connection is gone for good, which fail hears
		// of; the message is then delivered again, as it must be.
		_ = r.conn.Publish(m.Reply, ack)
	}
	r.end()
}

// begin says whether a message may still be handed to Receive.
func (r *consumer) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = true
	return !r.closing
}

// end counts a message and asks for more in time.
func (r *consumer) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	r.asked.came(1)
	r.continueOrEnd(r.asked.room())
}

// continueOrEnd asks for more, or tells Close that all has come. r.mu is held.
func (r *consumer) continueOrEnd(more bool) {
	switch {
	case r.closing:
		if r.asked.left == 0 {
			r.over.Broadcast()
		}
	case more:
		// When it fails the connection is gone or reconnecting; again or keep
		// asks once it is back.
		_ = r.asked.more()
	}
}

// status takes the server's word about a request.
func (r *consumer) status(code string, m *nats.Msg) {
	r.mu.Lock()
	final := r.asked.status(code, m)
	r.continueOrEnd(r.asked.left == 0 && (code == statusTimeout || code == statusNoMessages))
	r.mu.Unlock()
	if final != nil {
		r.fail(final)
	}
}

// again asks anew after a reconnection, which has ended all requests.
func (r *consumer) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked.forget()
	r.continueOrEnd(true)
}

// keep sees to it that a request always stands, until the consumer closes.
func (r *consumer) keep() {
	defer close(r.kept)
	ticker := time.NewTicker(r.asked.pull.heartbeat / 2)
	defer ticker.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
			r.look()
		}
	}
}

// look asks again when the server has been silent, and before the youngest
// request expires.
func (r *consumer) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, _, err := r.sub.Pending()
	if r.busy || err != nil || waiting > 0 {
		r.asked.heard() // whatever the server said waits behind a message
		return
	}
	if r.asked.silent() {
		r.asked.forget()
	}
	r.continueOrEnd(r.asked.left == 0 || r.asked.due())
}

// fail tells of an error after which nothing more will come.
func (r *consumer) fail(err error) {
	r.mu.Lock()
	tell := !r.closing && !r.told
	r.told = true
	r.mu.Unlock()
	if tell && r.failed != nil {
		r.failed(fmt.Errorf("the consumer cannot go on: %w", err))
	}
}

// Close stops receiving at once and gives back what still comes. It waits for
// the requests that stand to be filled or to expire, which takes pull_expires
// at most, because what the server sends after an earlier end would be lost
// until ack_wait. It is idempotent. When ctx ends first, a Receive that is still
// running is left to end by itself; none begins.
func (r *consumer) Close(ctx context.Context) error {
	r.mu.Lock()
	first := !r.closing
	r.closing = true
	r.mu.Unlock()
	if !first {
		<-r.kept
		return nil
	}
	err := r.awaitOver(ctx)
	close(r.stop)
	<-r.kept
	defer r.conn.Close()
	if err != nil {
		return fmt.Errorf("closing the consumer: giving back what was fetched: %w", err)
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flushTimeout)
		defer cancel()
	}
	if !r.conn.IsConnected() {
		return nil // there is nobody to give anything back to
	}
	if err := r.conn.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("closing the consumer: sending the last acknowledgements: %w", err)
	}
	return nil
}

// awaitOver waits until no message may come any more and none is being
// handled, or ctx ends.
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
