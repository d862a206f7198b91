package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// maxProving bounds the producers that prove their partitions at the same time, and
	// proofsInFlight the messages in flight of each.
	maxProving     = 64
	proofsInFlight = 1024
	// proofPause is the pause between a refused proof and the next attempt.
	proofPause = 100 * time.Millisecond
	// unblockWithin bounds the closing of producers whose Send does not return when the time is
	// over.
	unblockWithin = 2 * time.Second
)

// readiness tracks, before the load begins, from which partitions each subscription has received a
// message.
type readiness struct {
	proofs   []*proof // by topic and subscription; none: only acknowledgements prove
	missing  atomic.Int64
	complete chan struct{} // closed when the share's subscriptions have received everything
	messages atomic.Int64  // sent so far
	begun    bool          // proofs of the whole share have been requested
}

// proof records what one subscription has received of one topic.
type proof struct {
	of         *readiness
	first      uint32 // number of the topic's partition 0 among those of all topics
	partitions int    // of the topic
	seen       []atomic.Uint64
}

// newReadiness returns a tracker with every partition unproven. A subscription that opens only
// when the backlog is complete can receive nothing before.
func newReadiness(w *workload.Workload) *readiness {
	r := &readiness{complete: make(chan struct{})}
	if !draining(w) {
		r.proofs = make([]*proof, w.Topics*w.Subscriptions)
	}
	return r
}

// proofOf returns the proof in which a subscription's consumers record their messages; nil: they
// need no proof, for instance because the subscription is not one of the workload's own.
func (e *Engine) proofOf(topic, subscription int) *proof {
	w, r := &e.plan.Workload, e.readiness
	n := w.Subscriptions
	if r == nil || len(r.proofs) == 0 || subscription >= n {
		return nil
	}
	at := &r.proofs[topic*n+subscription]
	if *at == nil {
		partitions := w.KindOf(topic).Partitions
		*at = &proof{of: r, first: uint32(w.PartitionsBefore(topic)), partitions: partitions,
			seen: make([]atomic.Uint64, (partitions+63)/64)}
		r.missing.Add(int64(partitions))
	}
	return *at
}

// arrived records a message from a partition, by its number. Any consumer of the subscription may
// call it.
func (p *proof) arrived(number uint32) {
	partition := int(number) - int(p.first)
	if partition < 0 || partition >= p.partitions {
		return
	}
	bit := uint64(1) << (partition % 64)
	if p.seen[partition/64].Or(bit)&bit == 0 && p.of.missing.Add(-1) == 0 {
		close(p.of.complete)
	}
}

// Ready is Worker.Ready. The messages that it sends are no part of the load and in no count.
func (e *Engine) Ready(ctx context.Context, again []int64, wait time.Duration) (Readiness, error) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		// A Send that does not return ends with its producer.
		_ = e.close(unblockWithin, nil)
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	err := e.proveAll(ctx, again)
	if err == nil {
		err = e.awaitProofs(ctx, wait)
	}
	return e.proved(), err
}

// proveAll makes the producers send their proofs until they are acknowledged: all proofs at first,
// later those of again.
func (e *Engine) proveAll(ctx context.Context, again []int64) error {
	w := &e.plan.Workload
	lacking := make(map[int][]int32) // partitions, by producer of the share
	if !e.readiness.begun {
		e.readiness.begun = true
		// Producer k of n of a topic proves the partitions k, k+n, …; a producer without a
		// partition of its own proves one again, so that no producer's first message is part of
		// the load.
		for own := range e.producers {
			topic, index := e.producers[own].topic, e.producerIndex(own)/w.Topics
			partitions := e.topics[topic].Partitions
			lacking[own] = []int32{int32(index % partitions)}
			for p := index + w.Producers; p < partitions; p += w.Producers {
				lacking[own] = append(lacking[own], int32(p))
			}
		}
	}
	for _, number := range again {
		topic, partition := w.PartitionAt(int(number))
		index := partition%w.Producers*w.Topics + topic
		own := (index - e.first) / e.step
		if own < len(e.producers) && index == e.producerIndex(own) {
			lacking[own] = append(lacking[own], int32(partition))
		}
	}
	return e.proveEach(ctx, lacking)
}

func (e *Engine) proveEach(ctx context.Context, lacking map[int][]int32) error {
	var acked atomic.Int64
	all := 0
	for _, partitions := range lacking {
		all += len(partitions)
	}
	tell := Counting(e.progress(), "ready: %s of %s proofs acknowledged", all)
	producers := slices.Sorted(maps.Keys(lacking))
	return system.Each(ctx, len(producers), maxProving, func(int) {
		if tell != nil {
			tell(int(acked.Load()))
		}
	}, func(ctx context.Context, i int) error {
		return e.prove(ctx, producers[i], lacking[producers[i]], &acked)
	})
}

// prove sends a message to each of the partitions through one producer, and repeats it to those
// that refuse it, until each has acknowledged one.
func (e *Engine) prove(
	ctx context.Context, own int, partitions []int32, acked *atomic.Int64,
) error {
	w, producer := &e.plan.Workload, e.producerIndex(own)
	p := &prover{
		to: e.producers[own].system, run: e.plan.Run, index: producer,
		first: uint32(w.PartitionsBefore(producer % w.Topics)), acked: acked,
		messages: &e.readiness.messages,
	}
	p.make(min(len(partitions), max(w.MaxInFlight, 1), proofsInFlight))
	for len(partitions) > 0 {
		if missing, ok := p.round(ctx, partitions); !ok {
			err := fmt.Errorf("partition %d of topic %s does not acknowledge a message: %w",
				missing, e.topics[producer%w.Topics].Name, ctx.Err())
			return errors.Join(err, p.why)
		}
		partitions, p.refused = p.refused, nil
		if len(partitions) > 0 {
			clock.Sleep(ctx, proofPause)
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

// Complete records the system's answer. It may be called from any goroutine.
func (m *proofMessage) Complete(err error) {
	if m.open.CompareAndSwap(true, false) {
		m.answers <- answeredProof{m, err} // has room for one answer of each message
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

// round sends one message to each partition and collects the answers. If ctx ends first, ok is
// false and missing is a partition without an answer.
func (p *prover) round(ctx context.Context, partitions []int32) (missing int32, ok bool) {
	open := make(map[int32]bool) // partitions with a message in flight
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

// awaitProofs returns when every subscription of the share has received from every
// partition, or after a wait.
func (e *Engine) awaitProofs(ctx context.Context, wait time.Duration) error {
	if e.readiness.missing.Load() == 0 {
		return nil // this share needs no proof, or has all
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-e.readiness.complete:
	case <-timer.C:
	case <-ctx.Done():
	case err := <-e.failures:
		return err
	}
	return nil
}

// proved returns what the share's subscriptions have received so far.
func (e *Engine) proved() Readiness {
	r := Readiness{Messages: e.readiness.messages.Load()}
	if len(e.readiness.proofs) == 0 {
		return r
	}
	numbers := make([]measure.Numbers, e.plan.Workload.Subscriptions)
	for i, p := range e.readiness.proofs {
		for word := 0; p != nil && word < len(p.seen); word++ {
			for rest := p.seen[word].Load(); rest != 0; rest &= rest - 1 {
				partition := word*64 + bits.TrailingZeros64(rest)
				numbers[i%len(numbers)].Add(int64(p.first) + int64(partition))
			}
		}
	}
	for i := range numbers {
		r.Received = append(r.Received, numbers[i].Set())
	}
	return r
}
