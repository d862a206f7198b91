package rocketmq

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// bodyMost is the most that a batch may have: below the brokers' maxMessageSize, 4 MB by default.
const bodyMost = 3 << 20

// producer sends to one topic, to each broker by itself.
type producer struct {
	driver.Lanes[struct{}]
	of      *cluster
	topic   system.Topic
	places  []place
	closing driver.Closing
}

type batched = driver.Batched[struct{}]

// sender sends a producer's messages to one broker.
type sender struct {
	*driver.Batches[struct{}]
	of     *producer
	broker string
	groups [][]*batched // of the batch under way, by partition
	body   []byte

	mu     sync.Mutex // guards conn against abort; the goroutine that delivers changes it
	conn   *conn      // nil: none
	closed bool
}

// OpenProducer opens a producer with its own connections.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	places, err := c.found(ctx, o.Topic.Name)
	if err != nil {
		return nil, err
	}
	p := &producer{of: c, topic: o.Topic, places: places}
	lanes := make(map[string]*driver.Batches[struct{}]) // by broker
	for _, at := range places {
		if lanes[at.broker] == nil {
			lanes[at.broker] = p.newSender(o, at.broker).Batches
		}
		p.Lanes = append(p.Lanes, lanes[at.broker])
	}
	return p, c.clients.Keep(ctx, p)
}

func (p *producer) newSender(o system.ProducerOptions, broker string) *sender {
	s := &sender{of: p, broker: broker, groups: make([][]*batched, o.Topic.Partitions)}
	fits := bodyMost / (o.MessageMax + batchedOverhead + keyMost)
	s.Batches = driver.NewBatches(driver.Batching[struct{}]{
		InFlight: o.InFlight, Linger: p.of.Duration(setLinger), Answered: o.Answered,
		Most:       max(1, min(int(p.of.Count(setBatch)), fits)),
		Partitions: o.Topic.Partitions,
		Create:     func(*struct{}) {}, Fill: func(*batched) {},
		Deliver: s.deliver, Abort: s.abort,
	})
	return s
}

// keyMost is a message's part in bodyMost for its key.
const keyMost = 256

// Close waits within ctx for the outstanding answers.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error { return p.Lanes.Close(ctx) })
}

// deliver sends a batch, a request for each of its partitions, and reads the answers. Brokers
// handle requests in no order, so a partition has one request under way. What no broker has
// received is sent again, for delivery_timeout.
func (s *sender) deliver(life context.Context, batch []*batched) {
	for _, one := range batch {
		i := one.Message.Partition
		s.groups[i] = append(s.groups[i], one)
	}
	deadline := time.Now().Add(s.of.of.Duration(setDelivery))
	for left := true; left; {
		k, err := s.connection(life)
		last := life.Err() != nil || time.Now().After(deadline)
		left = s.round(life, k, err, last)
		if left {
			clock.Sleep(life, driver.RetryPause)
		}
	}
}

// round sends all groups and reports the outcome of each, but not of those of which no broker has
// anything, unless this is the last round. left: there are such.
func (s *sender) round(life context.Context, k *conn, err error, last bool) (left bool) {
	answers := make([]pending, len(s.groups))
	failed := make([]error, len(s.groups))
	for i, group := range s.groups {
		if failed[i] = err; err == nil && len(group) > 0 {
			answers[i], failed[i] = s.publish(k, i, group)
		}
	}
	ctx, cancel := context.WithTimeout(life, s.of.of.Duration(setRequest))
	defer cancel()
	for i, group := range s.groups {
		if len(group) == 0 {
			continue
		}
		if failed[i] == nil {
			_, failed[i] = answers[i].await(ctx)
		}
		if failed[i] != nil && k != nil && !says(failed[i], definite...) {
			k.cut() // the next round connects again
		}
		if unsent(failed[i]) && !last {
			left = true
			continue
		}
		s.EndAll(group, s.outcome(life, failed[i]))
		s.groups[i] = group[:0]
	}
	return left
}

// publish sends a partition's messages in one request.
func (s *sender) publish(k *conn, partition int, group []*batched) (pending, error) {
	s.body = s.body[:0]
	for _, one := range group {
		s.body = appendBatched(s.body, one.Message.Payload, one.Message.Key)
	}
	return k.begin(askSendBatch, fields{
		"a": "plimsoll", "b": s.of.topic.Name, "c": "TBW102", "d": "4",
		"e": strconv.Itoa(s.of.places[partition].queue), "f": "0",
		"g": strconv.FormatInt(time.Now().UnixMilli(), 10), "h": "0", "i": "", "j": "0",
		"k": "false", "m": "true", "n": s.broker,
	}, s.body)
}

// unsent reports whether no broker has a request's messages, nor has refused them for good: there
// was no connection, the broker does not write, because it starts, ends or is a slave, or the
// request waited too long for a thread.
func unsent(err error) bool {
	return errors.Is(err, errUnsent) || says(err, saysUnavailable, saysBusy)
}

// unknowns are answers about messages that the broker has stored and that are not as safe as the
// level says, or that it may have stored.
var unknowns = []int{saysError, saysFlushTimeout, saysNoSlave, saysSlaveTimeout}

// definite are answers after which the connection is as good as before.
var definite = append([]int{saysNoTopic, saysBusy}, unknowns...)

// outcome classifies the error of a request.
func (s *sender) outcome(life context.Context, err error) error {
	var refused *refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !says(err, unknowns...):
		return fmt.Errorf("the broker refuses the messages: %w", err)
	case errors.Is(err, errUnsent):
		return s.of.of.explain(err)
	case life.Err() != nil && refused == nil:
		return driver.ErrUnanswered
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

// connection returns the connection to the broker's master, a new one if necessary.
func (s *sender) connection(life context.Context) (*conn, error) {
	if s.conn != nil && s.conn.alive() {
		return s.conn, nil
	}
	at, err := s.of.of.master(life, s.broker)
	if err != nil {
		return nil, err
	}
	k, err := s.of.of.dial(life, at, s.of.of.options.Credentials, nil)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = k.close() // it never fails
		return nil, errUnsent
	}
	if s.conn != nil {
		_ = s.conn.close()
	}
	s.conn = k
	return k, nil
}

// abort ends the connection.
func (s *sender) abort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.conn != nil {
		return s.conn.close()
	}
	return nil
}
