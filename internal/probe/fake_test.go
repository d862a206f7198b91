package probe

import (
	"cmp"
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
	nothing      planted = "nothing"
	reorders     planted = "delivers each message after the one that follows it in its partition"
	deaf         planted = "delivers nothing"
	loses        planted = "loses every seventh message"
	doubles      planted = "delivers every message twice"
	forgets      planted = "forgets what a dead consumer held"
	merges       planted = "gives each message to one subscription only"
	hoards       planted = "gives all messages to the first consumer"
	copies       planted = "gives every message to each consumer of a subscription"
	refuses      planted = "refuses to make topics"
	hangs        planted = "does not answer when a consumer is opened"
	noPast       planted = "does not go back to the beginning"
	misroutes    planted = "routes every message to all"
	immortal     planted = "keeps messages for ever"
	levels       planted = "does not look at priorities"
	hasty        planted = "delivers delayed messages at once"
	discards     planted = "drops what is rejected"
	boundless    planted = "takes everything"
	commitsAll   planted = "commits what was aborted"
	takesTwice   planted = "takes a message twice"
	silentRefuse planted = "does not tell of a refusal"
	lacksAll     planted = "has no capability, and says so"
	mute         planted = "has no capability, and does not say so"
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
	return system.Description{Name: "fake", Client: "in memory",
		Delivery: []workload.Delivery{workload.AtLeastOnce, workload.AtMostOnce}}
}

func (f *fake) Connect(context.Context, system.Options) (system.Cluster, error) {
	c := &fakeCluster{f}
	if f.plant == lacksAll {
		return &abstaining{c}, nil
	}
	if f.plant == mute {
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
	if plant != hoards {
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

// abstaining has no capability and gives reasons.
type abstaining struct{ *fakeCluster }

var (
	_ system.Prober = (*abstaining)(nil)

	errLacks = &system.NotSupported{Reason: "no protocol has it"}
)

func (*abstaining) OpenReplay(
	context.Context, system.ConsumerOptions,
) (system.Consumer, string, error) {
	return nil, "", errLacks
}

func (*abstaining) OpenShared(
	context.Context, system.ConsumerOptions,
) (system.Consumer, string, error) {
	return nil, "", errLacks
}

func (*abstaining) PublishAcked(
	context.Context, system.Topic, system.AckKind, []byte,
) (string, error) {
	return "", errLacks
}

func (*abstaining) OpenRoutes(context.Context, system.Routing) (system.Publisher, string, error) {
	return nil, "", errLacks
}

func (*abstaining) OpenMailbox(
	context.Context, system.Topic, system.Feature,
) (system.Mailbox, string, error) {
	return nil, "", errLacks
}

func (*abstaining) OpenRejecting(
	context.Context, system.Topic, func([]byte), func([]byte),
) (system.Publisher, string, error) {
	return nil, "", errLacks
}

func (*abstaining) PublishBeyond(
	context.Context, system.Topic, int,
) (system.BackPressure, string, error) {
	return system.BackPressure{}, "", errLacks
}

func (*abstaining) Transact(context.Context, system.Topic, [][]byte, bool) (string, error) {
	return "", errLacks
}

func (*abstaining) PublishTwice(context.Context, system.Topic, []byte) (string, string, error) {
	return "", "", errLacks
}

// sorted returns a box's content in the order of delivery.
func sorted(plant planted, all []system.Envelope) []system.Envelope {
	all = slices.Clone(all)
	if plant != levels {
		slices.SortStableFunc(all,
			func(a, b system.Envelope) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	return all
}
