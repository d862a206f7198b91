package nsq

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// heartbeat is the interval at which a server asks whether a consumer is there, and by which a
	// consumer knows that the server is.
	heartbeat = 30 * time.Second
	// silence is how long a server may send nothing.
	silence = 3 * heartbeat
	// flushEvery is how long the ends of messages wait for others while further messages are there.
	flushEvery = 10 * time.Millisecond
	// lastWithin bounds the wait for the messages that are still on their way at the end.
	lastWithin = time.Second
	// straggle is how long a server may still send after it has said that it does not.
	straggle = 20 * time.Millisecond
)

// consumer receives from a channel of each partition, over a connection for each.
type consumer struct {
	driver.Receiver
	of      *cluster
	early   bool // end a message before it is handled
	closing driver.Closing
	taking  sync.Mutex // held around Take

	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed bool
}

// OpenConsumer creates the subscription's channels, unless they exist, and receives.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if !validName.MatchString(o.Subscription) {
		return nil, fmt.Errorf("%q is no name of a channel: take letters, digits and .-_, at most "+
			"64 of them", o.Subscription)
	}
	err := c.each(ctx, o.Topic, "/channel/create",
		url.Values{"channel": {o.Subscription}})
	if err != nil {
		return nil, err
	}
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c,
		early: o.Delivery == workload.AtMostOnce, conns: make(map[*conn]struct{})}
	conns := make([]*conn, o.Topic.Partitions)
	err = system.Each(ctx, len(conns), len(conns), nil,
		func(ctx context.Context, partition int) (err error) {
			conns[partition], err = r.subscribe(ctx, partition)
			return err
		})
	if err != nil {
		r.cut()
		return nil, err
	}
	r.Begin(func() {
		var all sync.WaitGroup
		for partition, k := range conns {
			all.Go(func() { r.run(k, int32(partition)) })
		}
		all.Wait()
	})
	return r, c.clients.Keep(ctx, r)
}

// subscribe opens a connection to a partition's channel, and asks for messages.
func (r *consumer) subscribe(ctx context.Context, partition int) (*conn, error) {
	who := identity{HeartbeatMs: heartbeat.Milliseconds(),
		MessageTimeoutMs: r.of.Duration(setMsgTimeout).Milliseconds()}
	who.OutputBufferTimeoutMs = r.of.Duration(setOutput).Milliseconds()
	if who.OutputBufferTimeoutMs == 0 {
		who.OutputBufferSize, who.OutputBufferTimeoutMs = -1, -1
	}
	k, err := r.of.dial(ctx, r.of.home(partition), who)
	if err != nil {
		return nil, err
	}
	if !r.keep(k) {
		return nil, driver.ErrClosed
	}
	stop := context.AfterFunc(ctx, k.cut)
	defer stop()
	_ = k.raw.SetDeadline(time.Now().Add(askWithin))
	line := "SUB " + topicOf(r.Options.Topic.Name, partition) + " " + r.Options.Subscription
	if err = k.command(line, nil); err == nil {
		_, err = k.answer()
	}
	if err == nil {
		ready := r.of.Count(setInFlight)
		if most := k.features.MaxReady; most > 0 {
			ready = min(ready, most)
		}
		err = k.command(fmt.Sprintf("RDY %d", ready), nil)
	}
	if err != nil {
		r.drop(k)
		return nil, fmt.Errorf("subscribe to %s: %w", topicOf(r.Options.Topic.Name, partition), err)
	}
	return k, nil
}

// keep records a connection, so that Close can cut it; false: the consumer is closed.
func (r *consumer) keep(k *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		k.cut()
		return false
	}
	r.conns[k] = struct{}{}
	return true
}

func (r *consumer) drop(k *conn) {
	k.cut()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, k)
}

// cut ends all connections at once.
func (r *consumer) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for k := range r.conns {
		k.cut()
	}
}

// run receives from a partition until the consumer closes. It follows a server that comes back.
func (r *consumer) run(k *conn, partition int32) {
	for {
		r.receive(k, partition)
		r.drop(k)
		if k = r.again(partition); k == nil {
			return
		}
	}
}

// again connects again, and returns nil if the consumer closes or its channel is gone.
func (r *consumer) again(partition int32) *conn {
	for r.Life.Err() == nil {
		one, there, err := r.of.look(r.Life, r.Options.Topic, int(partition))
		gone := !there || !slices.Contains(one.Channels, channel{r.Options.Subscription})
		if err == nil && gone && r.Life.Err() == nil {
			r.Fail(errors.New("the topic or the subscription was deleted"))
			return nil
		}
		if err == nil {
			if k, err := r.subscribe(r.Life, int(partition)); err == nil {
				return k
			}
		}
		clock.Sleep(r.Life, driver.RetryPause)
	}
	return nil
}

// receive hands over a connection's messages until it ends. When the consumer closes, it tells the
// server to send no more, and returns what comes until the server has answered.
func (r *consumer) receive(k *conn, partition int32) {
	woken := make(chan struct{})
	stop := context.AfterFunc(r.Life, func() {
		_ = k.raw.SetReadDeadline(time.Now()) // it fails only on a closed connection
		close(woken)
	})
	defer stop()
	var heard, flushed time.Time
	for r.Life.Err() == nil {
		if now := time.Now(); now.Sub(heard) > heartbeat/2 {
			_ = k.raw.SetReadDeadline(now.Add(silence))
			heard = now
			continue // life may have ended just before, and this deadline has replaced its own
		}
		kind, body, err := k.next()
		if err != nil {
			if r.Life.Err() == nil {
				return
			}
			break
		}
		if !r.take(k, kind, body, partition) {
			break
		}
		// What waits here longer could be taken for lost.
		if k.in.Buffered() == 0 || time.Since(flushed) > flushEvery {
			if k.flush() != nil {
				return
			}
			flushed = time.Now()
		}
	}
	if !stop() {
		<-woken // its deadline is not that of leave
	}
	r.leave(k)
}

// take handles a frame, and returns false when the consumer stops.
func (r *consumer) take(k *conn, kind uint32, body []byte, partition int32) bool {
	if kind != frameMessage {
		if string(body) == responseHeartbeat {
			k.write("NOP", nil)
		}
		return true // an error says that a message had timed out: it comes again
	}
	m, err := readMessage(body)
	if err != nil {
		r.Fail(err)
		r.Cancel()
		return false
	}
	if r.Life.Err() != nil {
		k.requeue(m.id)
		return false
	}
	if r.early {
		k.finish(m.id)
		if k.flush() != nil {
			return false
		}
	}
	r.taking.Lock()
	handled, back := r.Take(system.Received{Payload: m.body, Partition: partition})
	r.taking.Unlock()
	switch {
	case r.early: // it has ended
	case handled && !back:
		k.finish(m.id)
	default:
		k.requeue(m.id)
	}
	return handled
}

// leave ends a connection in good order: the server returns nothing by itself before msg_timeout.
func (r *consumer) leave(k *conn) {
	_ = k.raw.SetDeadline(time.Now().Add(lastWithin))
	if k.command("CLS", nil) != nil {
		return
	}
	for {
		kind, body, err := k.next()
		if err != nil {
			break
		}
		switch {
		case kind == frameMessage:
			if m, err := readMessage(body); err == nil {
				k.requeue(m.id)
			}
		case string(body) == responseClosing:
			_ = k.raw.SetDeadline(time.Now().Add(straggle))
		}
	}
	_ = k.raw.SetDeadline(time.Now().Add(lastWithin))
	_ = k.out.Flush() // if this is lost, the messages come again after msg_timeout
}

// flush sends what was written.
func (c *conn) flush() error {
	_ = c.raw.SetWriteDeadline(time.Now().Add(silence)) // Flush reports it
	return c.out.Flush()
}

// Close stops receiving, and waits within ctx until the message that is handled has ended. What was
// not handled goes to other consumers, at once, or if ctx ends first after msg_timeout.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		if ctx.Err() != nil {
			r.cut() // before the consumer can return anything
		}
		err := r.End(ctx)
		if err != nil {
			r.cut()
		}
		return err
	})
}
