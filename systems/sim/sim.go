package sim

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// System is the simulated system on a clock.
type System struct {
	clock clock.Clock
	// planted is called when a cluster closes, with the faults that it planted.
	planted func(Planted)
	birth   *birth
}

// Planted counts the faults that a cluster planted into messages.
type Planted struct {
	// Failed counts those of aborted transactions too.
	Lost, Duplicated, Swapped, Failed int64
	// given back by consumers, and those of them that are never delivered again
	GivenBack, Forgotten int64
	// delivered, and reported to the sender as unknown
	Unanswered    int64
	NeverAnswered int64         // until the producer closed
	Misplaced     int64         // delivered as if from another partition
	LostMessages  []LostMessage // the first of them
	Transactions  PlantedTransactions
}

// PlantedTransactions counts the faults that a cluster planted into transactions.
type PlantedTransactions struct {
	Committed, Aborted int64
	AbortedVisible     int64 // aborted, and delivered whole
	Partial            int64 // committed or aborted, and delivered in part
	AbortedDelivered   int64 // messages of aborted transactions that were delivered
}

// New returns the system on a clock. planted, if not nil, is called when a cluster closes, with
// the faults that it planted.
func New(c clock.Clock, planted func(Planted)) *System {
	return &System{clock: c, planted: planted, birth: new(birth)}
}

// Embedded marks the system as one that runs inside this process.
func (*System) Embedded() {}

// Describe returns the system's terms, levels and settings.
func (*System) Describe() system.Description {
	anything := system.Guarantee{How: "simulated: nothing is stored, the level is taken as given"}
	return system.Description{
		Name:    "sim",
		Summary: "a simulated system whose truth is known, for testing plimsoll itself",
		Client:  "in process",
		Terms: []system.Term{
			{Word: "topic", Means: "a name"},
			{Word: "partition", Means: "a queue of arrivals, in order for each producer"},
			{Word: "subscription", Means: "a list of consumers that share the partitions"},
			{Word: "acknowledgement of a publish",
				Means: "its service time is over; exactly once: its transaction has committed"},
		},
		Levels: map[workload.Level]system.Guarantee{
			workload.SyncSync: anything, workload.SyncAsync: anything,
			workload.AsyncSync: anything, workload.AsyncAsync: anything,
		},
		Delivery: []workload.Delivery{workload.AtMostOnce, workload.AtLeastOnce,
			workload.ExactlyOnce},
		Settings: settings,
		Clients: map[workload.Clients]system.Aim{
			workload.ClientsDefault: {How: "a producer waits for nothing"},
			workload.ClientsLatency: {Sets: system.MustSet("linger=0s"),
				How: "a producer waits for nothing"},
			workload.ClientsThroughput: {Sets: system.MustSet("linger=20ms"),
				How: "a producer gathers messages for 20ms"},
		},
		Waits:          settingWaits,
		Redelivery:     redelivery,
		RefuseReturns:  refuseReturns,
		OwnsPartitions: ownsPartitions,
		Unordered:      unordered,
		RefuseAdding:   system.Always(""),
		RefuseExisting: system.Always(""), // each subscription has its own copy of every message
	}
}

// Connect starts a simulated cluster.
func (s *System) Connect(_ context.Context, o system.Options) (system.Cluster, error) {
	if err := s.Check(system.Check{Settings: o.Settings}); err != nil {
		return nil, err
	}
	c := &cluster{level: o.Durability, simulator: newSimulator(s.clock, o.Settings, s.birth),
		topics: make(map[string]*topic), planted: s.planted}
	started := make(chan struct{})
	go c.simulator.run(started)
	<-started
	return c, nil
}

var errClosed = fmt.Errorf("closed before the message was answered: %w", system.ErrUnknown)

// cluster is a simulated cluster. The simulator's lock guards its topics.
type cluster struct {
	level     workload.Level
	simulator *simulator
	topics    map[string]*topic
	planted   func(Planted)

	producers []*producer
	consumers []*consumer // that have goroutines
}

func (c *cluster) CreateTopic(_ context.Context, t system.Topic) error {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	if _, taken := c.topics[t.Name]; taken {
		return fmt.Errorf("create topic %s: it exists already", t.Name)
	}
	made := &topic{partitions: make([]queue[*slot], t.Partitions), first: t.Partitions,
		subscriptions: make(map[string]*subscription)}
	made.count.Store(int32(t.Partitions))
	c.topics[t.Name] = made
	return nil
}

func (c *cluster) DeleteTopic(_ context.Context, t system.Topic) error {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	if _, err := c.topicOf("delete", t); err != nil {
		return err
	}
	delete(c.topics, t.Name)
	return nil
}

// topicOf returns a topic that exists. The caller holds the simulator's lock.
func (c *cluster) topicOf(doing string, t system.Topic) (*topic, error) {
	found, exists := c.topics[t.Name]
	if !exists {
		return nil, fmt.Errorf("%s topic %s: no topic has that name", doing, t.Name)
	}
	return found, nil
}

func (c *cluster) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	t, err := c.topicOf("open a producer of", o.Topic)
	if err != nil {
		return nil, err
	}
	partitions := max(o.Topic.Partitions, len(t.partitions))
	p := &producer{
		simulator: c.simulator, topic: t, index: o.Index,
		transactional: o.Delivery == workload.ExactlyOnce,
		held:          make([]*record, partitions), sent: make([]int64, partitions),
		idle: make(chan struct{}, 1),
	}
	c.producers = append(c.producers, p)
	return p, nil
}

func (c *cluster) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	t, err := c.topicOf("open a consumer of", o.Topic)
	if err != nil {
		return nil, err
	}
	s := t.subscriptions[o.Subscription]
	if s == nil {
		s = &subscription{shared: c.simulator.shared}
		t.subscriptions[o.Subscription] = s
		t.ordered = append(t.ordered, s)
		if o.AtEnd {
			s.first = t.kept
		} else {
			c.simulator.rewind(t, s)
		}
	}
	if len(s.consumers) > 0 {
		s.rebalance(c.simulator)
	}
	k := newConsumer(c.simulator, s, o)
	s.consumers = append(s.consumers, k)
	if s.shared {
		c.consumers = append(c.consumers, k)
	}
	c.simulator.drain(s, c.simulator.clock.Now()-c.simulator.startNs)
	c.simulator.wake()
	return k, nil
}

// OpenReplay lets a subscription begin again, if messages are retained.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	if !c.simulator.retain {
		return nil, "", &system.NotSupported{Reason: "delivered messages are not stored",
			Condition: "setting retain"}
	}
	c.simulator.Lock()
	if t := c.topics[o.Topic.Name]; t != nil && t.subscriptions[o.Subscription] != nil {
		c.simulator.rewind(t, t.subscriptions[o.Subscription])
	}
	c.simulator.Unlock()
	k, err := c.OpenConsumer(ctx, o)
	return k, "setting retain", err
}

func (c *cluster) Close(ctx context.Context) error {
	c.simulator.Lock()
	producers, consumers := c.producers, c.consumers
	c.simulator.Unlock()
	for _, p := range producers {
		if err := p.Close(ctx); err != nil {
			return err
		}
	}
	for _, k := range consumers {
		if err := k.Close(ctx); err != nil {
			return err
		}
	}
	if c.simulator.stop() && c.planted != nil {
		c.planted(c.simulator.faults.planted)
	}
	return nil
}

func (c *cluster) ReadDurability(_ context.Context, topics []system.Topic) (system.Evidence,
	error) {
	e := system.Evidence{Level: c.level}
	for _, t := range topics {
		e.Facts = append(e.Facts,
			system.Fact{Where: t.Name, Name: "storage", Value: "none", Source: "simulated"})
	}
	return e, nil
}

// ReportLateness calls add with the lateness of each answer and each delivery.
func (c *cluster) ReportLateness(add func(lateNs int64)) {
	c.simulator.Lock()
	defer c.simulator.Unlock()
	c.simulator.late = add
}

func (c *cluster) ServerVersions(context.Context) ([]string, error) {
	return []string{"sim, in process"}, nil
}

// ownsPartitions says that each partition belongs to one consumer of a subscription, unless the
// consumers share a queue.
func ownsPartitions(s system.Settings) bool { return s.Text("shape") != shapeQueue }

// unordered says that consumers which share a queue keep no order.
func unordered(s system.Settings) (why string) {
	if s.Text("shape") == shapeQueue {
		return "consumers share a queue (shape)"
	}
	return ""
}

// refuseReturns says that only messages of a queue can be given back.
func refuseReturns(s system.Settings) (why string) {
	if s.Text("shape") != shapeQueue {
		return "no message of a log can be given back by itself: set shape: queue"
	}
	return ""
}
