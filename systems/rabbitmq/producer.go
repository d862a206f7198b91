package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var (
	errNacked   = errors.New("the server refused the message (basic.nack)")
	errTimedOut = fmt.Errorf("the server did not confirm within %s: %w", setConfirmTimeout,
		system.ErrUnknown)
)

// producer publishes to one exchange on its own connections, in confirm mode. Each message in
// flight has a slot. The slot's name is the message's correlation id, by which a returned message
// is recognised.
type producer struct {
	exchange   string
	templates  []template // by partition
	of         *cluster
	publishers []*publisher
	life       context.Context
	cancel     context.CancelFunc // ends the publishers

	slots   *driver.Slots[slot] // their lock guards the publishers too
	closing driver.Closing
}

// slot is a message in flight.
type slot struct {
	m        *system.Message
	name     string
	since    uint32 // the publisher's time when it was published
	returned error  // not nil: no queue took the message
}

// slotBase is the base of the number in a slot's name.
const slotBase = 36

// OpenProducer opens a producer with its own connections.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	if c.cfg.kind == streamed {
		return c.openStreamProducer(ctx, o)
	}
	if c.cfg.protocol == amqp10 {
		return c.openLinkProducer(ctx, o)
	}
	life, cancel := context.WithCancel(context.Background())
	p := &producer{
		exchange: o.Topic.Name, of: c, life: life, cancel: cancel,
		slots: driver.NewSlots(o.InFlight, func(i int) *slot {
			return &slot{name: strconv.FormatInt(int64(i), slotBase)}
		}),
	}
	mode := amqp.Transient
	if c.cfg.persistent {
		mode = amqp.Persistent
	}
	for _, to := range c.cfg.routes(o.Topic) {
		p.templates = append(p.templates, newTemplate(o.Topic.Name, to, mode))
	}
	connections := int(c.cfg.Count(setConnections))
	for i := range connections {
		l := newPublisher(p, o.Index*connections+i)
		if err := l.connect(ctx); err != nil {
			return nil, errors.Join(err, p.Close(ctx))
		}
		p.publishers = append(p.publishers, l)
		go l.run()
	}
	return p, c.clients.Keep(ctx, p)
}

// Gather makes Send keep messages back until Flush, up to gatherBytes on each connection.
func (p *producer) Gather() {
	for _, l := range p.publishers {
		l.wire.Load().gather()
	}
}

// Flush sends the messages that were kept back. Those of a connection that is lost have an unknown
// outcome.
func (p *producer) Flush() {
	for _, l := range p.publishers {
		w := l.wire.Load()
		l.sent(w, w.flush())
	}
}

// Send publishes the message, and returns when it is written, unless it is kept back. It blocks
// while every slot is in flight, while the server blocks producers, and while a lost connection is
// reopened.
func (p *producer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, len(p.templates)); err != nil {
		m.Done(err)
		return
	}
	l := p.publishers[int(m.Partition)%len(p.publishers)]
	w, due, err := l.publish(m)
	if err != nil {
		m.Done(err)
	} else if due {
		l.sent(w, w.send())
	}
}

// end reports the message's result and frees its slot.
func (p *producer) end(s *slot, err error) {
	m := s.m
	s.m = nil
	m.Done(err)
	p.slots.End(s)
}

// Close refuses further messages, waits within ctx for outstanding confirms, and ends the
// remaining messages with an error. It is idempotent and safe to call while Send runs.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		p.slots.Shut()
		p.Flush()
		err := p.slots.Drain(ctx)
		p.cancel()
		for _, l := range p.publishers {
			<-l.ended
		}
		// A Send may still be running, on a connection that is closed.
		_ = p.slots.Drain(context.Background())
		return err
	})
}
