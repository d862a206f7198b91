package nsq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// bodyMost is nsqd's default bound of an MPUB's bytes (-max-body-size).
	bodyMost = 5 << 20
	// dialPause is the least time between two attempts to reach a server.
	dialPause = 250 * time.Millisecond
)

// producer sends to one topic, over a connection to each server that has partitions.
type producer struct {
	*driver.Batches[struct{}]
	of      *cluster
	topic   system.Topic
	closing driver.Closing
	groups  [][]*driver.Batched[struct{}] // of the batch under way, by partition

	mu     sync.Mutex // guards links against Abort
	links  []*link    // by endpoint
	closed bool
}

// link is a producer's connection to a server. The goroutine that delivers uses it.
type link struct {
	conn   *conn // nil: none
	tried  time.Time
	failed error // of the latest attempt
}

// OpenProducer opens a producer with its own connections.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	p := &producer{of: c, topic: o.Topic,
		groups: make([][]*driver.Batched[struct{}], o.Topic.Partitions)}
	for i := range min(len(c.options.Endpoints), o.Topic.Partitions) {
		k, err := c.dial(ctx, i, identity{HeartbeatMs: -1})
		if err != nil {
			return nil, errors.Join(err, p.abort())
		}
		p.links = append(p.links, &link{conn: k})
	}
	p.Batches = driver.NewBatches(driver.Batching[struct{}]{
		InFlight: o.InFlight, Linger: c.Duration(setLinger), Answered: o.Answered,
		Most:       max(1, min(int(c.Count(setBatch)), bodyMost/(o.MessageMax+4))),
		Partitions: o.Topic.Partitions,
		Create:     func(*struct{}) {}, Fill: func(*driver.Batched[struct{}]) {},
		Deliver: p.deliver, Abort: p.abort,
	})
	return p, c.clients.Keep(ctx, p)
}

// deliver sends a batch, an MPUB for each of its partitions, and then reads the answers.
func (p *producer) deliver(life context.Context, batch []*driver.Batched[struct{}]) {
	for _, one := range batch {
		i := one.Message.Partition
		p.groups[i] = append(p.groups[i], one)
	}
	until := time.Now().Add(p.of.Duration(setRequest))
	for i, group := range p.groups {
		if len(group) == 0 {
			continue
		}
		k, err := p.connection(life, p.of.home(i), until)
		if err != nil {
			p.end(i, err)
			continue
		}
		k.write("MPUB "+topicOf(p.topic.Name, i), nil)
		size := 4
		for _, one := range group {
			size += 4 + len(one.Message.Payload)
		}
		k.size(size)
		k.size(len(group))
		for _, one := range group {
			k.size(len(one.Message.Payload))
			_, _ = k.out.Write(one.Message.Payload) // Flush reports it
		}
	}
	for _, l := range p.links {
		if l.conn != nil {
			p.drop(l, l.conn.out.Flush())
		}
	}
	for i, group := range p.groups {
		if len(group) > 0 {
			p.end(i, p.answered(life, p.links[p.of.home(i)]))
		}
	}
}

// connection returns the connection to a server, a new one if necessary.
func (p *producer) connection(life context.Context, endpoint int, until time.Time) (*conn, error) {
	l := p.links[endpoint]
	if l.conn == nil {
		if time.Since(l.tried) < dialPause {
			return nil, l.failed
		}
		var k *conn
		l.tried = time.Now()
		if k, l.failed = p.of.dial(life, endpoint, identity{HeartbeatMs: -1}); l.failed != nil {
			return nil, l.failed
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			k.cut()
			return nil, driver.ErrProducerClosed
		}
		l.conn = k
	}
	return l.conn, l.conn.raw.SetDeadline(until)
}

// answered reads the next answer of a server.
func (p *producer) answered(life context.Context, l *link) error {
	if l.conn == nil {
		return l.failed // the connection ended after the command was written
	}
	_, err := l.conn.answer()
	var refused refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return fmt.Errorf("nsqd refuses the messages: %w", err)
	case life.Err() != nil:
		err = driver.ErrUnanswered
	default:
		err = fmt.Errorf("%w: %w", err, system.ErrUnknown)
	}
	p.drop(l, err)
	return err
}

// drop ends a connection that failed. Commands on it are unknown from then on.
func (p *producer) drop(l *link, err error) {
	if err == nil {
		return
	}
	l.conn.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !errors.Is(err, system.ErrUnknown) {
		err = fmt.Errorf("%w: %w", err, system.ErrUnknown)
	}
	l.conn, l.failed = nil, err
}

// end reports the outcome of a partition's messages.
func (p *producer) end(partition int, err error) {
	for _, one := range p.groups[partition] {
		p.End(one, err)
	}
	p.groups[partition] = p.groups[partition][:0]
}

// abort ends all connections.
func (p *producer) abort() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, l := range p.links {
		if l.conn != nil {
			l.conn.cut()
		}
	}
	return nil
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error { return p.Batches.Close(ctx) })
}
