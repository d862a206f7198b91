package sim

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	_ system.System           = (*System)(nil)
	_ system.Embedded         = (*System)(nil)
	_ system.Checker          = (*System)(nil)
	_ system.Cluster          = (*cluster)(nil)
	_ system.DurabilityReader = (*cluster)(nil)
	_ system.VersionReader    = (*cluster)(nil)
	_ system.TopicDeleter     = (*cluster)(nil)
	_ system.Replayer         = (*cluster)(nil)
)

// System is the simulated system on a clock.
type System struct {
	clock clock.Clock
	// Planted is told, when a cluster closes, what it did to messages.
	planted func(Planted)
}

// Planted is what a cluster did to messages on purpose.
type Planted struct {
	Lost, Duplicated, Swapped, Failed int64
	Unanswered                        int64         // delivered, and never acknowledged
	LostMessages                      []LostMessage // the first of them
}

// New returns the system on a clock. planted, if not nil, is told what each
// cluster did to messages when it closes.
func New(c clock.Clock, planted func(Planted)) *System {
	return &System{clock: c, planted: planted}
}

// Embedded marks the system as one that lives in this process.
func (*System) Embedded() {}

// Describe says what can be set.
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
		},
		Levels: map[workload.Level]system.Guarantee{
			workload.SyncSync: anything, workload.SyncAsync: anything,
			workload.AsyncSync: anything, workload.AsyncAsync: anything,
		},
		Delivery: []workload.Delivery{workload.AtMostOnce, workload.AtLeastOnce},
		Settings: settings,
	}
}

var settings = []system.Setting{
	{Name: "service", Kind: system.Text, Default: "constant", OneOf: []string{"constant", "exponential", "lognormal", "bimodal"},
		Doc: "distribution of the time from a message's turn to its acknowledgement"},
	{Name: "service_time", Kind: system.Duration, Default: "200us", Doc: "constant: the time; exponential: the mean; lognormal: the median; bimodal: the fast time"},
	{Name: "service_sigma", Kind: system.Number, Default: "0.5", Doc: "lognormal: standard deviation of the logarithm"},
	{Name: "service_slow", Kind: system.Duration, Default: "10ms", Doc: "bimodal: the slow time"},
	{Name: "service_slow_share", Kind: system.Number, Default: "0.01", Doc: "bimodal: share of messages that take the slow time"},
	{Name: "capacity", Kind: system.Rate, Default: "0/s", Doc: "messages per second that get their turn, one after another; 0: all at once"},
	{Name: "delivery_delay", Kind: system.Duration, Default: "50us", Doc: "time from acknowledgement to delivery"},
	{Name: "stall_every", Kind: system.Duration, Default: "0s", Doc: "period of stalls; 0: none"},
	{Name: "stall_for", Kind: system.Duration, Default: "0s", Doc: "length of the stall at the end of each period: nothing is answered or delivered"},
	{Name: "lose_per_million", Kind: system.Count, Default: "0", Doc: "messages acknowledged and never delivered, in each million"},
	{Name: "duplicate_per_million", Kind: system.Count, Default: "0", Doc: "messages delivered twice, in each million"},
	{Name: "swap_per_million", Kind: system.Count, Default: "0", Doc: "messages delivered after the one that follows them, in each million"},
	{Name: "fail_per_million", Kind: system.Count, Default: "0", Doc: "messages refused, in each million"},
	{Name: "drain_rate", Kind: system.Rate, Default: "0/s", Doc: "messages per second that a subscription gets at most; 0: all that there are"},
	{Name: "retain", Kind: system.Bool, Default: "false", Doc: "keep what was delivered: a new subscription begins at the topic's first message"},
	{Name: "fault_messages", Kind: system.Text, Default: "waiting", OneOf: []string{"waiting", "refused"},
		Doc: "what becomes of messages while a fault lasts; a full disk refuses them, a slow one makes them late"},
	{Name: "fault_recovery", Kind: system.Duration, Default: "0s", Doc: "time from the heal of a fault until messages go on that waited"},
	{Name: "fault_slow", Kind: system.Duration, Default: "20ms", Doc: "what a slow disk adds to each service time"},
	{Name: "fault_lose", Kind: system.Count, Default: "0", Doc: "messages acknowledged and never delivered: the last ones before each fault"},
	{Name: "fault_duplicate", Kind: system.Count, Default: "0", Doc: "messages delivered twice, before each fault"},
	{Name: "fault_swap", Kind: system.Count, Default: "0", Doc: "messages delivered after the one that follows them, before each fault"},
	{Name: "fault_unknown", Kind: system.Count, Default: "0", Doc: "messages delivered and never acknowledged, before each fault"},
	{Name: "buffer", Kind: system.Bytes, Default: "256MB", Doc: "most bytes kept for subscriptions that have not had them, and by retain; more are refused"},
	{Name: "seed", Kind: system.Count, Default: "1", Doc: "seed of all that is random"},
}

// Check refuses settings that cannot be simulated as they are.
func (*System) Check(c system.Check) error {
	s := c.Settings
	if every, stall := s.Duration("stall_every"), s.Duration("stall_for"); every > 0 && stall >= every {
		return fmt.Errorf("setting stall_for (%s) must be shorter than stall_every (%s)", stall, every)
	}
	if share := s.Number("service_slow_share"); share < 0 || share > 1 {
		return fmt.Errorf("setting service_slow_share must be from 0 to 1, not %v", share)
	}
	if sigma := s.Number("service_sigma"); sigma < 0 || sigma > 10 {
		return fmt.Errorf("setting service_sigma must be from 0 to 10, not %v", sigma)
	}
	for _, name := range []string{"capacity", "drain_rate"} {
		if rate := s.Rate(name); rate > 0 && rate < 0.001 {
			return fmt.Errorf("setting %s must be 0, or at least 0.001/s", name)
		}
	}
	for _, name := range []string{"lose_per_million", "duplicate_per_million", "swap_per_million", "fail_per_million"} {
		if n := s.Count(name); n > maxPlanted {
			return fmt.Errorf("setting %s must be at most %d, not %d", name, maxPlanted, n)
		}
	}
	for _, name := range []string{"fault_lose", "fault_duplicate", "fault_swap", "fault_unknown"} {
		if n := s.Count(name); n > maxPlanted {
			return fmt.Errorf("setting %s must be at most %d, not %d", name, maxPlanted, n)
		}
	}
	return nil
}

// Connect starts a simulated cluster.
func (s *System) Connect(_ context.Context, o system.Options) (system.Cluster, error) {
	if err := s.Check(system.Check{Settings: o.Settings}); err != nil {
		return nil, err
	}
	c := &cluster{level: o.Durability, line: newLine(s.clock, o.Settings), topics: make(map[string]*topic), planted: s.planted}
	started := make(chan struct{})
	go c.line.run(started)
	<-started
	return c, nil
}

var errClosed = fmt.Errorf("closed before the message was answered: %w", system.ErrUnknown)

// cluster is a simulated cluster. The line's lock guards its topics.
type cluster struct {
	level   workload.Level
	line    *line
	topics  map[string]*topic
	planted func(Planted)

	producers []*producer
}

func (c *cluster) CreateTopic(_ context.Context, t system.Topic) error {
	c.line.Lock()
	defer c.line.Unlock()
	if _, taken := c.topics[t.Name]; taken {
		return fmt.Errorf("create topic %s: it exists already", t.Name)
	}
	c.topics[t.Name] = &topic{partitions: make([]queue[*slot], t.Partitions), subscriptions: make(map[string]*subscription)}
	return nil
}

func (c *cluster) DeleteTopic(_ context.Context, t system.Topic) error {
	c.line.Lock()
	defer c.line.Unlock()
	if _, there := c.topics[t.Name]; !there {
		return fmt.Errorf("delete topic %s: there is none of that name", t.Name)
	}
	delete(c.topics, t.Name)
	return nil
}

func (c *cluster) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer, error) {
	c.line.Lock()
	defer c.line.Unlock()
	t, there := c.topics[o.Topic.Name]
	if !there {
		return nil, fmt.Errorf("open a producer of topic %s: there is none of that name", o.Topic.Name)
	}
	p := &producer{line: c.line, topic: t, held: make([]*record, len(t.partitions)), index: o.Index, sent: make([]int64, len(t.partitions)), idle: make(chan struct{}, 1)}
	c.producers = append(c.producers, p)
	return p, nil
}

func (c *cluster) OpenConsumer(_ context.Context, o system.ConsumerOptions) (system.Consumer, error) {
	c.line.Lock()
	defer c.line.Unlock()
	t, there := c.topics[o.Topic.Name]
	if !there {
		return nil, fmt.Errorf("open a consumer of topic %s: there is none of that name", o.Topic.Name)
	}
	s := t.subscriptions[o.Subscription]
	if s == nil {
		s = &subscription{}
		t.subscriptions[o.Subscription] = s
		t.ordered = append(t.ordered, s)
		c.line.rewind(t, s)
	}
	k := &consumer{line: c.line, receive: o.Receive}
	s.consumers = append(s.consumers, k)
	c.line.drain(s, c.line.clock.Now()-c.line.startNs)
	c.line.wake()
	return k, nil
}

// OpenReplay has a subscription begin again, where messages are retained.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string, error) {
	if !c.line.retain {
		return nil, "", &system.Lacking{Reason: "what was delivered is not stored", Condition: "setting retain"}
	}
	c.line.Lock()
	if t := c.topics[o.Topic.Name]; t != nil && t.subscriptions[o.Subscription] != nil {
		c.line.rewind(t, t.subscriptions[o.Subscription])
	}
	c.line.Unlock()
	k, err := c.OpenConsumer(ctx, o)
	return k, "setting retain", err
}

func (c *cluster) Close(ctx context.Context) error {
	c.line.Lock()
	producers := c.producers
	c.line.Unlock()
	for _, p := range producers {
		if err := p.Close(ctx); err != nil {
			return err
		}
	}
	if c.line.stop() && c.planted != nil {
		c.planted(c.line.faults.planted)
	}
	return nil
}

func (c *cluster) ReadDurability(_ context.Context, topics []system.Topic) (system.Evidence, error) {
	e := system.Evidence{Level: c.level}
	for _, t := range topics {
		e.Facts = append(e.Facts, system.Fact{Where: t.Name, Name: "storage", Value: "none", Source: "simulated"})
	}
	return e, nil
}

func (c *cluster) ServerVersions(context.Context) ([]string, error) {
	return []string{"sim, in process"}, nil
}
