package load

import (
	"context"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/system"
)

// maxOpening bounds how many clients open at one time.
const maxOpening = 32

// Open opens every consumer, then every producer, many at a time. progress,
// which may be nil, is told in words how far it has come. On an error the
// cluster's Close ends those that were opened.
func (e *Engine) Open(ctx context.Context, c system.Cluster, progress func(sentence string)) error {
	w := e.plan.Workload
	perTopic := w.Subscriptions * w.Consumers
	consumers := make([]*consumer, w.Topics*perTopic)
	err := system.Each(ctx, len(consumers), maxOpening, Counting(progress, "opened %s of %s consumers", len(consumers)), func(ctx context.Context, i int) (err error) {
		topic, subscription, index := i/perTopic, i%perTopic/w.Consumers, i%w.Consumers
		if consumers[i], err = e.openConsumer(ctx, c, topic, subscription, index); err != nil {
			return fmt.Errorf("open consumer %d of %s on %s: %w", index, Subscription(subscription), e.topics[topic].Name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	producers := make([]*producer, w.Topics*w.Producers)
	err = system.Each(ctx, len(producers), maxOpening, Counting(progress, "opened %s of %s producers", len(producers)), func(ctx context.Context, i int) (err error) {
		if producers[i], err = e.openProducer(ctx, c, i); err != nil {
			return fmt.Errorf("open producer %d: %w", i, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.consumers, e.producers = consumers, producers
	for _, c := range e.consumers {
		if s, able := c.system.(system.Settler); able {
			if err := s.Settle(ctx); err != nil {
				return fmt.Errorf("open the consumers of %s: %w", Subscription(c.subscription), err)
			}
		}
	}
	return nil
}

// Counting returns what tells progress a count that has grown, in a sentence that
// has room for it and for the whole; nil when there is nobody to tell.
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

func (e *Engine) openConsumer(ctx context.Context, c system.Cluster, topic, subscription, index int) (*consumer, error) {
	w := e.plan.Workload
	lanes := w.Producers * w.Partitions
	consumer := &consumer{
		clock: e.plan.Clock, subscription: subscription, run: e.plan.Run,
		base: uint32(topic * lanes), lanes: uint32(lanes),
		payload:  newPayload(w.Message, w.Seed),
		Recorder: e.consuming.recorder((topic*w.Subscriptions+subscription)*w.Consumers + index),
		arrived:  measure.NewArrived(lanes),
	}
	consumer.measuredNs.Store(clock.Never)
	consumer.proof.Store(e.proofOf(topic, subscription))
	opened, err := c.OpenConsumer(ctx, system.ConsumerOptions{
		Topic: e.topics[topic], Subscription: Subscription(subscription),
		Index: index, Delivery: w.Delivery,
		Receive: consumer.receive, Failed: e.failed,
	})
	consumer.system = opened
	return consumer, err
}

func (e *Engine) failed(err error) {
	select {
	case e.failures <- err:
	default:
	}
}

// openProducer opens the i-th producer of the run. Neighbours go to different
// topics, so that consecutive messages do.
func (e *Engine) openProducer(ctx context.Context, c system.Cluster, i int) (*producer, error) {
	w := e.plan.Workload
	topic, index := i%w.Topics, i/w.Topics
	p := &producer{
		clock: e.plan.Clock, index: i, run: e.plan.Run,
		base:    uint32((topic*w.Producers + index) * w.Partitions),
		payload: newPayload(w.Message, w.Seed), chooser: newChooser(w.Keys, w.Partitions, w.Seed),
		nextSeq:  make([]int64, w.Partitions),
		Recorder: e.producing.recorder(i),
		sent:     measure.NewSent(w.Partitions), errors: make(map[string]int64),
	}
	p.pool.bound, p.pool.fresh = w.MaxInFlight, p.fresh
	opened, err := c.OpenProducer(ctx, system.ProducerOptions{
		Topic: e.topics[topic], Index: index, InFlight: w.MaxInFlight, MessageMax: int(w.Message.Size), Delivery: w.Delivery,
	})
	p.system = opened
	return p, err
}
