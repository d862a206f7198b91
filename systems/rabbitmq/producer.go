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
	routes     []route
	mode       uint8
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
	confirm  *amqp.DeferredConfirmation
	since    uint32 // the publisher's time of the hand-over
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
		exchange: o.Topic.Name, routes: c.cfg.routes(o.Topic), mode: amqp.Transient, of: c,
		life: life, cancel: cancel,
		slots: driver.NewSlots(o.InFlight, func(i int) *slot {
			return &slot{name: strconv.FormatInt(int64(i), slotBase)}
		}),
	}
	if c.cfg.persistent {
		p.mode = amqp.Persistent
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
		l.wire.Load().flush()
	}
}

// Send publishes the message and returns when the client library has written
// it. It blocks while every slot is in flight, while the server blocks producers, and while a lost
// connection is reopened.
func (p *producer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, len(p.routes)); err != nil {
		m.Done(err)
		return
	}
	s, lane, err := p.take(p.publishers[int(m.Partition)%len(p.publishers)], m)
	if err != nil {
		m.Done(err)
		return
	}
	to := &p.routes[m.Partition]
	s.confirm, err = lane.channel.PublishWithDeferredConfirm(p.exchange, to.key, true, false,
		amqp.Publishing{
			Headers: to.headers, DeliveryMode: p.mode, CorrelationId: s.name, Body: m.Payload,
		})
	p.handedOver(lane, s, err)
}

// take waits for a free slot and a usable connection.
func (p *producer) take(l *publisher, m *system.Message) (*slot, *lane, error) {
	p.slots.Lock()
	defer p.slots.Unlock()
	s, err := p.slots.Take(func() (bool, error) { return l.ready(), l.given })
	if err != nil {
		return nil, nil, err
	}
	s.m, s.since, s.returned = m, l.now, nil
	return s, l.lanes[int(m.Partition)/len(p.publishers)%len(l.lanes)], nil
}

// handedOver notes that the library has written the payload. Until then nobody
// else may end the message, because its buffer would be used again while it is
// being read.
func (p *producer) handedOver(lane *lane, s *slot, err error) {
	p.slots.Lock()
	if err == nil && !lane.dead {
		lane.inFlight = append(lane.inFlight, s)
		if confirmed(s) {
			lane.publisher.wake.Give() // run may have looked too early
		}
		p.slots.Unlock()
		return
	}
	switch {
	case err != nil:
		// Bytes of the message may be on the wire.
		if !lane.dead {
			lane.publisher.broken = err
		}
		err = fmt.Errorf("write the message: %w: %w", err, system.ErrUnknown)
		lane.publisher.wake.Give()
	case confirmed(s):
		err = lane.outcome(s)
	default:
		err = lane.publisher.lost
	}
	p.slots.Unlock()
	p.end(s, err)
}

// confirmed reports whether the library has an answer for the message.
func confirmed(s *slot) bool {
	select {
	case <-s.confirm.Done():
		return true
	default:
		return false
	}
}

// end reports the message's result and frees its slot.
func (p *producer) end(s *slot, err error) {
	m := s.m
	s.m, s.confirm = nil, nil
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
