package nsq

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// bodyLeast is the least bound of an MPUB's bytes: nsqd's own (-max-body-size).
	bodyLeast = 5 << 20
	// dialPause is the time between two attempts to reach a server.
	dialPause = 250 * time.Millisecond
)

// bodyMost returns the bound of an MPUB's bytes: the servers' that plimsoll starts.
func bodyMost(s system.Settings) int64 { return max(bodyLeast, 2*s.Bytes(setMaxMessage)) }

// producer sends to one topic, to each server by itself.
type producer struct {
	driver.Lanes[struct{}]
	of      *cluster
	topic   system.Topic
	closing driver.Closing
}

// sender sends a producer's messages to one server.
type sender struct {
	*driver.Batches[struct{}]
	of       *producer
	endpoint int
	groups   [][]*driver.Batched[struct{}] // of the batch under way, by partition
	tried    time.Time                     // the end of the latest attempt to connect
	failed   error                         // its error

	mu     sync.Mutex // guards conn against abort; the goroutine that delivers changes it
	conn   *conn      // nil: none
	closed bool
}

// OpenProducer opens a producer with its own connections.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	if most := c.Bytes(setMaxMessage); int64(o.MessageMax) > most {
		return nil, fmt.Errorf("messages of %d bytes are more than the servers take (%s is %s): "+
			"make the messages smaller or raise it, on the servers too", o.MessageMax,
			setMaxMessage, c.Text(setMaxMessage))
	}
	p := &producer{of: c, topic: o.Topic}
	var senders []*sender // by endpoint
	for i := range min(len(c.options.Endpoints), o.Topic.Partitions) {
		k, err := c.dial(ctx, i, identity{HeartbeatMs: -1})
		if err != nil {
			return nil, errors.Join(err, driver.CloseAll(ctx, senders))
		}
		senders = append(senders, p.newSender(o, i, k))
	}
	for partition := range o.Topic.Partitions {
		p.Lanes = append(p.Lanes, senders[c.home(partition)].Batches)
	}
	return p, c.clients.Keep(ctx, p)
}

func (p *producer) newSender(o system.ProducerOptions, endpoint int, k *conn) *sender {
	s := &sender{of: p, endpoint: endpoint, conn: k,
		groups: make([][]*driver.Batched[struct{}], o.Topic.Partitions)}
	fits := (bodyMost(p.of.Settings) - 4) / int64(o.MessageMax+4)
	s.Batches = driver.NewBatches(driver.Batching[struct{}]{
		InFlight: o.InFlight, Linger: p.of.Duration(setLinger), Answered: o.Answered,
		Most:       int(max(1, min(p.of.Count(setBatch), fits))),
		Partitions: o.Topic.Partitions,
		Create:     func(*struct{}) {}, Fill: func(*driver.Batched[struct{}]) {},
		Deliver: s.deliver, Abort: s.abort,
	})
	return s
}

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error { return p.Lanes.Close(ctx) })
}

// deliver sends a batch, an MPUB for each of its partitions, and then reads the answers.
func (s *sender) deliver(life context.Context, batch []*driver.Batched[struct{}]) {
	k, err := s.connection(life)
	if err != nil {
		s.EndAll(batch, err)
		return
	}
	for _, one := range batch {
		i := one.Message.Partition
		s.groups[i] = append(s.groups[i], one)
	}
	for i, group := range s.groups {
		if len(group) > 0 {
			k.publish(topicOf(s.of.topic.Name, i), group)
		}
	}
	_ = k.raw.SetDeadline(time.Now().Add(s.of.of.Duration(setRequest))) // Flush reports it
	lost := k.out.Flush()
	for i, group := range s.groups {
		if len(group) == 0 {
			continue
		}
		if lost == nil {
			_, lost = k.answer()
			err = outcome(life, lost)
		} else {
			err = unanswered(life, lost)
		}
		s.EndAll(group, err)
		s.groups[i] = group[:0]
	}
	if lost != nil { // nsqd ends the connection after an error
		s.drop(k)
	}
}

// publish writes an MPUB. Flush reports errors.
func (c *conn) publish(topic string, group []*driver.Batched[struct{}]) {
	c.write("MPUB "+topic, nil)
	size := 4
	for _, one := range group {
		size += 4 + len(one.Message.Payload)
	}
	c.size(size)
	c.size(len(group))
	for _, one := range group {
		c.size(len(one.Message.Payload))
		_, _ = c.out.Write(one.Message.Payload)
	}
}

// outcome returns the result of the messages whose MPUB was answered, or lost its connection. nsqd
// has none of them after an error about the command, and may have some if it failed to store them.
func outcome(life context.Context, err error) error {
	var refused refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !strings.HasPrefix(string(refused), "E_MPUB_FAILED"):
		return fmt.Errorf("nsqd refuses the messages: %w", err)
	}
	return unanswered(life, err)
}

// unanswered returns the result of messages without an answer.
func unanswered(life context.Context, err error) error {
	if life.Err() != nil {
		return driver.ErrUnanswered
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

// connection returns the connection, a new one if necessary. After an error nothing was sent.
func (s *sender) connection(life context.Context) (*conn, error) {
	if s.conn != nil {
		return s.conn, nil
	}
	if s.failed != nil && time.Since(s.tried) < dialPause {
		return nil, s.failed
	}
	k, err := s.of.of.dial(life, s.endpoint, identity{HeartbeatMs: -1})
	s.tried, s.failed = time.Now(), err
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		k.cut()
		return nil, driver.ErrProducerClosed
	}
	s.conn = k
	return k, nil
}

func (s *sender) drop(k *conn) {
	k.cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conn = nil
}

// abort ends the connection.
func (s *sender) abort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn != nil {
		s.conn.cut()
	}
	return nil
}
