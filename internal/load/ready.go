package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// maxProving bounds how many producers prove their partitions at one time,
	// and proofsInFlight how many messages each has under way meanwhile.
	maxProving     = 64
	proofsInFlight = 1024
	// proofPause is between a refused proof and the next try.
	proofPause = 100 * time.Millisecond
	// resendAfter is how long no proof arrives before those missing are sent
	// again: at most once a message may be gone for good.
	resendAfter = 5 * time.Second
	// unblockWithin bounds the closing of producers whose Send does not return
	// when time is up.
	unblockWithin = 2 * time.Second
)

// readiness is what is known of the partitions before the load begins: which of
// them each subscription has received a message from.
type readiness struct {
	partitions int      // of a topic
	proofs     []*proof // by topic and subscription; none: only acknowledgements prove
	missing    atomic.Int64
	complete   chan struct{} // closed when nothing is missing
}

// proof is what one subscription has received of one topic.
type proof struct {
	of    *readiness
	first uint32 // number of the topic's partition 0 among those of all topics
	seen  []atomic.Uint64
}

// newReadiness returns one to which nothing is proved. A subscription that opens
// only when the backlog is there can receive nothing before.
func newReadiness(w *workload.Workload) *readiness {
	r := &readiness{partitions: w.Partitions, complete: make(chan struct{})}
	if draining(w) {
		return r
	}
	r.missing.Store(int64(w.Topics) * int64(w.Partitions) * int64(w.Subscriptions))
	for i := range w.Topics * w.Subscriptions {
		r.proofs = append(r.proofs, &proof{
			of: r, first: uint32(i / w.Subscriptions * w.Partitions), seen: make([]atomic.Uint64, (w.Partitions+63)/64),
		})
	}
	return r
}

// proofOf is where a subscription's consumers note what proves a partition; nil:
// nothing is to be proved to them, as when the subscription is none of the
// workload's own.
func (e *Engine) proofOf(topic, subscription int) *proof {
	n := e.plan.Workload.Subscriptions
	if e.readiness == nil || len(e.readiness.proofs) == 0 || subscription >= n {
		return nil
	}
	return e.readiness.proofs[topic*n+subscription]
}

// arrived notes a message from the partition of that number. Any consumer of the
// subscription may call it.
func (p *proof) arrived(number uint32) {
	partition := int(number) - int(p.first)
	if partition < 0 || partition >= p.of.partitions {
		return
	}
	bit := uint64(1) << (partition % 64)
	if p.seen[partition/64].Or(bit)&bit == 0 && p.of.missing.Add(-1) == 0 {
		close(p.of.complete)
	}
}

func (p *proof) has(partition int) bool {
	return p.seen[partition/64].Load()&(1<<(partition%64)) != 0
}

// Ready returns when every producer has had a message acknowledged, every
// partition has acknowledged one, and every subscription has received one from
// every partition; it returns how many messages that took. They are no part of
// the load and in no count. progress, which may be nil, is told in words how far
// it has come. It is called once, between Open and Start; when ctx ends first the
// error names a partition that is not ready, and the producers are closed.
func (e *Engine) Ready(ctx context.Context, progress func(sentence string)) (sent int64, err error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		// A Send that does not return ends with its producer.
		_ = e.Close(unblockWithin, nil)
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	var messages atomic.Int64
	err = e.proveAll(ctx, progress, &messages)
	if err == nil {
		err = e.awaitProofs(ctx, progress, &messages)
	}
	for _, c := range e.consumers {
		c.proof.Store(nil)
	}
	e.readiness = nil
	return messages.Load(), err
}

// proveAll has every producer send its proofs until they are acknowledged.
func (e *Engine) proveAll(ctx context.Context, progress func(string), messages *atomic.Int64) error {
	w := e.plan.Workload
	var acked atomic.Int64
	tell := Counting(progress, "ready: %s of %s proofs acknowledged", w.Topics*max(w.Partitions, w.Producers))
	return system.Each(ctx, len(e.producers), maxProving, func(int) {
		if tell != nil {
			tell(int(acked.Load()))
		}
	}, func(ctx context.Context, i int) error {
		// Producer k of n proves the partitions k, k+n, …; one for which none is
		// left proves one again, so that nobody's first message is the load's.
		index := i / w.Topics
		partitions := []int32{int32(index % w.Partitions)}
		for p := index + w.Producers; p < w.Partitions; p += w.Producers {
			partitions = append(partitions, int32(p))
		}
		return e.prove(ctx, i, partitions, &acked, messages)
	})
}

// prove sends a message to each of the partitions through one producer, and
// again to those that refuse it, until each has acknowledged one.
func (e *Engine) prove(ctx context.Context, producer int, partitions []int32, acked, messages *atomic.Int64) error {
	w := e.plan.Workload
	p := &prover{
		to: e.producers[producer].system, run: e.plan.Run, index: producer,
		first: uint32(producer % w.Topics * w.Partitions), acked: acked, messages: messages,
	}
	p.make(min(len(partitions), max(w.MaxInFlight, 1), proofsInFlight))
	for len(partitions) > 0 {
		if missing, ok := p.round(ctx, partitions); !ok {
			err := fmt.Errorf("partition %d of topic %s does not acknowledge a message: %w", missing, e.topics[producer%w.Topics].Name, ctx.Err())
			return errors.Join(err, p.why)
		}
		partitions, p.refused = p.refused, nil
		if len(partitions) > 0 {
			pause(ctx, proofPause)
		}
	}
	return nil
}

// prover sends the proofs of one producer.
type prover struct {
	to              system.Producer
	run             uint32
	index           int    // of the producer in the run
	first           uint32 // number of its topic's partition 0 among those of all topics
	messages, acked *atomic.Int64
	idle            []*proofMessage
	answers         chan answeredProof
	refused         []int32
	why             error // of the last refusal
}

// proofMessage is a message that proves partitions, one after another.
type proofMessage struct {
	system.Message
	open    atomic.Bool // sent, not answered
	answers chan<- answeredProof
}

type answeredProof struct {
	message *proofMessage
	err     error
}

// Complete takes the system's answer. It may be called from any goroutine.
func (m *proofMessage) Complete(err error) {
	if m.open.CompareAndSwap(true, false) {
		m.answers <- answeredProof{m, err} // there is room for one of each message
	}
}

func (p *prover) make(messages int) {
	p.answers = make(chan answeredProof, messages)
	for range messages {
		m := &proofMessage{answers: p.answers}
		m.Payload = make([]byte, workload.StampBytes)
		m.Bind(m)
		p.idle = append(p.idle, m)
	}
}

// round sends one message to each partition and takes the answers. When ctx ends
// before, ok is false and missing is a partition without one.
func (p *prover) round(ctx context.Context, partitions []int32) (missing int32, ok bool) {
	open := make(map[int32]bool) // partitions with a message under way
	for len(partitions) > 0 || len(open) > 0 {
		for len(partitions) > 0 && len(p.idle) > 0 && ctx.Err() == nil {
			open[partitions[0]] = true
			p.send(partitions[0])
			partitions = partitions[1:]
		}
		select {
		case a := <-p.answers:
			delete(open, a.message.Partition)
			p.idle = append(p.idle, a.message)
			if a.err != nil {
				p.refused, p.why = append(p.refused, a.message.Partition), a.err
			} else {
				p.acked.Add(1)
			}
		case <-ctx.Done():
			for one := range open {
				return one, false
			}
			return append(p.refused, partitions...)[0], false
		}
	}
	return 0, true
}

func (p *prover) send(partition int32) {
	m := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	m.Partition = partition
	stamp{run: p.run, lane: p.first + uint32(partition), seq: int64(p.index)}.put(m.Payload)
	binary.LittleEndian.PutUint32(m.Payload, proofMagic)
	m.open.Store(true)
	p.messages.Add(1)
	p.to.Send(&m.Message)
}

// pause waits; false: ctx has ended first.
func pause(ctx context.Context, length time.Duration) (whole bool) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitProofs returns when every subscription has received from every partition.
func (e *Engine) awaitProofs(ctx context.Context, progress func(string), messages *atomic.Int64) error {
	r := e.readiness
	if len(r.proofs) == 0 {
		return nil
	}
	all, each := len(r.proofs)*r.partitions, ""
	if n := e.plan.Workload.Subscriptions; n > 1 {
		each = fmt.Sprintf(", those of %d subscriptions counted each", n)
	}
	tell := Counting(progress, "ready: %s of %s partitions"+each, all)
	ticker := time.NewTicker(resendAfter / 5)
	defer ticker.Stop()
	missing, since := r.missing.Load(), time.Now()
	for {
		select {
		case <-r.complete:
			return nil
		case err := <-e.failures:
			return fmt.Errorf("a consumer stopped: %w", err)
		case <-ctx.Done():
			return e.unread(ctx)
		case now := <-ticker.C:
			if left := r.missing.Load(); left < missing {
				missing, since = left, now
			}
			if tell != nil {
				tell(all - int(missing))
			}
			if now.Sub(since) < resendAfter {
				continue
			}
			since = now
			if err := e.proveAgain(ctx, messages); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// unread names the first partition that a subscription has not received from.
func (e *Engine) unread(ctx context.Context) error {
	for i, p := range e.readiness.proofs {
		for partition := range e.readiness.partitions {
			if !p.has(partition) {
				topic, subscription := i/e.plan.Workload.Subscriptions, i%e.plan.Workload.Subscriptions
				return fmt.Errorf("partition %d of topic %s, read by %s, has acknowledged a message that has not arrived: %w",
					partition, e.topics[topic].Name, Subscription(subscription), ctx.Err())
			}
		}
	}
	return ctx.Err()
}

// proveAgain sends to the partitions that some subscription has not received
// from.
func (e *Engine) proveAgain(ctx context.Context, messages *atomic.Int64) error {
	w := e.plan.Workload
	lacking := make(map[int][]int32) // by producer
	for topic := range w.Topics {
		for partition := range w.Partitions {
			some := slices.ContainsFunc(e.readiness.proofs[topic*w.Subscriptions:(topic+1)*w.Subscriptions],
				func(p *proof) bool { return !p.has(partition) })
			if some {
				producer := partition%w.Producers*w.Topics + topic
				lacking[producer] = append(lacking[producer], int32(partition))
			}
		}
	}
	producers := slices.Collect(maps.Keys(lacking))
	var acked atomic.Int64
	return system.Each(ctx, len(producers), maxProving, nil, func(ctx context.Context, i int) error {
		return e.prove(ctx, producers[i], lacking[producers[i]], &acked, messages)
	})
}
