package pulsar

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	client "github.com/apache/pulsar-client-go/pulsar"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	errProducerClosed = errors.New("the producer is closed")
	errUnanswered     = fmt.Errorf("the producer was closed before the broker answered: %w", system.ErrUnknown)
	errTimedOut       = fmt.Errorf("the broker did not answer within %s: %w", setSendTimeout, system.ErrUnknown)
)

// producer sends to one topic with a client of its own. At most slots messages
// are in the library's hands; Send waits for a free one.
//
// The library tells a message's end when the broker has answered, and not at
// all when it is closed with messages still queued or its topic is deleted. Its
// own send timeout would leave a goroutine behind for as long, and it does not
// look at messages that wait for a connection. So a message's time is watched
// here. One that timed out is told to be unanswered, and the library goes on
// trying it; its slot is free again when the library lets go of it.
type producer struct {
	client     client.Client
	lib        client.Producer
	of         *cluster
	partitions int32
	slots      []*slot
	life       context.Context
	stop       context.CancelFunc // ends a Send that waits in the library
	finished   chan struct{}      // closed when watch has ended
	ended      chan struct{}      // closed when Close has ended

	// sending is held while the library takes a message: one that is closed
	// beside that panics.
	sending sync.Mutex
	next    int  // partition of the message that is handed over
	stopped bool // nothing may be handed over

	mu      sync.Mutex
	changed sync.Cond // a slot is free, a message has ended, or the producer is closed
	free    []*slot
	pending int // messages that have not ended
	closed  bool
}

// slot is one message in the library's hands. It holds a copy, because a
// message that timed out goes back to whoever sent it while the library may
// still read it.
type slot struct {
	m        atomic.Pointer[system.Message]
	message  client.ProducerMessage
	payload  []byte
	key      []byte
	answered func(client.MessageID, *client.ProducerMessage, error)
	// state is 0 when the slot is idle, t when it has been in flight since t,
	// and -t when that message has timed out and the library still has it.
	state atomic.Int64
}

// began is what slots count their time from.
var began = time.Now()

func now() int64 { return int64(time.Since(began)) + 1 }

// fill copies the message. Nothing is allocated once the slot has held one as
// large.
func (s *slot) fill(m *system.Message) {
	s.m.Store(m)
	s.payload = append(s.payload[:0], m.Payload...)
	s.key = append(s.key[:0], m.Key...)
	s.message.Payload = s.payload
	// The key's bytes stay as they are until the library has let go of the
	// slot, as a string's must.
	s.message.Key = unsafe.String(unsafe.SliceData(s.key), len(s.key))
}

// claim changes the state of a slot that has been in flight since a moment, and
// returns the message, which the caller must end; nil: it is no longer so.
func (s *slot) claim(since, state int64) *system.Message {
	// Read first: whoever frees the slot next may put another one here. While
	// the state is unchanged none did.
	m := s.m.Load()
	if since <= 0 || !s.state.CompareAndSwap(since, state) {
		return nil
	}
	return m
}

// OpenProducer opens a producer on connections of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer, error) {
	lib, said, err := newClient(c.options, c.cfg)
	if err != nil {
		return nil, err
	}
	p := &producer{
		client: lib, of: c, partitions: int32(max(o.Topic.Partitions, 1)),
		finished: make(chan struct{}), ended: make(chan struct{}),
	}
	p.changed.L = &p.mu
	p.life, p.stop = context.WithCancel(context.Background())
	for range max(o.InFlight, 1) {
		s := &slot{}
		s.answered = func(_ client.MessageID, _ *client.ProducerMessage, err error) { p.answered(s, err) }
		p.slots = append(p.slots, s)
		p.free = append(p.free, s)
	}
	p.lib, err = within(ctx, func() (client.Producer, error) { return lib.CreateProducer(c.producerOptions(o, p)) }, nil)
	if err != nil {
		p.stop()
		return nil, errors.Join(fmt.Errorf("opening the producer: %w", c.explain(said.cause(err))), closeClient(ctx, lib))
	}
	go p.watch()
	if err := c.clients.Keep(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

func (c *cluster) producerOptions(o system.ProducerOptions, p *producer) client.ProducerOptions {
	options := client.ProducerOptions{
		Topic:       c.fullName(o.Topic.Name),
		SendTimeout: -1, // watch has it
		// Sending waits when as many are unanswered, and the wait is charged to
		// the system.
		MaxPendingMessages: c.cfg.maxPending,
		CompressionType:    c.cfg.compression,
		DisableBatching:    !c.cfg.batching, BatchingMaxPublishDelay: c.cfg.batchingDelay,
		BatchingMaxMessages: c.cfg.batchingMessages, BatchingMaxSize: c.cfg.batchingSize,
		// The library asks for the partition while it takes a message.
		MessageRouter: func(*client.ProducerMessage, client.TopicMetadata) int { return p.next },
	}
	if c.cfg.subscription == client.KeyShared {
		// Consumers get whole batches, so those of several keys cannot be.
		options.BatcherBuilderType = client.KeyBasedBatchBuilder
	}
	return options
}

// Send hands the message to the client library. It blocks while every slot is
// in flight, and while the library waits for answers of its partition.
func (p *producer) Send(m *system.Message) {
	if m.Partition >= p.partitions || m.Partition < 0 {
		m.Done(fmt.Errorf("partition %d: the topic has %d", m.Partition, p.partitions))
		return
	}
	s := p.take()
	if s == nil {
		m.Done(errProducerClosed)
		return
	}
	p.handOver(s, m)
}

// take waits for a free slot; nil: the producer is closed.
func (p *producer) take() *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 && !p.closed {
		p.changed.Wait()
	}
	if p.closed {
		return nil
	}
	s := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.pending++
	return s
}

// handOver gives the message to the library.
func (p *producer) handOver(s *slot, m *system.Message) {
	p.sending.Lock()
	defer p.sending.Unlock()
	s.fill(m)
	s.state.Store(now())
	if p.stopped {
		p.answered(s, errProducerClosed)
		return
	}
	p.next = int(m.Partition)
	defer p.survive(s)
	p.lib.SendAsync(p.life, &s.message, s.answered)
}

// survive ends a message whose partition the library closed by itself, which
// it does when the topic is deleted, at the moment when it was handed over: the
// library then writes to a closed channel.
func (p *producer) survive(s *slot) {
	switch caught := recover().(type) {
	case nil:
	case error:
		if !strings.Contains(caught.Error(), "send on closed channel") {
			panic(caught)
		}
		p.answered(s, client.ErrProducerClosed)
	default:
		panic(caught)
	}
}

// answered takes the library's word on a message, which ends here unless its
// time is over already. The slot is free after the message's end is told: a
// Close that finds every slot free finds every message told.
func (p *producer) answered(s *slot, err error) {
	if m := s.claim(s.state.Load(), 0); m != nil {
		p.end(m, outcome(err))
	}
	s.state.Store(0)
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.changed.Broadcast()
}

// end tells a message's end. The caller has claimed it.
func (p *producer) end(m *system.Message, err error) {
	m.Done(err)
	p.mu.Lock()
	p.pending--
	p.mu.Unlock()
	p.changed.Broadcast()
}

// refusals are the errors after which the library has not sent the message and
// will not.
var refusals = []error{
	client.ErrMessageTooLarge, client.ErrMetaTooLarge, client.ErrInvalidMessage, client.ErrSchema, client.ErrSendQueueIsFull,
	client.ErrMemoryBufferIsFull, client.ErrContextExpired, client.ErrFailAddToBatch, errProducerClosed,
}

// outcome says what an error of the client library means for the message.
// Whatever is no plain refusal may have been written, by an earlier try too.
func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrProducerClosed):
		return errUnanswered
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}

const (
	leastWatch = 50 * time.Millisecond
	mostWatch  = time.Second
)

// watch ends messages that the broker has not answered in time, until the
// producer is stopped.
func (p *producer) watch() {
	defer close(p.finished)
	ticker := time.NewTicker(min(max(p.of.cfg.sendTimeout/20, leastWatch), mostWatch))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.expire(now()-int64(p.of.cfg.sendTimeout), errTimedOut)
		case <-p.life.Done():
			return
		}
	}
}

// expire ends the messages that have been in flight since a moment or longer.
func (p *producer) expire(moment int64, err error) {
	for _, s := range p.slots {
		if since := s.state.Load(); since <= moment {
			if m := s.claim(since, -since); m != nil {
				p.end(m, err)
			}
		}
	}
}

// Close refuses further messages, waits within ctx for the answers under way,
// and ends the rest with an error. It is idempotent and safe to call while Send
// runs.
func (p *producer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	p.changed.Broadcast()
	if !first {
		<-p.ended
		return nil
	}
	defer close(p.ended)
	defer p.of.clients.Forget(p)
	err := p.flush(ctx)
	p.stop()
	p.sending.Lock()
	p.stopped = true
	p.sending.Unlock()
	<-p.finished
	closed := closeClient(ctx, p.client)
	p.expire(now(), errUnanswered)
	p.awaitEnds()
	if err != nil {
		err = fmt.Errorf("closing the producer: waiting for acknowledgements: %w", err)
	}
	return errors.Join(err, closed)
}

// flush sends what is gathered and waits for every message's end. Without a
// deadline the messages' own bounds it.
func (p *producer) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.of.cfg.sendTimeout+mostWatch)
	defer cancel()
	if ctx.Err() == nil {
		if err := p.lib.FlushWithCtx(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, client.ErrProducerClosed) {
			return err
		}
	}
	defer context.AfterFunc(ctx, p.changed.Broadcast)()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.pending > 0 && ctx.Err() == nil {
		p.changed.Wait()
	}
	if p.pending > 0 {
		return ctx.Err()
	}
	return nil
}

// awaitEnds waits until every message has been told its end: the library tells
// of the last ones on goroutines of its own.
func (p *producer) awaitEnds() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.pending > 0 {
		p.changed.Wait()
	}
}
