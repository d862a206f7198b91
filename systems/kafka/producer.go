package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// closeGrace is the most time that closing takes beyond its bound, for work that must be done.
const closeGrace = time.Second

// producer sends to one topic through its own client. Each pooled message keeps its record and its
// callback attached, so that a Send allocates neither.
type producer struct {
	client     *kgo.Client
	cancel     context.CancelFunc // ends the client's connections
	topic      string
	partitions int
	most       int64         // in flight at one time
	txn        *transactions // nil: each message by itself
	of         *cluster

	closed   atomic.Bool
	inFlight atomic.Int64
	idle     driver.Signal // signalled when, after Close, the last message in flight has ended
	closing  driver.Closing
}

// parcel is the value attached to a message.
type parcel struct {
	record  kgo.Record
	m       *system.Message
	promise func(*kgo.Record, error)
}

// OpenProducer opens a producer with a client of its own.
func (c *cluster) OpenProducer(ctx context.Context, o system.ProducerOptions) (system.Producer,
	error) {
	if limit := c.Bytes(setBatchSize); int64(o.MessageMax) > limit-batchOverhead {
		return nil, fmt.Errorf(
			"messages of %d bytes do not fit into a batch of %d (%s): raise it, and "+
				"max.message.bytes of the topic", o.MessageMax, limit, setBatchSize)
	}
	life, cancel := context.WithCancel(context.Background())
	client, err := kgo.NewClient(append(c.producerOptions(o), kgo.WithContext(life))...)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("the client library refuses the settings: %w", err)
	}
	p := &producer{
		client: client, cancel: cancel, topic: o.Topic.Name, partitions: o.Topic.Partitions, of: c,
		most: int64(max(o.InFlight, 1)),
		idle: driver.NewSignal(),
	}
	if err := p.begin(ctx, o); err != nil {
		cancel()
		client.Close()
		return nil, c.explain(err)
	}
	return p, c.clients.Keep(ctx, p)
}

// batchOverhead bounds the bytes of a batch of one record without its payload.
const batchOverhead = 512

func (c *cluster) producerOptions(o system.ProducerOptions) []kgo.Opt {
	acks := kgo.AllISRAcks()
	if !c.level.Majority() {
		acks = kgo.LeaderAck()
	}
	options := append(baseOptions(c.options),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(acks),
		kgo.ProducerLinger(c.Duration(setLinger)),
		kgo.ProducerBatchMaxBytes(int32(c.Bytes(setBatchSize))),
		kgo.ProducerBatchCompression(codecs[c.Text(setCompression)]),
		kgo.ProduceRequestTimeout(c.Duration(setRequestTimeout)),
		kgo.RecordDeliveryTimeout(c.Duration(setDeliveryTimeout)),
		// The sender bounds the buffered messages, so the library must not.
		kgo.MaxBufferedRecords(max(o.InFlight, 1)+1),
		kgo.UnknownTopicRetries(10),
	)
	if !c.idempotent() {
		options = append(options, kgo.DisableIdempotentWrite(),
			kgo.MaxProduceRequestsInflightPerBroker(int(c.Count(setMaxInFlight))))
	}
	if o.Answered != nil && o.Delivery != workload.ExactlyOnce { // a commit is a request too
		options = append(options, kgo.WithHooks(requests{o.Answered}))
	}
	if o.Delivery == workload.ExactlyOnce {
		options = append(options, kgo.TransactionalID(fmt.Sprintf("%s-%d", o.Topic.Name, o.Index)),
			kgo.TransactionTimeout(c.Duration(setTxnTimeout)))
	}
	return options
}

// requests tells how long brokers take for produce requests.
type requests struct{ answered func(took time.Duration) }

var _ kgo.HookBrokerE2E = requests{}

// OnBrokerE2E is called by the client library for each request.
func (r requests) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, request kgo.BrokerE2E) {
	if key == int16(kmsg.Produce) && request.Err() == nil {
		r.answered(request.DurationE2E())
	}
}

// begin opens the connections before the first message needs them.
func (p *producer) begin(ctx context.Context, o system.ProducerOptions) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if err := p.client.EnsureProduceConnectionIsOpen(ctx, -1); err != nil {
		return fmt.Errorf("connect the producer: %w", err)
	}
	if p.of.idempotent() {
		if _, _, err := p.client.ProducerID(ctx); err != nil {
			return fmt.Errorf("ask for a producer id: %w", err)
		}
	}
	if o.Delivery != workload.ExactlyOnce {
		return nil
	}
	txn, err := newTransactions(p, p.of.Duration(setTxnInterval))
	p.txn = txn
	return err
}

// Send hands the message to the client library. It blocks while a transaction
// ends.
func (p *producer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, p.partitions); err != nil {
		m.Done(err)
		return
	}
	one, attached := m.Attached.(*parcel)
	if !attached {
		one = &parcel{m: m}
		one.promise = func(_ *kgo.Record, err error) { p.answered(one, err) }
		m.Attached = one
	}
	p.inFlight.Add(1)
	switch {
	case p.closed.Load():
		p.end(one, driver.ErrProducerClosed)
	case p.txn != nil:
		p.txn.send(one)
	default:
		p.produce(one)
	}
}

// produce gives the message to the client library.
func (p *producer) produce(one *parcel) {
	m := one.m
	one.record = kgo.Record{Topic: p.topic, Partition: m.Partition, Key: m.Key, Value: m.Payload}
	p.client.Produce(context.Background(), &one.record, one.promise)
}

// answered handles the library's result of a record.
func (p *producer) answered(one *parcel, err error) {
	if p.txn != nil {
		p.txn.answered(one, err)
		return
	}
	p.end(one, outcome(err))
}

// end reports the message's result. Afterwards the message belongs to its sender.
func (p *producer) end(one *parcel, err error) {
	one.m.Done(err)
	if p.inFlight.Add(-1) == 0 && p.closed.Load() {
		p.idle.Give()
	}
}

// refusals are the errors that say that a broker has not written the message and will not.
var refusals = []error{
	kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTopicException,
	kerr.InvalidTimestamp,
	kerr.TopicAuthorizationFailed, kerr.ClusterAuthorizationFailed,
	kerr.TransactionalIDAuthorizationFailed,
	kerr.UnsupportedForMessageFormat, kerr.UnsupportedCompressionType, kerr.PolicyViolation,
	kerr.InvalidRequiredAcks,
	kgo.ErrMaxBuffered,
}

// outcome returns a message's result from the client library's error.
// After any error other than a refusal, the message may have been written, perhaps by an earlier
// attempt.
func outcome(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, context.Canceled):
		return driver.ErrUnanswered
	}
	return driver.Outcome(err, refusals)
}

// Close refuses further messages, waits within ctx for outstanding answers, and ends the remaining
// messages with an error. It is idempotent and safe to call while Send runs.
func (p *producer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error { return p.close(ctx) })
}

func (p *producer) close(ctx context.Context) (err error) {
	p.closed.Store(true)
	if p.txn != nil {
		err = p.txn.close(ctx)
	} else {
		err = p.client.Flush(ctx)
	}
	// This ends the buffered messages with an error.
	p.cancel()
	p.client.Close()
	// The library reports the last results on its own goroutines.
	for p.inFlight.Load() > 0 {
		<-p.idle
	}
	if err != nil {
		return fmt.Errorf("close the producer: wait for acknowledgements: %w", err)
	}
	return nil
}
