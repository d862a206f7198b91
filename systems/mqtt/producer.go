package mqtt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// dialPause is the time between two attempts to reach the server.
const dialPause = 250 * time.Millisecond

// producer sends to one topic over one connection.
type producer struct {
	of      *cluster
	topics  []string // by partition
	qos     byte
	slots   *driver.Slots[slot]
	all     []slot // the packet identifier of each is its index plus one
	ready   func() (bool, error)
	wake    driver.Signal // there is something to flush
	life    context.Context
	cancel  context.CancelFunc
	ended   chan struct{} // closed when run has ended
	closing driver.Closing

	// The lock of slots guards these.
	conn *conn // nil: none
	down error // why there is none; nil while it is tried
}

// slot is a packet identifier.
type slot struct {
	id      uint16
	message *system.Message // nil: not in use; the lock of slots guards it
}

// OpenProducer opens a producer with its own connection.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	k, err := c.dial(ctx, c.guest())
	if err != nil {
		return nil, err
	}
	p := &producer{of: c, qos: byte(c.Count(setPublishQoS)), wake: driver.NewSignal(),
		ended: make(chan struct{}), conn: k}
	for partition := range o.Topic.Partitions {
		p.topics = append(p.topics, topicOf(o.Topic.Name, partition))
	}
	most, err := p.allowed(k, o)
	if err != nil {
		k.leave(false)
		return nil, err
	}
	p.all = make([]slot, most)
	p.slots = driver.NewSlots(most, func(i int) *slot {
		p.all[i].id = uint16(i + 1)
		return &p.all[i]
	})
	p.ready = func() (bool, error) { return p.conn != nil, p.down }
	p.life, p.cancel = context.WithCancel(context.Background())
	go p.run(k)
	return p, c.clients.Keep(ctx, p)
}

// allowed returns how many messages may be unanswered, and an error if the server does not take
// such messages.
func (p *producer) allowed(k *conn, o system.ProducerOptions) (most int, err error) {
	told, most := k.told.Properties, min(max(o.InFlight, 1), math.MaxUint16)
	if told.MaximumQOS != nil && *told.MaximumQOS < p.qos {
		return 0, fmt.Errorf("%s takes messages up to QoS %d (Maximum QoS), and %s is %d: change "+
			"one of them", p.of.address, *told.MaximumQOS, setPublishQoS, p.qos)
	}
	size := o.MessageMax + publishSize(p.topics[len(p.topics)-1])
	if told.MaximumPacketSize != nil && size > int(*told.MaximumPacketSize) || size > packetMost {
		return 0, fmt.Errorf("messages of %d bytes are more than %s takes (Maximum Packet Size): "+
			"make them smaller, or raise it there", o.MessageMax, p.of.address)
	}
	if told.ReceiveMaximum != nil {
		most = min(most, int(*told.ReceiveMaximum))
	}
	return most, nil
}

// Send implements system.Producer.
func (p *producer) Send(m *system.Message) {
	one := [1]*system.Message{m}
	p.SendBatch(one[:])
}

// SendBatch implements system.BatchSender: the messages leave together, as far as the server's
// Receive Maximum permits.
func (p *producer) SendBatch(batch []*system.Message) {
	p.slots.Lock()
	defer p.slots.Unlock()
	for _, m := range batch {
		if err := p.enqueue(m); err != nil {
			p.slots.Unlock()
			m.Done(err)
			p.slots.Lock()
		}
	}
}

// enqueue writes a message behind those that wait for flush. The caller holds the lock.
func (p *producer) enqueue(m *system.Message) error {
	if err := driver.CheckPartition(m, len(p.topics)); err != nil {
		return err
	}
	s, err := p.slots.Take(p.ready)
	if err != nil {
		return err
	}
	s.message = m
	p.conn.append(p.topics[m.Partition], s.id, p.qos, m.Payload)
	p.wake.Give()
	return nil
}

// run serves one connection after another until life ends.
func (p *producer) run(k *conn) {
	defer close(p.ended)
	for k != nil {
		p.lose(p.serve(k))
		k = p.again()
	}
}

// serve flushes what Send wrote, and reads the answers. It returns why it ended.
func (p *producer) serve(k *conn) (why error) {
	lost := make(chan error, 1)
	var reading sync.WaitGroup
	reading.Go(func() { lost <- p.read(k) })
	defer reading.Wait()
	for {
		select {
		case <-p.wake:
			if why = k.flush(); why != nil {
				k.cut()
				return why
			}
		case why = <-lost:
			k.cut()
			return why
		case <-p.life.Done():
			k.leave(false)
			return p.life.Err()
		}
	}
}

// read ends messages as they are answered, until the connection ends.
func (p *producer) read(k *conn) error {
	for {
		received, err := k.next()
		if err != nil {
			return err
		}
		switch received.kind {
		case packets.PUBACK, packets.PUBREC, packets.PUBCOMP:
			if err := p.answered(k, received); err != nil {
				return err
			}
		case packets.PINGRESP:
		default:
			return received.reason()
		}
	}
}

// answered handles the answer to a message. The server has no message that it refuses.
func (p *producer) answered(k *conn, received packet) error {
	id, code, err := readAnswer(received.body)
	if err != nil {
		return err
	}
	var refused error
	switch {
	case code >= reasonError:
		refused = &refusal{code, "the server refuses the message"}
	case received.kind == packets.PUBREC:
		k.answer(packets.PUBREL, id)
		p.wake.Give()
		return nil
	}
	if id == 0 || int(id) > len(p.all) || !p.end(&p.all[id-1], refused) {
		return fmt.Errorf("the server answers packet %d, which is not under way", id)
	}
	return nil
}

// end reports the result of a slot's message; false: it has none.
func (p *producer) end(s *slot, err error) bool {
	p.slots.Lock()
	m := s.message
	s.message = nil
	p.slots.Unlock()
	if m == nil {
		return false
	}
	m.Done(err)
	p.slots.End(s)
	return true
}

// lose gives up the connection. The outcome of what was not answered is unknown.
func (p *producer) lose(why error) {
	p.slots.Lock()
	p.conn, p.down = nil, nil
	p.slots.Unlock()
	outcome := driver.ErrUnanswered
	if p.life.Err() == nil {
		outcome = fmt.Errorf("the connection to %s ended before the answer (%w): %w", p.of.address,
			why, system.ErrUnknown)
	}
	for i := range p.all {
		p.end(&p.all[i], outcome)
	}
}

// again connects again. While the server cannot be reached, messages are refused. It returns nil
// when life ends.
func (p *producer) again() *conn {
	for p.life.Err() == nil {
		k, err := p.of.dial(p.life, p.of.guest())
		if err == nil {
			if told := k.told.Properties.ReceiveMaximum; told != nil && int(*told) < len(p.all) {
				err = errors.New("the server has lowered its Receive Maximum: open the producer " +
					"anew")
				k.leave(false)
			}
		}
		p.slots.Lock()
		p.down = err
		if err == nil {
			p.conn = k
		}
		p.slots.Unlock()
		p.slots.Wake()
		if err == nil {
			return k
		}
		clock.Sleep(p.life, dialPause)
	}
	return nil
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		p.slots.Shut()
		err := p.slots.Drain(ctx)
		p.cancel()
		<-p.ended
		return err
	})
}
