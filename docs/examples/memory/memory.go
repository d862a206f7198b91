package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/systems"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func init() { systems.Add(New()) }

// Memory is the system. Its connections share one broker.
type Memory struct {
	mu     sync.Mutex
	broker *broker
}

// New returns the system with an empty broker.
func New() *Memory { return &Memory{broker: newBroker()} }

var declared = system.MustSettings(`
most_waiting count 1M 1..100M
    how many messages wait in a subscription at most; further ones are refused
`)

// Describe says what a user can ask for.
func (*Memory) Describe() system.Description {
	const volatile = "the broker has one copy, in memory"
	return system.Description{
		Name: "memory", Summary: "queues in plimsoll's own memory: an example of a driver",
		Client: "in process",
		Terms: driver.Terms{
			Topic: "a name", Partition: "a number on each message", Key: "sent along",
			Subscription: "a queue of messages", Consumer: "a goroutine that takes them",
			Acknowledgement: "the message is in each queue", Backlog: "length of the queues",
		}.List(),
		Levels: map[workload.Level]system.Guarantee{
			workload.SyncSync:   {Refusal: volatile},
			workload.SyncAsync:  {Refusal: volatile},
			workload.AsyncSync:  {Refusal: volatile},
			workload.AsyncAsync: {How: volatile},
		},
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce},
		Settings: declared,
		Clients: map[workload.Clients]system.Aim{
			workload.ClientsDefault:    {How: "a producer waits for nothing"},
			workload.ClientsLatency:    {How: "a producer waits for nothing"},
			workload.ClientsThroughput: {How: "a producer waits for nothing"},
		},
		Redelivery:    system.NeverRedelivered("a consumer has each message for itself"),
		RefuseReturns: system.Always(""),
		Unordered:     system.Always("consumers share a queue"),
	}
}

// Check returns what contradicts a request.
func (m *Memory) Check(c system.Check) error {
	bad := driver.CheckLevel(m.Describe(), c.Durability)
	return append(bad, c.Settings.OutOfRange(declared)...).Err()
}

// Renew gives the next connection an empty broker.
func (m *Memory) Renew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broker = newBroker()
}

// Connect connects to the broker.
func (m *Memory) Connect(_ context.Context, o system.Options) (system.Cluster, error) {
	err := m.Check(system.Check{Settings: o.Settings, Durability: o.Durability})
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return &cluster{broker: m.broker, options: o}, nil
}

// broker has the topics.
type broker struct {
	mu     sync.Mutex
	topics map[string]map[string]*queue // the queue of each subscription
}

func newBroker() *broker { return &broker{topics: make(map[string]map[string]*queue)} }

// of calls do with a topic's subscriptions.
func (b *broker) of(topic string, do func(map[string]*queue)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	found, exists := b.topics[topic]
	if !exists {
		return fmt.Errorf("topic %s does not exist", topic)
	}
	do(found)
	return nil
}

type cluster struct {
	broker  *broker
	options system.Options
	clients driver.Clients
}

func (c *cluster) CreateTopic(_ context.Context, t system.Topic) error {
	c.broker.mu.Lock()
	defer c.broker.mu.Unlock()
	if _, exists := c.broker.topics[t.Name]; exists {
		return fmt.Errorf("topic %s exists already", t.Name)
	}
	c.broker.topics[t.Name] = make(map[string]*queue)
	return nil
}

func (c *cluster) DeleteTopic(_ context.Context, t system.Topic) error {
	return c.broker.of(t.Name, func(map[string]*queue) { delete(c.broker.topics, t.Name) })
}

func (c *cluster) ReadDurability(_ context.Context, topics []system.Topic) (system.Evidence,
	error) {
	r := &driver.Reading{Level: c.options.Durability}
	for _, t := range topics {
		var subscriptions int
		err := c.broker.of(t.Name, func(all map[string]*queue) { subscriptions = len(all) })
		if err != nil {
			return system.Evidence{}, err
		}
		r.Add(t.Name, "subscriptions", strconv.Itoa(subscriptions), "memory")
	}
	r.Copies(1)
	return r.Evidence(), nil
}

func (c *cluster) ServerVersions(context.Context) ([]string, error) { return nil, nil }

func (c *cluster) Close(ctx context.Context) error { return c.clients.Close(ctx) }

// queue has the messages of a subscription that no consumer has yet.
type queue struct {
	sync.Mutex
	changed *sync.Cond
	waiting []system.Received
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(q)
	return q
}

// producer sends within the call.
type producer struct {
	of      *cluster
	topic   system.Topic
	closing driver.Closing
	mu      sync.Mutex
	closed  bool
}

func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	if err := c.broker.of(o.Topic.Name, func(map[string]*queue) {}); err != nil {
		return nil, err
	}
	p := &producer{of: c, topic: o.Topic}
	return p, c.clients.Keep(ctx, p)
}

func (p *producer) Send(m *system.Message) { m.Done(p.send(m)) }

func (p *producer) send(m *system.Message) error {
	if err := driver.CheckPartition(m, p.topic.Partitions); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return driver.ErrProducerClosed
	}
	most := int(p.of.options.Settings.Count("most_waiting"))
	var full error
	err := p.of.broker.of(p.topic.Name, func(all map[string]*queue) {
		for name, q := range all {
			if full = q.add(m, most); full != nil {
				full = fmt.Errorf("subscription %s: %w", name, full)
				return
			}
		}
	})
	if err == nil {
		err = full
	}
	return err
}

// add copies a message, which belongs to its sender again after Done.
func (q *queue) add(m *system.Message, most int) error {
	q.Lock()
	defer q.Unlock()
	if len(q.waiting) >= most {
		return fmt.Errorf("%d messages wait already (most_waiting)", most)
	}
	q.waiting = append(q.waiting, system.Received{Payload: slices.Clone(m.Payload),
		Key: slices.Clone(m.Key), Partition: m.Partition})
	q.changed.Signal()
	return nil
}

func (p *producer) Close(context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.closed = true
		return nil
	})
}

// consumer takes messages in a goroutine of its own.
type consumer struct {
	driver.Receiver
	of      *cluster
	queue   *queue
	closing driver.Closing
	closed  bool // the queue's lock guards it
}

func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	r := &consumer{Receiver: driver.Receiver{Options: o}, of: c}
	err := c.broker.of(o.Topic.Name, func(all map[string]*queue) {
		if all[o.Subscription] == nil {
			all[o.Subscription] = newQueue()
		}
		r.queue = all[o.Subscription]
	})
	if err != nil {
		return nil, err
	}
	r.Begin(r.run)
	return r, c.clients.Keep(ctx, r)
}

// run hands over messages until the consumer is closed. A message that is not handled goes back.
func (r *consumer) run() {
	for {
		m, ok := r.next()
		if !ok {
			return
		}
		handled, back := r.Take(m)
		if (back || !handled) && r.Options.Delivery != workload.AtMostOnce {
			r.queue.Lock()
			r.queue.waiting = append(r.queue.waiting, m)
			r.queue.Unlock()
			r.queue.changed.Signal()
		}
	}
}

// next waits for a message; ok is false when the consumer is closed.
func (r *consumer) next() (m system.Received, ok bool) {
	r.queue.Lock()
	defer r.queue.Unlock()
	for len(r.queue.waiting) == 0 && !r.closed {
		r.queue.changed.Wait()
	}
	if r.closed {
		return m, false
	}
	m = r.queue.waiting[0]
	r.queue.waiting[0] = system.Received{} // frees the payload before the slice moves
	r.queue.waiting = r.queue.waiting[1:]
	return m, true
}

func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		r.queue.Lock()
		r.closed = true
		r.queue.Unlock()
		r.queue.changed.Broadcast()
		return r.End(ctx)
	})
}
