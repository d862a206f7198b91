package sim

import (
	"context"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
)

// topic has its arrivals by partition, and its subscriptions by name and in
// the order they came.
type topic struct {
	partitions    []queue[*slot]
	subscriptions map[string]*subscription
	ordered       []*subscription
}

// subscription is the consumers that share a topic, and what waits for them.
type subscription struct {
	consumers []*consumer
	backlog   queue[*record]
}

// producer sends to one topic. The line's lock guards it.
type producer struct {
	line    *line
	topic   *topic
	pending int
	held    []*record // by partition: waits to be delivered after its follower
	closed  bool
	idle    chan struct{} // tells Close that nothing is pending
}

func (p *producer) Send(m *system.Message) {
	if m.Partition < 0 || int(m.Partition) >= len(p.topic.partitions) {
		m.Done(errNoPartition)
		return
	}
	p.line.Lock()
	if p.closed || p.line.closed {
		p.line.Unlock()
		m.Done(errClosed)
		return
	}
	p.pending++
	p.line.arrive(m, p)
	p.line.Unlock()
}

// answered is called, with the lock held, after a message has been answered.
func (p *producer) answered() {
	if p.pending--; p.pending == 0 && p.closed {
		p.idle <- struct{}{}
	}
}

// Close waits for the answers under way. Messages held back for a follower
// that never came are delivered.
func (p *producer) Close(ctx context.Context) error {
	p.line.Lock()
	if p.closed {
		p.line.Unlock()
		return nil
	}
	p.closed = true
	waits := p.pending > 0
	p.line.Unlock()
	if waits {
		select {
		case <-p.idle:
		case <-ctx.Done():
			p.drop()
		}
	}
	p.line.Lock()
	defer p.line.Unlock()
	now := p.line.clock.Now() - p.line.startNs
	for i, r := range p.held {
		if r != nil {
			p.line.plan(now, r)
			p.held[i] = nil
			p.line.wakeBy(0)
		}
	}
	return nil
}

// drop answers with an error what has not been answered.
func (p *producer) drop() {
	p.line.Lock()
	dropped := p.line.answers.drop(p)
	p.line.Unlock()
	for _, a := range dropped {
		a.message.Done(errClosed)
	}
}

// consumer receives on the line. busy is held while it does.
type consumer struct {
	line         *line
	subscription *subscription
	receive      func([]byte)
	busy         sync.Mutex
}

func (k *consumer) Close(context.Context) error {
	k.line.Lock()
	s := k.subscription
	for i, other := range s.consumers {
		if other == k {
			s.consumers = append(s.consumers[:i:i], s.consumers[i+1:]...)
			break
		}
	}
	k.line.Unlock()
	// Waits for a delivery under way; no other can begin.
	k.busy.Lock()
	defer k.busy.Unlock()
	return nil
}
