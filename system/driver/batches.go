package driver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Batched is a message of a batch, with the driver's own part. It is reused for other messages.
type Batched[T any] struct {
	Message *system.Message
	Own     T
}

// Batching describes how a driver sends in batches.
type Batching[T any] struct {
	InFlight   int // most messages that are queued or being sent
	Most       int // messages of a batch
	Linger     time.Duration
	Partitions int
	// Create initialises the driver's part of a Batched when it is first used.
	Create func(own *T)
	// Fill is called with each message, before it joins the queue. It does not block.
	Fill func(one *Batched[T])
	// Deliver sends a batch and calls End for each message of it. life ends when the
	// producer closes without waiting for more answers.
	Deliver func(life context.Context, batch []*Batched[T])
	// Answered, if not nil, is called with the time that each Deliver took; see
	// system.ProducerOptions.
	Answered func(took time.Duration)
	// Abort ends a batch that is still being sent when the producer closes; nil: the end of life
	// does.
	Abort func() error
}

// Batches queues a producer's messages, and its goroutine delivers them, one batch at a time.
// Messages that come meanwhile form the next batch, up to Most. A batch that is not full waits for
// Linger.
type Batches[T any] struct {
	Batching[T]
	slots  *Slots[Batched[T]]
	queue  []*Batched[T] // guarded by the slots' lock
	since  time.Time     // when the first of the queue was added; guarded too
	wake   Signal
	life   context.Context
	cancel context.CancelFunc
	ended  chan struct{} // closed when run has ended
}

// NewBatches begins to deliver. Close ends it.
func NewBatches[T any](o Batching[T]) *Batches[T] {
	// A batch of all that may be in flight waits for nothing that could come.
	o.Most = min(o.Most, max(o.InFlight, 1))
	b := &Batches[T]{Batching: o, wake: NewSignal(), ended: make(chan struct{})}
	b.slots = NewSlots(o.InFlight, func(int) *Batched[T] {
		one := &Batched[T]{}
		o.Create(&one.Own)
		return one
	})
	b.life, b.cancel = context.WithCancel(context.Background())
	go b.run()
	return b
}

// Send implements system.Producer.
func (b *Batches[T]) Send(m *system.Message) {
	one := [1]*system.Message{m}
	b.SendBatch(one[:])
}

// SendBatch implements system.BatchSender: the messages join the same batch, as far as it has
// room.
func (b *Batches[T]) SendBatch(batch []*system.Message) {
	b.slots.Lock()
	defer b.slots.Unlock()
	for _, m := range batch {
		if err := b.enqueue(m); err != nil {
			b.slots.Unlock()
			m.Done(err)
			b.slots.Lock()
		}
	}
}

// enqueue adds a message. The caller holds the slots' lock.
func (b *Batches[T]) enqueue(m *system.Message) error {
	if err := CheckPartition(m, b.Partitions); err != nil {
		return err
	}
	one, err := b.slots.Take(nil)
	if err != nil {
		return err
	}
	one.Message = m
	b.Fill(one)
	b.queue = append(b.queue, one)
	if n := len(b.queue); n == 1 {
		b.since = time.Now()
	} else if n != b.Most {
		return nil
	}
	b.wake.Give()
	return nil
}

// run delivers until life ends, and then ends the queued messages.
func (b *Batches[T]) run() {
	defer close(b.ended)
	var batch []*Batched[T]
	linger := time.NewTimer(0)
	defer linger.Stop()
	for b.life.Err() == nil {
		var wait time.Duration
		if batch, wait = b.next(batch[:0]); len(batch) > 0 {
			b.deliver(batch)
			continue
		}
		linger.Reset(wait)
		select {
		case <-b.wake:
		case <-linger.C:
		case <-b.life.Done():
		}
	}
	b.slots.Lock()
	batch, b.queue = b.queue, nil
	b.slots.Unlock()
	b.EndAll(batch, ErrProducerClosed)
}

func (b *Batches[T]) deliver(batch []*Batched[T]) {
	began := time.Now()
	b.Deliver(b.life, batch)
	if b.Answered != nil {
		b.Answered(time.Since(began))
	}
}

// next takes the next batch from the queue. If no batch is due yet, the result is empty, and wait
// says how long to wait for more messages.
func (b *Batches[T]) next(batch []*Batched[T]) (_ []*Batched[T], wait time.Duration) {
	b.slots.Lock()
	defer b.slots.Unlock()
	n := min(len(b.queue), b.Most)
	if n == 0 {
		return batch, time.Hour // until it is woken
	}
	if wait = b.Linger - time.Since(b.since); wait > 0 && n < b.Most {
		return batch, wait
	}
	batch = append(batch, b.queue[:n]...)
	b.queue = append(b.queue[:0], b.queue[n:]...)
	return batch, 0 // the rest has waited since the first of these, so it waits less than Linger
}

// End reports the message's result. Afterwards the message belongs to its sender.
func (b *Batches[T]) End(one *Batched[T], err error) {
	one.Message.Done(err)
	b.slots.End(one)
}

// EndAll reports the same result of several messages.
func (b *Batches[T]) EndAll(batch []*Batched[T], err error) {
	for _, one := range batch {
		b.End(one, err)
	}
}

// Close refuses further messages, waits within ctx for outstanding answers, and ends the remaining
// messages with an error.
func (b *Batches[T]) Close(ctx context.Context) error {
	b.slots.Shut()
	err := b.slots.Drain(ctx)
	b.cancel()
	if b.Abort != nil {
		err = errors.Join(err, b.Abort())
	}
	<-b.ended
	return err
}

// Lanes are a producer's Batches by partition, if it sends to several servers or queues. Partitions
// of one server share its Batches.
type Lanes[T any] []*Batches[T]

// Send implements system.Producer.
func (l Lanes[T]) Send(m *system.Message) {
	one := [1]*system.Message{m}
	l.SendBatch(one[:])
}

// SendBatch implements system.BatchSender: consecutive messages of one lane join the same batch.
func (l Lanes[T]) SendBatch(batch []*system.Message) {
	for len(batch) > 0 {
		if err := CheckPartition(batch[0], len(l)); err != nil {
			batch[0].Done(err)
			batch = batch[1:]
			continue
		}
		to, n := l[batch[0].Partition], 1
		for n < len(batch) && CheckPartition(batch[n], len(l)) == nil &&
			l[batch[n].Partition] == to {
			n++
		}
		to.SendBatch(batch[:n])
		batch = batch[n:]
	}
}

// Close closes each of the Batches.
func (l Lanes[T]) Close(ctx context.Context) error {
	var each []*Batches[T]
	for _, one := range l {
		if !slices.Contains(each, one) {
			each = append(each, one)
		}
	}
	return CloseAll(ctx, each)
}
