package amqp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Source is the address from which a partition's messages are received.
type Source struct {
	Address string
	// Options are of the link, such as its capabilities. The consumer sets Credit.
	Options goamqp.ReceiverOptions
}

// ConsumerOptions describes a consumer to open.
type ConsumerOptions struct {
	Dialer  *Dialer
	Clients *driver.Clients // has the consumer while it is open
	Sources []Source        // by partition
	// Credit is the most messages of a partition that the server sends ahead of their
	// acceptance.
	Credit int
	// Handle has the receiving functions and the delivery.
	Handle system.ConsumerOptions
	// Exists reports whether the sources exist, for servers that leave the links of a deleted
	// source open; nil: the server ends them.
	Exists func(ctx context.Context) (bool, error)
}

// Consumer is a system.Consumer with its own connection, and on it a link for each partition.
type Consumer struct {
	driver.Receiver
	o        ConsumerOptions
	early    bool // at most once the server settles nothing: accept before handling
	closing  driver.Closing
	handling sync.Mutex // held while Receive runs

	mu   sync.Mutex
	conn *Conn // the latest

	heard    atomic.Bool // a message came since watch looked
	watching sync.WaitGroup
}

// NewConsumer opens a consumer. It returns when the server has accepted the links of all
// partitions.
func NewConsumer(ctx context.Context, o ConsumerOptions) (system.Consumer, error) {
	r := &Consumer{
		Receiver: driver.Receiver{Options: o.Handle}, o: o,
	}
	c, err := o.Dialer.Dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	receivers, err := r.attach(ctx, c)
	if err != nil {
		c.Cut()
		return nil, o.Dialer.Explain(err)
	}
	r.conn = c
	r.Begin(func() { r.run(c, receivers) })
	if o.Exists != nil {
		r.watching.Go(r.watch)
	}
	return r, o.Clients.Keep(ctx, r)
}

func (r *Consumer) attach(ctx context.Context, c *Conn) ([]*goamqp.Receiver, error) {
	var all []*goamqp.Receiver
	for _, s := range r.o.Sources {
		options := s.Options
		options.Credit = int32(r.o.Credit)
		if r.o.Handle.Delivery == workload.AtMostOnce && !r.early {
			options.RequestedSenderSettleMode = goamqp.SenderSettleModeSettled.Ptr()
		}
		one, err := c.NewReceiver(ctx, s.Address, &options)
		if err != nil && options.RequestedSenderSettleMode != nil &&
			says(err, "sender settlement mode") { // some servers answer none
			r.early, options.RequestedSenderSettleMode = true, nil
			one, err = c.NewReceiver(ctx, s.Address, &options)
		}
		if err != nil {
			return nil, fmt.Errorf("open a link from %s: %w", s.Address, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// run receives until the consumer closes, and follows a failover.
func (r *Consumer) run(c *Conn, receivers []*goamqp.Receiver) {
	for {
		r.receiveAll(c, receivers)
		if r.Life.Err() != nil || r.Stopped() {
			return // Close closes the connection
		}
		c.Cut()
		c = r.o.Dialer.redial(r.Life, c.number+1,
			func(c *Conn) (err error) {
				ctx, cancel := context.WithTimeout(r.Life, openWithin)
				defer cancel()
				receivers, err = r.attach(ctx, c)
				return err
			},
			func(err error) bool {
				r.Fail(err)
				return false
			})
		if c == nil || !r.hold(c) {
			return
		}
	}
}

const (
	// lookEvery is how often a consumer that receives nothing looks for its sources.
	lookEvery = 30 * time.Second
	// certain is the number of successive answers that prove that they do not exist: after a
	// failover they may come back with their consumers.
	certain = 2
)

// watch fails the consumer when its sources were deleted.
func (r *Consumer) watch() {
	for absent := 0; clock.Sleep(r.Life, lookEvery); {
		if r.heard.Swap(false) {
			absent = 0
			continue
		}
		ctx, cancel := context.WithTimeout(r.Life, openWithin)
		exist, err := r.o.Exists(ctx)
		cancel()
		switch {
		case err != nil: // no server answers: it asks again
		case exist:
			absent = 0
		default:
			if absent++; absent == certain {
				r.Fail(errors.New("the topic or the subscription was deleted"))
				return
			}
		}
	}
}

// hold records c as the connection that Close must close. After Close it cuts c and returns false.
func (r *Consumer) hold(c *Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Stopped() {
		c.Cut()
		return false
	}
	r.conn = c
	return true
}

// receiveAll receives from all partitions until one of them ends.
func (r *Consumer) receiveAll(c *Conn, receivers []*goamqp.Receiver) {
	ctx, cancel := context.WithCancel(r.Life)
	defer cancel()
	var all sync.WaitGroup
	for i, one := range receivers {
		all.Go(func() {
			defer cancel()
			r.receive(ctx, c, one, int32(i))
		})
	}
	all.Wait()
}

// receive hands over the messages of a partition until the link or ctx ends. Messages that were
// not handed over go to other consumers.
func (r *Consumer) receive(ctx context.Context, c *Conn, from *goamqp.Receiver,
	partition int32) {
	for ctx.Err() == nil { // checked, because the library still returns buffered messages
		m, err := from.Receive(ctx, nil)
		if err != nil {
			return
		}
		if r.early && (from.AcceptMessage(context.Background(), m) != nil || c.confirm() != nil) {
			return
		}
		handled, back := r.take(m, partition)
		if !handled {
			return
		}
		if back {
			failed := &goamqp.ModifyMessageOptions{DeliveryFailed: true}
			if from.ModifyMessage(context.Background(), m, failed) != nil {
				return
			}
			continue
		}
		if !r.early && from.AcceptMessage(context.Background(), m) != nil {
			return // a message that the server has settled needs nothing
		}
	}
}

// take hands over a message, unless the consumer is closed.
func (r *Consumer) take(m *goamqp.Message, partition int32) (handled, back bool) {
	r.handling.Lock()
	defer r.handling.Unlock()
	if !r.heard.Load() {
		r.heard.Store(true)
	}
	return r.Take(system.Received{Payload: Payload(m), Key: Key(m), Partition: partition})
}

// Payload returns the data of a message.
func Payload(m *goamqp.Message) []byte {
	switch value := m.Value.(type) {
	case []byte:
		return value
	case string:
		return []byte(value)
	}
	return m.GetData()
}

// Key returns the key of a message, or nil if it has none.
func Key(m *goamqp.Message) []byte {
	if m.Properties == nil {
		return nil
	}
	switch key := m.Properties.CorrelationID.(type) {
	case []byte:
		return key
	case string:
		return []byte(key)
	}
	return nil
}

// Close stops receiving, and waits within ctx until the current message is handled and accepted.
// The server gives the other messages to other consumers. Close is idempotent.
func (r *Consumer) Close(ctx context.Context) error {
	return r.closing.Once(r.o.Clients, r, func() error {
		r.Cancel()
		r.watching.Wait()
		err := r.Await(ctx)
		r.mu.Lock()
		r.Stop()
		c := r.conn
		r.mu.Unlock()
		c.Close(ctx)
		return err
	})
}
