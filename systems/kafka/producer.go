package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

var (
	errProducerClosed = errors.New("the producer is closed")
	errUnanswered     = fmt.Errorf("the producer was closed before the broker acknowledged: %w", system.ErrUnknown)
)

// closeGrace is what closing takes at most beyond the time that was given, for
// what cannot be left undone.
const closeGrace = time.Second

// producer sends to one topic through a client of its own. Each message in
// flight has a slot, which holds the record and the function that the client
// library calls, so that a Send allocates neither.
type producer struct {
	client     *kgo.Client
	cancel     context.CancelFunc // ends the client's connections
	topic      string
	partitions int32
	txn        *transactions // nil: each message by itself
	of         *cluster

	mu      sync.Mutex
	changed sync.Cond // a slot became free, or the producer closed
	closed  bool
	free    []*slot
	slots   int
	ended   chan struct{} // closed when Close has ended
}

// slot is one message in flight.
type slot struct {
	record  kgo.Record
	m       *system.Message
	promise func(*kgo.Record, error)
}

// OpenProducer opens a producer with a client of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer, error) {
	if int64(o.MessageMax) > int64(c.cfg.batchSize)-batchOverhead {
		return nil, fmt.Errorf("messages of %d bytes do not fit into a batch of %d (%s): raise it, and max.message.bytes of the topic", o.MessageMax, c.cfg.batchSize, setBatchSize)
	}
	life, cancel := context.WithCancel(context.Background())
	client, err := kgo.NewClient(append(c.producerOptions(o), kgo.WithContext(life))...)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("the client library refuses the settings: %w", err)
	}
	p := &producer{
		client: client, cancel: cancel, topic: o.Topic.Name, partitions: int32(o.Topic.Partitions), of: c,
		slots: max(o.InFlight, 1), ended: make(chan struct{}),
	}
	p.changed.L = &p.mu
	for range p.slots {
		s := &slot{}
		s.promise = func(_ *kgo.Record, err error) { p.answered(s, err) }
		p.free = append(p.free, s)
	}
	if err := p.begin(ctx, o); err != nil {
		cancel()
		client.Close()
		return nil, c.explain(err)
	}
	if err := c.keep(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// batchOverhead is what a batch of one record takes beside the payload, at most.
const batchOverhead = 512

func (c *cluster) producerOptions(o system.ProducerOptions) []kgo.Opt {
	acks := kgo.AllISRAcks()
	if !synchronous(c.level) {
		acks = kgo.LeaderAck()
	}
	options := append(baseOptions(c.options, c.cfg),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(acks),
		kgo.ProducerLinger(c.cfg.linger), kgo.ProducerBatchMaxBytes(c.cfg.batchSize),
		kgo.ProducerBatchCompression(c.cfg.compression),
		kgo.ProduceRequestTimeout(c.cfg.requestTimeout), kgo.RecordDeliveryTimeout(c.cfg.deliveryTimeout),
		// The slots bound what is buffered, so the library must not.
		kgo.MaxBufferedRecords(max(o.InFlight, 1)+1),
		kgo.UnknownTopicRetries(10),
	)
	if !c.idempotent() {
		options = append(options, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(c.cfg.maxInFlight))
	}
	if o.Delivery == workload.ExactlyOnce {
		options = append(options, kgo.TransactionalID(fmt.Sprintf("%s-%d", o.Topic.Name, o.Index)), kgo.TransactionTimeout(c.cfg.txnTimeout))
	}
	return options
}

// begin makes the connections before the first message needs them.
func (p *producer) begin(ctx context.Context, o system.ProducerOptions) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if err := p.client.EnsureProduceConnectionIsOpen(ctx, -1); err != nil {
		return fmt.Errorf("connecting the producer: %w", err)
	}
	if p.of.idempotent() {
		if _, _, err := p.client.ProducerID(ctx); err != nil {
			return fmt.Errorf("asking for a producer id: %w", err)
		}
	}
	if o.Delivery != workload.ExactlyOnce {
		return nil
	}
	txn, err := newTransactions(p, p.of.cfg.txnInterval)
	p.txn = txn
	return err
}

// Send hands the message to the client library. It blocks while every slot is
// in flight, and while a transaction ends.
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
	s.m = m
	s.record = kgo.Record{Topic: p.topic, Partition: m.Partition, Key: m.Key, Value: m.Payload}
	if p.txn != nil {
		p.txn.send(s)
		return
	}
	p.client.Produce(context.Background(), &s.record, s.promise)
}

// take waits for a free slot; nil: the producer is closed.
func (p *producer) take() *slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 && !p.closed {
		if p.txn != nil {
			p.txn.hurry()
		}
		p.changed.Wait()
	}
	if p.closed {
		return nil
	}
	s := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return s
}

// answered takes the library's word on a record.
func (p *producer) answered(s *slot, err error) {
	if p.txn != nil {
		p.txn.answered(s, err)
		return
	}
	p.end(s, outcome(err))
}

// end tells the message's end and frees its slot, in this order: a Close that
// finds every slot free finds every message told.
func (p *producer) end(s *slot, err error) {
	m := s.m
	s.m = nil
	m.Done(err)
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
	p.changed.Broadcast()
}

// refusals are the errors after which a broker has not written the message and
// will not.
var refusals = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTopicException, kerr.InvalidTimestamp,
	kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed, kerr.TransactionalIDAuthorizationFailed,
	kerr.UnsupportedForMessageFormat, kerr.UnsupportedCompressionType, kerr.PolicyViolation, kerr.InvalidRequiredAcks,
	kgo.ErrMaxBuffered,
}

// outcome says what an error of the client library means for the message.
// Whatever is no plain refusal may have been written, by an earlier try too.
func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, context.Canceled):
		return errUnanswered
	}
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
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
	defer p.of.forget(p)
	var err error
	if p.txn != nil {
		err = p.txn.close(ctx)
	} else {
		err = p.client.Flush(ctx)
	}
	// This ends what is still buffered, with an error.
	p.cancel()
	p.client.Close()
	p.awaitSlots()
	if err != nil {
		return fmt.Errorf("closing the producer: waiting for acknowledgements: %w", err)
	}
	return nil
}

// awaitSlots waits until every message has been told its end: the library
// tells of the last ones on goroutines of its own.
func (p *producer) awaitSlots() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) < p.slots {
		p.changed.Wait()
	}
}
