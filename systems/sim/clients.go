package sim

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system"
)

// topic holds its arrivals by partition, and its subscriptions by name and in the order of their
// creation.
type topic struct {
	partitions    []queue[*slot]
	first         int          // partitions that it had from the beginning
	count         atomic.Int32 // of partitions, for producers
	retained      []*record    // all messages, if the cluster retains them; the oldest first
	subscriptions map[string]*subscription
	ordered       []*subscription
	kept          int64 // records so far
}

// has reports whether there is such a partition, to any goroutine.
func (t *topic) has(partition int32) bool { return partition >= 0 && partition < t.count.Load() }

// subscription holds the consumers that share a topic, and their waiting messages.
type subscription struct {
	shared    bool // messages go to any consumer with room: see consumer.work
	consumers []*consumer
	next      int // the next consumer, if messages are shared
	backlog   queue[*record]
	again     queue[*record] // given back; delivered before the backlog
	turnNs    float64        // earliest time of the next delivery, since the simulator began
	draining  bool           // the backlog is being delivered
	first     int64          // number of the topic's first record that it gets
}

// producer sends to one topic. The simulator's lock guards the messages that it holds back.
type producer struct {
	simulator *simulator
	topic     *topic
	index     int
	held      []*record // by partition: a message to be delivered after its follower
	sent      []int64   // messages that arrived, by partition
	// batchNs is when its last batch leaves, since the simulator began.
	batchNs int64
	// unanswered holds the messages that get no answer before Close; they are not pending.
	unanswered []*system.Message

	transactional bool
	transactions  uint32       // that it has begun; the inbox's lock guards it
	current       *transaction // the one to which messages are added; the inbox's lock guards it
	committedNs   int64        // when the last one ended, since the simulator began

	pending atomic.Int64
	closed  atomic.Bool
	idle    chan struct{} // signals Close that nothing is pending
}

func (p *producer) Send(m *system.Message) {
	if !p.topic.has(m.Partition) {
		m.Done(errNoPartition)
		return
	}
	if !p.simulator.take(p, m) {
		m.Done(errClosed)
	}
}

// SendBatch hands several messages over at one moment: they arrive together.
func (p *producer) SendBatch(batch []*system.Message) {
	for _, m := range batch {
		if !p.topic.has(m.Partition) {
			for _, m := range batch {
				p.Send(m) // each is answered separately
			}
			return
		}
	}
	if !p.simulator.take(p, batch...) {
		for _, m := range batch {
			m.Done(errClosed)
		}
	}
}

// sends returns when a message leaves that was handed over at a time, since the simulator began.
func (p *producer) sends(at int64) int64 {
	if at >= p.batchNs {
		p.batchNs = at + p.simulator.lingerNs
	}
	return p.batchNs
}

// answered is called after a message has been answered.
func (p *producer) answered() {
	if p.pending.Add(-1) == 0 && p.closed.Load() {
		select {
		case p.idle <- struct{}{}:
		default:
		}
	}
}

// Close waits for the outstanding answers. It delivers messages that were held back for a follower
// that never came.
func (p *producer) Close(ctx context.Context) error {
	if p.closed.Swap(true) {
		return nil
	}
	for p.pending.Load() > 0 {
		select {
		case <-p.idle:
			continue
		case <-ctx.Done():
			p.drop()
		}
		break
	}
	p.simulator.Lock()
	for i, r := range p.held {
		if r != nil {
			p.simulator.plan(p.simulator.clock.Now()-p.simulator.startNs, r)
			p.held[i] = nil
			p.simulator.wake()
		}
	}
	unanswered := p.unanswered
	p.unanswered = nil
	p.simulator.Unlock()
	for _, m := range unanswered {
		m.Done(errClosed)
	}
	return nil
}

// drop answers every unanswered message with an error.
func (p *producer) drop() {
	p.simulator.Lock()
	p.simulator.empty()
	dropped := append(p.simulator.answers.drop(p), p.simulator.dropOpen(p)...)
	p.simulator.Unlock()
	for _, a := range dropped {
		a.message.Done(errClosed)
	}
}

// consumer receives on the simulator, under its lock, or, if messages are shared, on its own
// goroutine.
type consumer struct {
	simulator *simulator
	of        *subscription
	options   system.ConsumerOptions
	closed    atomic.Bool

	// Used if messages are shared; the simulator's lock guards room.
	room  int          // messages that it may hold in addition
	inbox chan *record // has room for all messages that it may hold
	stop  chan struct{}
	ended chan struct{}
}

func newConsumer(l *simulator, s *subscription, o system.ConsumerOptions) *consumer {
	k := &consumer{simulator: l, of: s, options: o, ended: make(chan struct{})}
	if s.shared {
		k.room = l.prefetch
		k.inbox, k.stop = make(chan *record, k.room), make(chan struct{})
		go k.work()
	}
	return k
}

// take delivers a record. The caller holds the simulator's lock.
func (k *consumer) take(r *record) {
	if k.inbox == nil {
		k.options.Receive(r.received())
		return
	}
	r.refs++
	k.room--
	k.inbox <- r
}

// work receives the consumer's messages one by one, and acknowledges them or gives them back.
func (k *consumer) work() {
	defer close(k.ended)
	for {
		select {
		case <-k.stop:
			return
		default:
		}
		select {
		case <-k.stop:
			return
		case r := <-k.inbox:
			k.options.Receive(r.received())
			k.finish(r, k.options.GiveBack != nil && k.options.GiveBack())
		}
	}
}

func (k *consumer) finish(r *record, back bool) {
	l := k.simulator
	l.Lock()
	k.room++
	now := l.clock.Now() - l.startNs
	if back && !l.forgets() {
		l.returns.push(given{now + l.redeliveryNs, r, k.of})
	} else {
		l.release(r)
	}
	l.drain(k.of, now)
	l.Unlock()
	l.wake()
}

// Close waits, within ctx, for the message that is being received. The consumer's other messages
// go to other consumers.
func (k *consumer) Close(ctx context.Context) error {
	if k.closed.Swap(true) {
		return nil
	}
	if k.inbox == nil {
		go func() {
			// Under the simulator's lock, the simulator is between two messages.
			k.simulator.Lock()
			defer k.simulator.Unlock()
			close(k.ended)
		}()
	} else {
		close(k.stop)
	}
	select {
	case <-k.ended:
	case <-ctx.Done():
		return fmt.Errorf("close a consumer that is receiving: %w", ctx.Err())
	}
	k.simulator.Lock()
	defer k.simulator.Unlock()
	for len(k.inbox) > 0 {
		k.of.again.push(<-k.inbox)
	}
	k.of.rebalance(k.simulator)
	k.simulator.drain(k.of, k.simulator.clock.Now()-k.simulator.startNs)
	k.simulator.wake()
	return nil
}

// consumerOf returns the consumer of a partition or, if messages are shared, a consumer with room;
// nil if there is none. The caller holds the simulator's lock.
func (s *subscription) consumerOf(partition int32) *consumer {
	if s.shared {
		return s.withRoom()
	}
	for len(s.consumers) > 0 {
		i := int(partition) % len(s.consumers)
		if k := s.consumers[i]; !k.closed.Load() {
			return k
		}
		s.consumers = slices.Delete(s.consumers, i, i+1)
	}
	return nil
}

// withRoom returns the next consumer in turn that has room.
func (s *subscription) withRoom() *consumer {
	s.consumers = slices.DeleteFunc(s.consumers,
		func(k *consumer) bool { return k.closed.Load() })
	for i := range s.consumers {
		at := (s.next + i) % len(s.consumers)
		if k := s.consumers[at]; k.room > 0 {
			if !k.simulator.firstServed {
				s.next = at + 1
			}
			return k
		}
	}
	return nil
}

// rebalance pauses the subscription, because its consumers have changed.
func (s *subscription) rebalance(l *simulator) {
	if l.rebalanceNs > 0 {
		s.turnNs = max(s.turnNs, float64(l.clock.Now()-l.startNs+l.rebalanceNs))
	}
}

// waiting returns the number of messages that wait for a consumer.
func (s *subscription) waiting() int { return s.again.len() + s.backlog.len() }
