package amqp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// sweeps is the number of times per Timeout that a producer looks for a message that waited too
// long. So a timeout is late by at most 1/sweeps of Timeout.
const sweeps = 20

// Target is the address to which a partition's messages are sent.
type Target struct {
	Address string
	// Options are of the link, such as its capabilities. nil: the library's defaults.
	Options *goamqp.SenderOptions
}

// ProducerOptions describes a producer to open.
type ProducerOptions struct {
	Dialer   *Dialer
	Clients  *driver.Clients // has the producer while it is open
	Targets  []Target        // by partition
	InFlight int             // most messages sent and not answered
	Durable  bool            // of each message's header
	// Timeout is how long the server may take to accept a message or to answer it. After it the
	// connection is given up.
	Timeout time.Duration
}

// Producer is a system.Producer with its own connection, and on it a link for each partition.
type Producer struct {
	o       ProducerOptions
	header  goamqp.MessageHeader
	slots   *driver.Slots[slot]
	closing driver.Closing

	link  *link // nil: there is no connection; guarded by the slots' lock
	given error // not nil: no server was reached for too long; guarded too

	lanes []*lane // by partition

	sweep   atomic.Int64 // sweeps since the beginning
	sending atomic.Int64 // the sweep, from 1, at which the running Send began; 0: none

	life       context.Context
	cancel     context.CancelFunc
	supervised chan struct{}  // closed when supervise has ended
	answers    sync.WaitGroup // the goroutines that read answers, one for each partition
}

// link is a connection with the senders of all partitions.
type link struct {
	*Conn
	senders []*goamqp.Sender
	broken  driver.Signal // a sender has ended
	lost    atomic.Bool   // a sender has ended: no further message uses the link
	late    atomic.Bool   // given up because the server did not answer
}

// slot is a message in flight.
type slot struct {
	m       *system.Message
	message goamqp.Message
	data    [1][]byte
	key     []byte
	keyed   goamqp.MessageProperties
	receipt goamqp.SendReceipt
	of      *link
	since   int64
	next    *slot // in its lane
}

// NewProducer opens a producer. It returns when the server has accepted the links of all
// partitions.
func NewProducer(ctx context.Context, o ProducerOptions) (system.Producer, error) {
	p := &Producer{
		o: o, header: goamqp.MessageHeader{Durable: o.Durable, Priority: 4},
		supervised: make(chan struct{}),
	}
	p.slots = driver.NewSlots(o.InFlight, p.createSlot)
	c, err := o.Dialer.Dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	if err := p.attach(ctx, c); err != nil {
		c.Cut()
		return nil, o.Dialer.Explain(err)
	}
	p.life, p.cancel = context.WithCancel(context.Background())
	for range o.Targets {
		p.lanes = append(p.lanes, newLane())
	}
	go p.supervise()
	for _, l := range p.lanes {
		p.answers.Go(func() { p.takeAnswers(l) })
	}
	return p, o.Clients.Keep(ctx, p)
}

func (p *Producer) createSlot(int) *slot {
	s := &slot{}
	s.message.Header = &p.header
	s.message.Data = s.data[:]
	s.keyed.CorrelationID = &s.key // the address, so that a key costs no allocation
	return s
}

// attach opens the links and lets Send use them.
func (p *Producer) attach(ctx context.Context, c *Conn) error {
	l := &link{Conn: c, broken: driver.NewSignal()}
	for _, t := range p.o.Targets {
		s, err := c.NewSender(ctx, t.Address, t.Options)
		if err != nil {
			return fmt.Errorf("open a link to %s: %w", t.Address, err)
		}
		l.senders = append(l.senders, s)
	}
	p.slots.Lock()
	p.link, p.given = l, nil
	p.slots.Unlock()
	p.slots.Wake()
	return nil
}

// Send implements system.Producer. It blocks while every slot is in flight, while the server gives
// no credit, and while a lost connection is replaced.
func (p *Producer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, len(p.o.Targets)); err != nil {
		m.Done(err)
		return
	}
	s, err := p.take()
	if err != nil {
		m.Done(err)
		return
	}
	s.m, s.data[0], s.message.Properties = m, m.Payload, nil
	if m.Key != nil {
		s.key, s.message.Properties = m.Key, &s.keyed
	}
	s.since = p.sweep.Load() + 1
	p.sending.Store(s.since)
	// The end of the link ends this call. A context that is cancelled while the link ends would
	// make go-amqp 1.7.0 wait for ever, because it takes back a transfer from an ended link.
	s.receipt, err = s.of.senders[m.Partition].SendWithReceipt(context.Background(), &s.message,
		nil)
	p.sending.Store(0)
	if err == nil {
		p.lanes[m.Partition].put(s)
		return
	}
	p.end(s, p.failed(s, err))
}

// take waits for a free slot and a connection.
func (p *Producer) take() (*slot, error) {
	p.slots.Lock()
	defer p.slots.Unlock()
	s, err := p.slots.Take(func() (bool, error) {
		return p.link != nil && !p.link.lost.Load(), p.given
	})
	if err == nil {
		s.of = p.link
	}
	return s, err
}

// takeAnswers ends the messages of a partition, in the order of sending, until the lane is shut.
// An answer is not held up by those of other partitions.
func (p *Producer) takeAnswers(l *lane) {
	for s := l.take(); s != nil; s = l.take() {
		l.waiting.Store(s.since)
		answer, err := s.receipt.Wait(context.Background()) // the link's end ends it
		l.waiting.Store(0)
		if err != nil {
			err = p.failed(s, err)
		} else {
			err = Outcome(answer)
		}
		p.end(s, err)
	}
}

// failed returns the result of a message whose link has ended or did not accept it.
func (p *Producer) failed(s *slot, err error) error {
	switch {
	case p.life.Err() != nil:
		return driver.ErrUnanswered
	case s.of.late.Load():
		return fmt.Errorf("%s did not answer within %s: %w", s.of.Endpoint, p.o.Timeout,
			system.ErrUnknown)
	}
	err = sendOutcome(err)
	if errors.Is(err, system.ErrUnknown) {
		s.of.lost.Store(true)
		s.of.broken.Give()
	}
	return err
}

// end reports the message's result and frees its slot.
func (p *Producer) end(s *slot, err error) {
	m := s.m
	s.m, s.data[0], s.key, s.receipt, s.of = nil, nil, nil, goamqp.SendReceipt{}, nil
	m.Done(err)
	p.slots.End(s)
}

// supervise replaces a connection that is lost, until the producer closes.
func (p *Producer) supervise() {
	defer close(p.supervised)
	ticker := time.NewTicker(max(p.o.Timeout/sweeps, time.Millisecond))
	defer ticker.Stop()
	l := p.link
	for {
		select {
		case <-p.life.Done():
			return
		case <-l.Done():
		case <-l.broken:
		case <-ticker.C:
			if now := p.sweep.Add(1); !p.isLate(now) {
				continue
			}
			l.late.Store(true)
		}
		if l = p.replace(l); l == nil {
			return
		}
	}
}

// isLate reports whether a message has waited too long to be accepted or answered.
func (p *Producer) isLate(now int64) bool {
	late := func(since int64) bool { return since > 0 && now-(since-1) > sweeps }
	return late(p.sending.Load()) || slices.ContainsFunc(p.lanes, func(l *lane) bool {
		return late(l.waiting.Load())
	})
}

// replace gives up a connection and returns the next one, or nil if the producer closes.
func (p *Producer) replace(l *link) *link {
	p.slots.Lock()
	p.link = nil
	p.slots.Unlock()
	l.Cut()
	c := p.o.Dialer.redial(p.life, l.number+1,
		func(c *Conn) error {
			ctx, cancel := context.WithTimeout(p.life, openWithin)
			defer cancel()
			return p.attach(ctx, c)
		},
		func(err error) bool {
			p.slots.Lock()
			p.given = err
			p.slots.Unlock()
			p.slots.Wake()
			return true
		})
	if c == nil {
		return nil
	}
	p.slots.Lock()
	defer p.slots.Unlock()
	return p.link
}

// Close refuses further messages, waits within ctx for outstanding answers, and ends the remaining
// messages with an error. It is idempotent.
func (p *Producer) Close(ctx context.Context) error {
	return p.closing.Once(p.o.Clients, p, func() error {
		p.slots.Shut()
		err := p.slots.Drain(ctx)
		p.cancel()
		<-p.supervised
		p.slots.Lock()
		l := p.link
		p.slots.Unlock()
		if l != nil {
			l.Close(ctx)
		}
		// Every link has ended, and with it every Send and every wait.
		_ = p.slots.Drain(context.Background())
		for _, l := range p.lanes {
			l.shut()
		}
		p.answers.Wait()
		return err
	})
}
