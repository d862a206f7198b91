package load

import (
	"context"
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// maxOpening bounds the clients that open at the same time.
const maxOpening = 32

// Open opens every consumer of the share, then every producer, many at a time. After an error the
// cluster's Close ends the opened ones.
func (e *Engine) Open(ctx context.Context, c system.Cluster) error {
	w := &e.plan.Workload
	consumers, progress := e.newConsumers(0, e.prompt()), e.progress()
	err := system.Each(ctx, len(consumers), maxOpening,
		Counting(progress, "opened %s of %s consumers",
			len(consumers)), func(ctx context.Context, i int) error {
			return e.openConsumer(ctx, c, consumers[i])
		})
	if err != nil {
		return err
	}
	var n int
	e.first, e.step, n = e.plan.Share.producers(w.Topics * w.Producers)
	producers := make([]*producer, n)
	err = system.Each(ctx, len(producers), maxOpening,
		Counting(progress, "opened %s of %s producers",
			len(producers)), func(ctx context.Context, i int) (err error) {
			index := e.producerIndex(i)
			if producers[i], err = e.openProducer(ctx, c, index, i); err != nil {
				return fmt.Errorf("open producer %d: %w", index, err)
			}
			return nil
		})
	if err != nil {
		return err
	}
	e.consumers, e.producers = consumers, producers
	if err := settle(ctx, e.consumers); err != nil {
		return err
	}
	return e.reserve(ctx, c)
}

// producerIndex is the index among all producers of one of the share's.
func (e *Engine) producerIndex(own int) int { return e.first + own*e.step }

// newConsumers returns the share's consumers of some of each topic's subscriptions, none of
// which is open.
func (e *Engine) newConsumers(subscriptionFrom, subscriptionTo int) (all []*consumer) {
	w := &e.plan.Workload
	of := w.Topics * w.AllSubscriptions() * w.Consumers
	for t := range e.topics {
		for s := subscriptionFrom; s < subscriptionTo; s++ {
			for i := range w.Consumers {
				if e.plan.Share.consumes(t, (place{t, s}).number(w)+i, of) {
					all = append(all, e.newConsumer(t, s, i))
				}
			}
		}
	}
	return all
}

// settle waits until the consumers' subscriptions have assigned their partitions.
func settle(ctx context.Context, consumers []*consumer) error {
	for _, c := range consumers {
		if s, able := c.system.(system.AssignmentWaiter); able {
			if err := s.AwaitAssignment(ctx); err != nil {
				return fmt.Errorf("open the consumers of %s: %w", c.topic.Name, err)
			}
		}
	}
	return nil
}

// Counting returns a function that reports a grown count to progress, in a sentence with places for
// the count and for the total; nil when progress is nil.
func Counting(progress func(string), sentence string, all int) func(done int) {
	if progress == nil {
		return nil
	}
	said := 0
	return func(done int) {
		if done > said {
			said = done
			progress(fmt.Sprintf(sentence, quantity.Count(int64(done)), quantity.Count(int64(all))))
		}
	}
}

// newConsumer returns a consumer that is not open. The engine's goroutine makes all.
func (e *Engine) newConsumer(topic, subscription, index int) *consumer {
	w := &e.plan.Workload
	lanes := w.Producers * int(e.growth[topic].most)
	c := &consumer{
		clock: e.clock, run: e.plan.Run, topic: e.topics[topic], topicIndex: topic,
		subscription: subscription, index: index,
		later: subscription >= e.prompt(), replay: subscription == w.Subscriptions,
		base: uint32(w.LanesBefore(topic)), lanes: uint32(lanes),
		payloads: e.payloads, classes: classesOf(w, topic), window: e.window,
		Recorder: e.consuming.recorder(place{topic, subscription}.number(w) + index),
		arrived:  measure.NewArrived(lanes), seen: measure.NewSeen(w.Producers),
		growth: e.growth[topic], keyed: w.Keyed(),
		shared: e.subscriptionOf(topic, subscription, lanes),
	}
	c.shared.consumers = append(c.shared.consumers, c)
	if !c.later && !w.Handling.None() {
		c.handler = newHandler(c, w, e.closing)
	}
	c.proof.Store(e.proofOf(topic, subscription))
	return c
}

// subscriptionOf returns a subscription of a topic, and creates it on first use.
func (e *Engine) subscriptionOf(topic, number, lanes int) *subscription {
	at := place{topic, number}
	s := e.shared[at]
	if s == nil {
		s = &subscription{order: measure.NewOrder(lanes), found: &reached{}}
		if number < e.plan.Workload.Subscriptions {
			s.found = newReached(e.growth[topic], &e.found)
		}
		if e.plan.Workload.Handling.Fails > 0 {
			s.back = &givenBack{at: make(map[sequence]int64)}
		}
		if len(e.plan.Workload.Scaling) > 0 && number < e.prompt() {
			s.gaps = make(gaps, e.growth[topic].first)
		}
		e.shared[at] = s
	}
	return s
}

func (e *Engine) openConsumer(ctx context.Context, c system.Cluster, consumer *consumer) error {
	opened, err := c.OpenConsumer(ctx, e.optionsOf(consumer))
	if err != nil {
		return fmt.Errorf("open consumer %d of %s on %s: %w",
			consumer.index, e.plan.subscriptionName(consumer.subscription),
			consumer.topic.Name, err)
	}
	consumer.system = opened
	return nil
}

func (e *Engine) optionsOf(c *consumer) system.ConsumerOptions {
	members := e.plan.Workload.Consumers
	if len(c.shared.consumers) == members {
		members = 0 // all consumers are here
	}
	return system.ConsumerOptions{
		Topic: c.topic, Subscription: e.plan.subscriptionName(c.subscription),
		Index: c.index, Members: members, Delivery: e.plan.Workload.Delivery,
		AtEnd:   e.plan.Workload.Existing != nil,
		Receive: c.receive, GiveBack: c.handler.giveBack(), Failed: func(err error) {
			e.failed(fmt.Errorf("consumer %d of %s on %s stopped: %w", c.index,
				e.plan.subscriptionName(c.subscription), c.topic.Name, err))
		},
	}
}

// failed records that a client cannot continue. The error names the client.
func (e *Engine) failed(err error) {
	if e.tell != nil {
		e.tell(Event{Failure, err.Error()})
	}
	select {
	case e.failures <- err:
	default:
	}
}

// openProducer opens the i-th producer of the run, number own of the share. Neighbours go to
// different topics, so that consecutive messages do.
func (e *Engine) openProducer(
	ctx context.Context, c system.Cluster, i, own int,
) (*producer, error) {
	w := &e.plan.Workload
	topic, index := i%w.Topics, i/w.Topics
	partitions, class := int(e.growth[topic].most), w.ClassOf(topic, index)+1
	place, peers := w.PeersOf(topic, index)
	keyed := *w
	if keyed.Keys = w.KeysOf(class - 1); class > 0 {
		keyed.Message = w.MessageOf(class - 1)
	}
	p := &producer{
		clock: e.clock, topic: topic, topics: w.Topics, index: i, run: e.plan.Run,
		place: int64(place), peers: int64(peers),
		base:    uint32(w.LanesBefore(topic) + index*partitions),
		payload: e.payloads[max(class-1, 0)], class: class,
		chooser: newChooser(&keyed, e.plan.Spread),
		nextSeq: make([]int64, partitions), measuredFrom: never(partitions),
		window: e.window, growth: e.growth[topic], used: e.used[topic],
		Recorder: e.producing.recorder(own),
		sent:     measure.NewSent(partitions), errors: make(map[string]int64),
	}
	// Until partitions are added, the first ones have all messages.
	k := w.KindOf(topic)
	p.sent.KeepTimes(int(float64(TimedMessages(w))*k.Share) /
		(k.Topics * w.Producers * k.Partitions))
	p.pool.bound, p.pool.fresh = w.MaxInFlight, p.fresh
	opened, err := c.OpenProducer(ctx, system.ProducerOptions{
		Topic: e.grown[topic], Index: index, InFlight: w.MaxInFlight,
		MessageMax: p.payload.most, Delivery: w.Delivery, Answered: p.requested,
	})
	p.system = opened
	p.gatherer, _ = opened.(system.Gatherer)
	return p, err
}

// never are sequence numbers that no message has.
func never(partitions int) []int64 {
	all := make([]int64, partitions)
	for i := range all {
		all[i] = math.MaxInt64
	}
	return all
}

// maxTimed is the greatest number of messages for which a run with faults keeps the time of the
// acknowledgement.
const maxTimed = 4_000_000

// TimedMessages returns the number of messages for which an engine for the workload keeps the time
// of the acknowledgement: those of a run with faults, up to a bound.
func TimedMessages(w *workload.Workload) int {
	if len(w.Faults) == 0 {
		return 0
	}
	if w.Load.Closed != nil {
		return maxTimed
	}
	// Room for lanes that get more than their share.
	return int(min(2*(w.WarmupMessages()+w.OfferedMessages())+int64(w.LanesBefore(w.Topics)),
		maxTimed))
}
