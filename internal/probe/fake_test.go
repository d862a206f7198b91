package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// planted is the planted fault of a fake.
type planted string

const (
	nothing  planted = "nothing"
	reorders planted = "delivers each message after the one that follows it in its partition"
	deaf     planted = "delivers nothing"
	loses    planted = "loses every seventh message"
	doubles  planted = "delivers every message twice"
	forgets  planted = "forgets what a dead consumer held"
	merges   planted = "gives each message to one subscription only"
	hoards   planted = "gives all messages to the first consumer"
	learns   planted = "sees the second consumer of a subscription after 220 messages"
	copies   planted = "gives every message to each consumer of a subscription"
	refuses  planted = "refuses to make topics"
	hangs    planted = "does not answer when a consumer is opened"
	noPast   planted = "does not go back to the beginning"
	lacksAll planted = "has no capability, and says so"
	mute     planted = "has no capability, and does not say so"
)

// fake is a system in memory with planted faults.
type fake struct {
	plant planted

	mu     sync.Mutex
	topics map[string]*fakeTopic
}

type fakeTopic struct {
	log  []fakeMessage
	subs []*fakeSub
	held map[int32]*fakeMessage // reorders, by partition
}

type fakeMessage struct {
	number  int
	payload string
}

type fakeSub struct {
	name      string
	waiting   []fakeMessage
	consumers []*fakeConsumer
	next      int
	given     int
}

// fakeConsumer receives from its inbox, on its own goroutine.
type fakeConsumer struct {
	of     *fake
	sub    *fakeSub
	o      system.ConsumerOptions
	inbox  []fakeMessage
	busy   bool // the first of the inbox is being handled
	closed bool
	wake   sync.Cond
	ended  chan struct{}
}

func newFake(plant planted) *fake { return &fake{plant: plant, topics: map[string]*fakeTopic{}} }

func (f *fake) Describe() system.Description {
	d := system.Description{Name: "fake", Client: "in memory",
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce}}
	if f.plant != mute {
		d.Capabilities = f.capabilities
	}
	return d
}

// capabilities states that the fake has all that is not tried, or nothing.
func (f *fake) capabilities(system.Options) (all []system.Statement) {
	if f.plant == lacksAll {
		all = append(all, system.Lacks(system.Replay, "no protocol has it", "a book"))
	}
	for _, r := range rows {
		switch {
		case r.try != nil:
		case f.plant == lacksAll:
			all = append(all, system.Lacks(r.Name, "no protocol has it",
				"a book"))
		default:
			all = append(all, system.Has(r.Name, "it does", "a book"))
		}
	}
	return all
}

func (f *fake) Connect(context.Context, system.Options) (system.Cluster, error) {
	c := &fakeCluster{f}
	if f.plant == lacksAll || f.plant == mute {
		return c, nil
	}
	return &able{c}, nil
}

func (f *fake) Check(system.Check) error { return nil }

// fakeCluster implements only the contract.
type fakeCluster struct{ *fake }

func (c *fakeCluster) ServerVersions(context.Context) ([]string, error) { return nil, nil }

func (c *fakeCluster) ReadDurability(context.Context, []system.Topic) (system.Evidence, error) {
	return system.Evidence{}, nil
}

func (c *fakeCluster) Close(context.Context) error { return nil }

func (c *fakeCluster) CreateTopic(_ context.Context, t system.Topic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plant == refuses && len(c.topics) > 0 {
		return errors.New("there is no room")
	}
	c.topics[t.Name] = &fakeTopic{held: map[int32]*fakeMessage{}}
	return nil
}

func (c *fakeCluster) DeleteTopic(_ context.Context, t system.Topic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.topics, t.Name)
	return nil
}

// publish is called with the lock held.
func (f *fake) publish(t *fakeTopic, partition int32, payload string) {
	m := fakeMessage{number: len(t.log), payload: payload}
	t.log = append(t.log, m)
	switch f.plant {
	case deaf:
		return
	case loses:
		if m.number%7 == 3 {
			return
		}
	case reorders:
		if t.held[partition] == nil {
			t.held[partition] = &m
			return
		}
		f.spread(t, m)
		m, t.held[partition] = *t.held[partition], nil
	case doubles:
		f.spread(t, m)
	}
	f.spread(t, m)
}

func (f *fake) spread(t *fakeTopic, m fakeMessage) {
	for i, s := range t.subs {
		if f.plant == merges && m.number%len(t.subs) != i {
			continue
		}
		s.give(f.plant, m)
	}
}

func (s *fakeSub) give(plant planted, m fakeMessage) {
	if len(s.consumers) == 0 {
		s.waiting = append(s.waiting, m)
		return
	}
	for i, k := range s.consumers {
		if plant == copies || i == s.next%len(s.consumers) {
			k.inbox = append(k.inbox, m)
			k.wake.Signal()
		}
	}
	if s.given++; plant != hoards && (plant != learns || s.given > 220) {
		s.next++
	}
}

func (c *fakeCluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	error) {
	if c.plant == hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.topics[o.Topic.Name]
	if t == nil {
		return nil, fmt.Errorf("there is no topic %s", o.Topic.Name)
	}
	i := slices.IndexFunc(t.subs, func(s *fakeSub) bool { return s.name == o.Subscription })
	if i < 0 {
		i = len(t.subs)
		t.subs = append(t.subs, &fakeSub{name: o.Subscription})
	}
	return c.start(t.subs[i], o), nil
}

func (f *fake) start(s *fakeSub, o system.ConsumerOptions) *fakeConsumer {
	k := &fakeConsumer{of: f, sub: s, o: o, ended: make(chan struct{})}
	k.wake.L = &f.mu
	s.consumers = append(s.consumers, k)
	k.inbox, s.waiting = s.waiting, nil
	go k.run()
	return k
}

func (k *fakeConsumer) run() {
	defer close(k.ended)
	k.of.mu.Lock()
	defer k.of.mu.Unlock()
	for {
		for len(k.inbox) == 0 && !k.closed {
			k.wake.Wait()
		}
		if k.closed {
			return
		}
		k.busy = true
		m := k.inbox[0]
		k.of.mu.Unlock()
		k.o.Receive(system.Received{Payload: []byte(m.payload), Partition: -1})
		k.of.mu.Lock()
		if k.busy {
			k.busy, k.inbox = false, k.inbox[1:]
		}
	}
}

// Close without time gives back unhandled messages.
func (k *fakeConsumer) Close(ctx context.Context) error {
	k.of.mu.Lock()
	if k.closed {
		k.of.mu.Unlock()
		return nil
	}
	k.closed = true
	k.wake.Signal()
	cut := k.busy && ctx.Err() != nil
	left := k.inbox
	if k.busy && !cut {
		left = left[1:]
	}
	k.busy = k.busy && !cut
	if cut && k.of.plant == forgets {
		left = left[1:]
	}
	if k.o.Delivery == workload.AtMostOnce {
		left = nil
	}
	k.inbox = slices.Clone(k.inbox)
	k.sub.consumers = slices.DeleteFunc(k.sub.consumers,
		func(one *fakeConsumer) bool { return one == k })
	for _, m := range left {
		k.sub.give(k.of.plant, m)
	}
	k.of.mu.Unlock()
	if !cut {
		<-k.ended
	}
	return ctx.Err()
}

type fakeProducer struct {
	of *fake
	t  *fakeTopic
}

func (c *fakeCluster) OpenProducer(_ context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &fakeProducer{c.fake, c.topics[o.Topic.Name]}, nil
}

func (p *fakeProducer) Send(m *system.Message) {
	p.of.mu.Lock()
	p.of.publish(p.t, m.Partition, string(m.Payload))
	p.of.mu.Unlock()
	m.Done(nil)
}

func (p *fakeProducer) Close(context.Context) error { return nil }

// able is a fake whose subscriptions can begin again.
type able struct{ *fakeCluster }

func (c *able) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string,
	error) {
	k, err := c.OpenConsumer(ctx, o)
	if err == nil && c.plant != noPast {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, m := range c.topics[o.Topic.Name].log {
			k.(*fakeConsumer).sub.give(c.plant, m)
		}
	}
	return k, "", err
}
