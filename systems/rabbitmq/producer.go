package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	errProducerClosed = errors.New("the producer is closed")
	errUnanswered     = fmt.Errorf("the producer was closed before the server confirmed: %w", system.ErrUnknown)
	errNacked         = errors.New("the server refused the message (basic.nack)")
	errTimedOut       = fmt.Errorf("the server did not confirm within %s: %w", setConfirmTimeout, system.ErrUnknown)
)

// producer publishes to one exchange on connections of its own, in confirm
// mode. Each message in flight has a slot, whose name goes with it as its
// correlation id, so that a message which is returned is known again.
type producer struct {
	exchange string
	routes   []route
	mode     uint8
	of       *cluster
	lines    []*line
	life     context.Context
	cancel   context.CancelFunc // ends the lines

	mu      sync.Mutex
	changed sync.Cond // a slot became free, a line changed, or the producer closed
	closed  bool
	slots   []slot
	free    []*slot
	ended   chan struct{} // closed when Close has ended
}

// slot is one message in flight.
type slot struct {
	m        *system.Message
	name     string
	confirm  *amqp.DeferredConfirmation
	since    uint32 // the line's time at which it was handed over
	returned error  // not nil: no queue took it
}

// slotBase is the base of the number that a slot's name is.
const slotBase = 36

// OpenProducer opens a producer with connections of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer, error) {
	if o.Delivery == workload.ExactlyOnce {
		return nil, errors.New("RabbitMQ cannot deliver exactly once: take another delivery")
	}
	if c.cfg.kind == streamed {
		return c.openStreamProducer(ctx, o)
	}
	life, cancel := context.WithCancel(context.Background())
	p := &producer{
		exchange: o.Topic.Name, routes: c.cfg.routes(o.Topic), mode: amqp.Transient, of: c,
		life: life, cancel: cancel, slots: make([]slot, max(o.InFlight, 1)), ended: make(chan struct{}),
	}
	if c.cfg.persistent {
		p.mode = amqp.Persistent
	}
	p.changed.L = &p.mu
	for i := range p.slots {
		p.slots[i].name = strconv.FormatInt(int64(i), slotBase)
		p.free = append(p.free, &p.slots[i])
	}
	for i := range c.cfg.connections {
		l := newLine(p, o.Index*c.cfg.connections+i)
		if err := l.connect(ctx); err != nil {
			return nil, errors.Join(err, p.Close(ctx))
		}
		p.lines = append(p.lines, l)
		go l.run()
	}
	if err := c.clients.Keep(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// laneOf is the connection of a partition, and which of its channels is the
// partition's.
func (p *producer) laneOf(partition int32) (l *line, channel int) {
	n := len(p.lines)
	return p.lines[int(partition)%n], int(partition) / n % p.of.cfg.channels
}

// Send publishes the message and returns when the client library has written
// it. It blocks while every slot is in flight, while the server holds producers
// back, and while a lost connection is made anew.
func (p *producer) Send(m *system.Message) {
	if int(m.Partition) >= len(p.routes) || m.Partition < 0 {
		m.Done(fmt.Errorf("partition %d: the topic has %d", m.Partition, len(p.routes)))
		return
	}
	l, channel := p.laneOf(m.Partition)
	s, lane, err := p.take(l, channel, m)
	if err != nil {
		m.Done(err)
		return
	}
	to := &p.routes[m.Partition]
	s.confirm, err = lane.channel.PublishWithDeferredConfirm(p.exchange, to.key, true, false, amqp.Publishing{
		Headers: to.headers, DeliveryMode: p.mode, CorrelationId: s.name, Body: m.Payload,
	})
	p.handedOver(lane, s, err)
}

// take waits for a free slot and a connection that takes messages.
func (p *producer) take(l *line, channel int, m *system.Message) (*slot, *lane, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && l.given == nil && (len(p.free) == 0 || !l.ready()) {
		p.changed.Wait()
	}
	if p.closed {
		return nil, nil, errProducerClosed
	}
	if l.given != nil {
		return nil, nil, l.given
	}
	s := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	s.m, s.since, s.returned = m, l.now, nil
	return s, l.lanes[channel], nil
}

// handedOver notes that the library has written the payload. Until then nobody
// else may end the message, because its buffer would be used again while it is
// being read.
func (p *producer) handedOver(lane *lane, s *slot, err error) {
	p.mu.Lock()
	if err == nil && !lane.dead {
		lane.inFlight = append(lane.inFlight, s)
		if confirmed(s) {
			lane.line.poke() // whoever looked may have looked too early
		}
		p.mu.Unlock()
		return
	}
	switch {
	case err != nil:
		// Bytes of it may be on the wire.
		err = fmt.Errorf("writing the message: %w: %w", err, system.ErrUnknown)
		lane.line.poke()
	case confirmed(s):
		err = lane.outcome(s)
	default:
		err = lane.line.lost
	}
	p.mu.Unlock()
	p.end(s, err)
}

// confirmed says whether the library has an answer for the message.
func confirmed(s *slot) bool {
	select {
	case <-s.confirm.Done():
		return true
	default:
		return false
	}
}

// end tells the message's end and frees its slot, in this order: a Close that
// finds every slot free finds every message told.
func (p *producer) end(s *slot, err error) {
	m := s.m
	s.m, s.confirm = nil, nil
	m.Done(err)
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.changed.Broadcast()
}

// Close refuses further messages, waits within ctx for the confirms under way,
// and ends the rest with an error. It is idempotent and safe to call while Send
// runs.
func (p *producer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	p.changed.Broadcast()
	if !first {
		<-p.ended
		return nil
	}
	defer close(p.ended)
	defer p.of.clients.Forget(p)
	left := p.awaitSlots(ctx)
	p.cancel()
	for _, l := range p.lines {
		<-l.ended
	}
	// A Send may still be under way, on a connection that is closed by now.
	p.awaitSlots(context.Background())
	if left > 0 {
		return fmt.Errorf("closing the producer: %d messages were not confirmed: %w", left, ctx.Err())
	}
	return nil
}

// awaitSlots waits until every slot is free or ctx ends, and returns how many
// are not.
func (p *producer) awaitSlots(ctx context.Context) int {
	wake := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer wake()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) < len(p.slots) && ctx.Err() == nil {
		p.changed.Wait()
	}
	return len(p.slots) - len(p.free)
}
