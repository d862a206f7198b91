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
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

var errTimedOut = fmt.Errorf("the broker did not answer within %s: %w", setSendTimeout,
	system.ErrUnknown)

var errUndiscovered = errors.New("the producer has not found this new partition yet: lower " +
	setDiscovery)

// producer sends to one topic with its own client. The library holds at most as many messages as
// there are slots; Send waits for a free slot.
//
// The library reports a message's result when the broker has answered, but not when it is closed
// with queued messages or when its topic is deleted. Its own send timeout leaves a goroutine
// behind for that time, and ignores messages that wait for a connection. So the producer watches
// the time of each message itself. A message that timed out is reported as unanswered while the
// library goes on trying it; its slot becomes free when the library releases it.
type producer struct {
	client     client.Client
	lib        client.Producer
	of         *cluster
	partitions int                  // that the topic has in the end
	topic      client.TopicMetadata // as the library knows it
	slots      *driver.Slots[slot]
	closing    driver.Closing
	life       context.Context
	stop       context.CancelFunc // ends a Send that is blocked in the library
	finished   chan struct{}      // closed when watch has ended

	// sending is held while the library takes a message, because the library panics when its
	// producer is closed at the same time.
	sending sync.Mutex
	next    int  // partition of the message being handed over
	stopped bool // nothing may be handed over
}

// slot is one message that the library holds. It keeps a copy, because a timed-out message returns
// to its sender while the library may still read it.
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

// began is the start of the slots' time.
var began = time.Now()

func now() int64 { return int64(time.Since(began)) + 1 }

// fill copies the message. It allocates only if the slot never held one as large.
func (s *slot) fill(m *system.Message) {
	s.m.Store(m)
	s.payload = append(s.payload[:0], m.Payload...)
	s.key = append(s.key[:0], m.Key...)
	s.message.Payload = s.payload
	// The key's bytes do not change until the library has released the slot, as a string requires.
	s.message.Key = unsafe.String(unsafe.SliceData(s.key), len(s.key))
}

// claim changes the state of a slot that has been in flight since a given time, and returns the
// message, which the caller must end; nil: the slot's state has changed meanwhile.
func (s *slot) claim(since, state int64) *system.Message {
	// Read first: the goroutine that frees the slot may store another message. While the state is
	// unchanged, none did.
	m := s.m.Load()
	if since <= 0 || !s.state.CompareAndSwap(since, state) {
		return nil
	}
	return m
}

// OpenProducer opens a producer on connections of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	lib, said, err := newClient(c.options)
	if err != nil {
		return nil, err
	}
	p := &producer{
		client: lib, of: c, partitions: max(o.Topic.Partitions, 1), finished: make(chan struct{}),
	}
	p.slots = driver.NewSlots(o.InFlight, func(int) *slot {
		s := &slot{}
		s.answered = func(_ client.MessageID, _ *client.ProducerMessage, err error) {
			p.answered(s, err)
		}
		return s
	})
	p.life, p.stop = context.WithCancel(context.Background())
	p.lib, err = within(ctx,
		func() (client.Producer, error) { return lib.CreateProducer(c.producerOptions(o, p)) }, nil)
	if err != nil {
		p.stop()
		return nil, c.notOpened(ctx, "producer", lib, said.cause(err))
	}
	p.topic = p.lib.(client.TopicMetadata) // the library hands it to routers as one
	go p.watch()
	return p, c.clients.Keep(ctx, p)
}

func (c *cluster) producerOptions(o system.ProducerOptions, p *producer) client.ProducerOptions {
	options := client.ProducerOptions{
		Topic:                           c.fullName(o.Topic.Name),
		SendTimeout:                     -1, // watch has it
		PartitionsAutoDiscoveryInterval: c.Duration(setDiscovery),
		// Sending waits when this many are unanswered, and the wait is charged to the system.
		MaxPendingMessages:      int(c.Count(setMaxPending)),
		CompressionType:         compressions[c.Text(setCompression)],
		DisableBatching:         !c.Bool(setBatching),
		BatchingMaxPublishDelay: c.Duration(setBatchingDelay),
		BatchingMaxMessages:     uint(c.Count(setBatchingMessages)),
		BatchingMaxSize:         uint(c.Bytes(setBatchingSize)),
		// The library asks for the partition while it takes a message.
		MessageRouter: func(*client.ProducerMessage, client.TopicMetadata) int { return p.next },
	}
	if c.Text(setSubscriptionType) == keyShared {
		// Consumers get whole batches, so a batch must not mix keys.
		options.BatcherBuilderType = client.KeyBasedBatchBuilder
	}
	return options
}

// Send hands the message to the client library. It blocks while every slot is
// in flight, and while the library waits for answers of the partition.
func (p *producer) Send(m *system.Message) {
	if err := p.check(m); err != nil {
		m.Done(err)
		return
	}
	p.slots.Lock()
	s, err := p.slots.Take(nil)
	p.slots.Unlock()
	if err != nil {
		m.Done(err)
		return
	}
	p.handOver(s, m)
}

// check refuses a partition that does not exist, or that the library does not know yet: the library
// would take another one.
func (p *producer) check(m *system.Message) error {
	if err := driver.CheckPartition(m, p.partitions); err != nil || p.knows(int(m.Partition)+1) {
		return err
	}
	return errUndiscovered
}

// knows reports whether the library knows so many partitions.
func (p *producer) knows(partitions int) bool { return partitions <= int(p.topic.NumPartitions()) }

// handOver hands the message to the library.
func (p *producer) handOver(s *slot, m *system.Message) {
	p.sending.Lock()
	defer p.sending.Unlock()
	s.fill(m)
	s.state.Store(now())
	if p.stopped {
		p.answered(s, driver.ErrProducerClosed)
		return
	}
	p.next = int(m.Partition)
	defer p.survive(s)
	p.lib.SendAsync(p.life, &s.message, s.answered)
}

// survive ends a message that was handed over while the library closed its partition because the
// topic was deleted. The library then panics, because it writes to a closed channel.
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

// answered handles the library's result of a message, which ends here unless it has timed out.
func (p *producer) answered(s *slot, err error) {
	m := s.claim(s.state.Load(), 0)
	if m == nil {
		s.state.Store(0)
		p.slots.Free(s)
		return
	}
	m.Done(outcome(err))
	p.slots.End(s)
}

// refusals are the errors that say that the library has not sent the message and will not.
var refusals = []error{
	client.ErrMessageTooLarge, client.ErrMetaTooLarge, client.ErrInvalidMessage, client.ErrSchema,
	client.ErrSendQueueIsFull,
	client.ErrMemoryBufferIsFull, client.ErrContextExpired, client.ErrFailAddToBatch,
	driver.ErrProducerClosed,
}

// outcome returns a message's result from the client library's error.
// After any error other than a refusal, the message may have been written, perhaps by an earlier
// attempt.
func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, client.ErrProducerClosed):
		return driver.ErrUnanswered
	}
	return driver.Outcome(err, refusals)
}

const (
	leastWatch = 50 * time.Millisecond
	mostWatch  = time.Second
)

// watch ends messages that the broker has not answered in time, until the
// producer is stopped.
func (p *producer) watch() {
	defer close(p.finished)
	timeout := p.of.Duration(setSendTimeout)
	ticker := time.NewTicker(min(max(timeout/20, leastWatch), mostWatch))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.expire(now()-int64(timeout), errTimedOut)
		case <-p.life.Done():
			return
		}
	}
}

// expire ends the messages that have been in flight since a moment or longer.
func (p *producer) expire(moment int64, err error) {
	p.slots.Lock()
	all := p.slots.All()
	p.slots.Unlock()
	for _, s := range all {
		if since := s.state.Load(); since <= moment {
			if m := s.claim(since, -since); m != nil {
				m.Done(err)
				p.slots.Leave(1)
			}
		}
	}
}

// Close refuses further messages, waits within ctx for outstanding answers, and ends the remaining
// messages with an error. It is idempotent and safe to call while Send runs.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error { return p.close(ctx) })
}

func (p *producer) close(ctx context.Context) error {
	p.slots.Shut()
	err := p.flush(ctx)
	p.stop()
	p.sending.Lock()
	p.stopped = true
	p.sending.Unlock()
	<-p.finished
	closed := closeClient(ctx, p.client)
	p.expire(now(), driver.ErrUnanswered)
	// The library reports the last results on its own goroutines.
	_ = p.slots.Drain(context.Background())
	return errors.Join(err, closed)
}

// flush sends gathered messages and waits for every message's result. Without a deadline the
// messages' own timeout bounds it.
func (p *producer) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.of.Duration(setSendTimeout)+mostWatch)
	defer cancel()
	if ctx.Err() == nil {
		if err := p.lib.FlushWithCtx(ctx); err != nil && ctx.Err() == nil &&
			!errors.Is(err, client.ErrProducerClosed) {
			return fmt.Errorf("close the producer: wait for acknowledgements: %w", err)
		}
	}
	return p.slots.Drain(ctx)
}
