package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/amqp"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// streamConsumer receives streams. All subscriptions read the same streams, each from its own
// position. The group keeps the position, and it is stored in the stream under the subscription's
// name from time to time.
type streamConsumer struct {
	*reader
	environments environments
}

// openStreamConsumer begins to receive the streams that no other consumer of
// the subscription has, from the start or from the subscription's position.
func (c *cluster) openStreamConsumer(ctx context.Context,
	o system.ConsumerOptions) (system.Consumer, error) {
	r := &streamConsumer{reader: c.newReader(o), environments: environments{of: c, number: o.Index}}
	// The streams exist, so a subscription needs no queues.
	return r, r.begin(ctx, r, func() error { return nil })
}

func (r *streamConsumer) assign(partition int) {
	var failed *stream.Environment
	r.receive(partition, func(t *tap) (received bool, err error) {
		received, failed, err = r.consume(t, failed)
		return received, err
	})
}

// streamFlow is the state of one subscription to a stream. The reader's handling guards its
// fields, except due.
type streamFlow struct {
	r         *streamConsumer
	partition int
	over      bool
	due       atomic.Bool // the position must be stored
	claimed   int64       // at most once: the position stored before handling
	failed    error
	broken    chan struct{}            // closed when failed is set
	store     func(offset int64) error // at most once
}

// consume receives a stream until the library's consumer ends.
func (r *streamConsumer) consume(t *tap, failed *stream.Environment) (bool, *stream.Environment,
	error) {
	name := queueName(r.Options.Topic, unread, t.partition)
	environment, err := r.environments.get(failed)
	if err != nil {
		return false, nil, err
	}
	from, err := r.position(environment, name, t.partition)
	if err != nil {
		return false, environment, fmt.Errorf("ask where subscription %s is in stream %s: %w",
			r.Options.Subscription, name, err)
	}
	f := &streamFlow{r: r, partition: t.partition, broken: make(chan struct{}),
		store: func(offset int64) error {
			ctx, cancel := context.WithTimeout(r.life, askWithin)
			defer cancel()
			return r.store(ctx, environment, name, offset)
		}}
	inner, err := environment.NewConsumer(name, f.take, stream.NewConsumerOptions().
		SetConsumerName(r.Options.Subscription).SetOffset(from).SetManualCommit().SetCRCCheck(true).
		SetInitialCredits(int16(r.of.cfg.Count(setStreamCredits))).
		SetClientProvidedName("plimsoll consumer of "+name))
	if err != nil {
		return false, environment, fmt.Errorf("receive stream %s: %w", name, err)
	}
	closes := inner.NotifyClose()
	t.begun()
	ticker := time.NewTicker(r.of.cfg.Duration(setOffsetInterval))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			f.due.Store(true)
			continue
		case <-closes:
			f.end()
			return true, environment, fmt.Errorf("stream %s: the server ended the consumer", name)
		case <-f.broken:
			_ = inner.Close() // fails if it is closed already
			return true, environment, f.failed
		case <-t.leave:
		case <-r.life.Done():
		}
		f.end()
		_ = inner.Close() // fails if it is closed already
		return true, nil, f.failed
	}
}

// position returns the offset from which a subscription continues in a stream.
func (r *streamConsumer) position(environment *stream.Environment, name string,
	partition int) (stream.OffsetSpecification, error) {
	next, known := r.group.next(partition)
	if !known {
		stored, err := environment.QueryOffset(r.Options.Subscription, name)
		if errors.Is(err, stream.OffsetNotFoundError) {
			return stream.OffsetSpecification{}.First(), nil
		}
		if err != nil {
			return stream.OffsetSpecification{}, err
		}
		next = stored + 1
	}
	return stream.OffsetSpecification{}.Offset(next), nil
}

// storePause is the pause before a server is asked again which position it has.
const storePause = 2 * time.Millisecond

// store stores the subscription's position in a stream, and returns when the server has it. The
// protocol has no answer to that, and a position that is on its way when the connection ends is
// lost, so it asks for the position.
func (r *streamConsumer) store(ctx context.Context, environment *stream.Environment, name string,
	offset int64) error {
	if err := environment.StoreOffset(r.Options.Subscription, name, offset); err != nil {
		return err
	}
	return driver.Until(ctx, storePause, func() (again bool, err error) {
		has, err := environment.QueryOffset(r.Options.Subscription, name)
		switch {
		case errors.Is(err, stream.StreamDoesNotExist): // there is no position to keep
			return false, nil
		case errors.Is(err, stream.OffsetNotFoundError):
			return true, err
		case err == nil && has < offset:
			return true, fmt.Errorf("the server has %d and not %d", has, offset)
		}
		return false, err
	})
}

// end makes sure that no further message is handled.
func (f *streamFlow) end() {
	f.r.handling.Lock()
	defer f.r.handling.Unlock()
	f.over = true
}

// take handles one message; the library calls it from one goroutine for each
// stream.
func (f *streamFlow) take(c stream.ConsumerContext, m *amqp.Message) {
	r := f.r
	r.handling.Lock()
	defer r.handling.Unlock()
	if f.over || r.Stopped() {
		return
	}
	offset := c.Consumer.GetOffset()
	if r.early && offset >= f.claimed {
		f.claimed = offset + int64(max(c.GetEntriesCount(), 1))
		if err := f.store(f.claimed - 1); err != nil {
			f.over, f.failed = true, fmt.Errorf("store the position before handling: %w", err)
			close(f.broken)
			return
		}
	}
	if r.early {
		r.group.moveTo(f.partition, offset+1)
	}
	before, _ := r.group.next(f.partition)
	for _, payload := range m.Data {
		r.Options.Receive(system.Received{Payload: payload, Partition: int32(f.partition)})
	}
	if !r.early {
		// If Close ran out of time during this message, it does not count as handled: another
		// consumer may have the stream by now.
		r.group.advance(f.partition, before, offset+1)
	}
	if !r.early && f.due.CompareAndSwap(true, false) {
		// If this fails, the messages are redelivered, as they must be.
		_ = c.Consumer.StoreOffset()
	}
}

// Close stops receiving, stores the subscription's position, and leaves the streams to other
// consumers. It takes until ctx ends, or closeGrace if that is longer. It is idempotent. If ctx
// ends first, a running Receive is left to end by itself, and no other begins.
func (r *streamConsumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error { return r.close(ctx) })
}

func (r *streamConsumer) close(ctx context.Context) error {
	err := r.stop(ctx)
	if !r.early {
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), lastMoment(ctx))
		defer cancel()
		err = errors.Join(err, r.storePositions(ctx))
	}
	r.environments.close()
	r.group.quit(r)
	return err
}

// storePositions stores the subscription's positions in the consumer's streams, over a separate
// connection.
func (r *streamConsumer) storePositions(ctx context.Context) error {
	environment, err := r.of.streamEnvironment(r.Options.Index)
	if err != nil {
		return fmt.Errorf("store the subscription's position: %w", err)
	}
	defer func() { _ = environment.Close() }()
	r.mu.Lock()
	defer r.mu.Unlock()
	for partition := range r.taps {
		next, known := r.group.next(partition)
		if !known || next == 0 {
			continue
		}
		name := queueName(r.Options.Topic, unread, partition)
		if err := r.store(ctx, environment, name, next-1); err != nil {
			return fmt.Errorf("store the subscription's position in stream %s: %w", name, err)
		}
	}
	return nil
}
