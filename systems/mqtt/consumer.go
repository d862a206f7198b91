package mqtt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// flushEvery is how long acknowledgements wait for others while further messages are there.
const flushEvery = 10 * time.Millisecond

// consumer receives from the shared subscriptions of a topic, over one connection.
type consumer struct {
	driver.Receiver
	of      *cluster
	filters []packets.SubOptions
	early   bool // acknowledge a message before it is handled
	closing driver.Closing

	mu     sync.Mutex
	conn   *conn
	closed bool
}

// OpenConsumer creates the subscription, unless it exists, and receives.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if err := checkName(o.Subscription); err != nil {
		return nil, err
	}
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c,
		early: o.Delivery == workload.AtMostOnce}
	for partition := range o.Topic.Partitions {
		r.filters = append(r.filters, packets.SubOptions{QoS: byte(c.Count(setSubscribeQoS)),
			Topic: "$share/" + o.Subscription + "/" + topicOf(o.Topic.Name, partition)})
	}
	made := c.groups.Of(o.Topic, o.Subscription, func() *driver.Made { return &driver.Made{} })
	if err := made.Once(func() error { return c.reserve(ctx, r) }); err != nil {
		return nil, err
	}
	r.filters = append(r.filters, packets.SubOptions{Topic: deletedOf(o.Topic.Name), QoS: 1})
	k, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	r.Begin(func() { r.run(k) })
	return r, c.clients.Keep(ctx, r)
}

// reserve makes the topic's session have a subscription, so that it exists without consumers.
// Another process that does the same takes the session over; then it is repeated.
func (c *cluster) reserve(ctx context.Context, r *consumer) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return driver.Until(ctx, driver.RetryPause, func() (bool, error) {
		k, err := c.dial(ctx, c.keeper(r.Options.Topic.Name))
		if err != nil {
			return false, err
		}
		defer func() { k.part(k.told.SessionPresent) }()
		if !k.told.SessionPresent {
			return false, fmt.Errorf("there is no topic %s: create it first", r.Options.Topic.Name)
		}
		err = k.subscribe(ctx, r.filters)
		var refused *refusal
		over := errors.As(err, &refused) && refused.code == reasonTakenOver
		if err != nil {
			err = c.explain(err)
		}
		return over || err != nil && driver.Broken(err), err
	})
}

// connect opens a connection with the consumer's subscriptions.
func (r *consumer) connect(ctx context.Context) (*conn, error) {
	s := r.of.guest()
	s.receiveMax = uint16(r.of.Count(setReceiveMax))
	k, err := r.of.dial(ctx, s)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.conn = k
	closed := r.closed
	r.mu.Unlock()
	if closed {
		k.cut()
		return nil, driver.ErrClosed
	}
	if err := k.subscribeTwice(ctx, r.filters); err != nil {
		k.cut()
		return nil, r.of.explain(err)
	}
	return k, nil
}

// cut ends the connection at once, and for good.
func (r *consumer) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.conn.cut()
}

// run receives until the consumer closes. It follows a server that comes back.
func (r *consumer) run(k *conn) {
	for {
		r.receive(k)
		k.cut()
		for k = nil; k == nil; {
			if !clock.Sleep(r.Life, driver.RetryPause) {
				return
			}
			k, _ = r.connect(r.Life) // the next attempt may succeed
		}
	}
}

// receive hands over a connection's messages until it ends. When the consumer closes, it leaves
// what it has not handled to the server.
func (r *consumer) receive(k *conn) {
	woken := make(chan struct{})
	stop := context.AfterFunc(r.Life, func() { k.interrupt(); close(woken) })
	defer stop()
	var flushed time.Time
	for r.Life.Err() == nil {
		p, err := k.nextKept()
		if err != nil {
			if r.Life.Err() == nil {
				return
			}
			break
		}
		if !r.take(k, p) {
			break
		}
		if k.in.Buffered() == 0 || time.Since(flushed) > flushEvery {
			if k.flush() != nil {
				return
			}
			flushed = time.Now()
		}
	}
	if !stop() {
		<-woken // its deadline is not that of part
	}
	k.part(false) // when the server has read the acknowledgements
}

// take handles a packet, and returns false when the consumer stops.
func (r *consumer) take(k *conn, p packet) bool {
	if p.kind != packets.PUBLISH { // an answer to a ping, or a goodbye: then the connection ends
		return true
	}
	m, err := readMessage(p)
	if err != nil {
		return r.fail(err)
	}
	if r.early && m.qos > 0 && !p.forgotten {
		if p, err = k.forget(r.Life, p); err != nil {
			return false
		}
		m, _ = readMessage(p) // a copy of what was read above
	}
	last := m.topic[bytes.LastIndexByte(m.topic, '/')+1:]
	if string(last) == deletion {
		return r.fail(errors.New("the topic was deleted"))
	}
	partition, err := strconv.Atoi(string(last))
	if err != nil {
		return r.fail(fmt.Errorf("a message of topic %q, which was not asked for", m.topic))
	}
	handled := r.Handle(system.Received{Payload: m.payload, Partition: int32(partition)})
	if handled && !r.early {
		k.answer(packets.PUBACK, m.id)
	}
	return handled
}

func (r *consumer) fail(err error) bool {
	r.Fail(err)
	r.Cancel()
	return false
}

// Close stops receiving, and waits within ctx until the message that is handled has ended. What was
// not acknowledged goes to other consumers.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		if ctx.Err() != nil {
			r.cut() // before the consumer can acknowledge anything
		}
		err := r.End(ctx)
		if err != nil {
			r.cut()
		}
		return err
	})
}
