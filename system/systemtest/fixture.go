package systemtest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// stampSize is the length of the header of every payload: producer and sequence.
const stampSize = 16

// topicNumber keeps the tests' topics apart on a cluster that they share.
var topicNumber atomic.Int64

// numbered returns the name of a topic that does not exist yet.
func numbered() string { return fmt.Sprintf("systemtest-%d", topicNumber.Add(1)) }

func (s *suite) topic(t *testing.T, c system.Cluster, parts int) system.Topic {
	t.Helper()
	topic := system.Topic{Name: numbered(), Partitions: parts}
	if err := c.CreateTopic(s.context(t), topic); err != nil {
		t.Fatalf("creating a topic: %v", err)
	}
	return topic
}

// sender sends through one producer and keeps the result of each message.
type sender struct {
	id       int
	producer system.Producer
	room     chan struct{} // a place for each message in flight
	parts    int
	sent     []*trackedMessage
}

// trackedMessage is a message and its result.
type trackedMessage struct {
	message system.Message
	ends    atomic.Int32
	err     error
	room    chan struct{}
	ended   chan struct{} // closed by the first end

	transaction uint32 // the last number that Enlist received; 0: none
	enlisted    int    // calls of Enlist
	text        []byte // not nil: the payload, which is blank until Enlist
}

// Enlist keeps the transaction's number. It writes the payload, so a producer that
// has read the payload earlier has sent a blank one.
func (l *trackedMessage) Enlist(transaction uint32) {
	l.transaction = transaction
	l.enlisted++
	copy(l.message.Payload, l.text)
}

// Complete counts its calls and clears the payload, which the producer must not read
// any more.
func (l *trackedMessage) Complete(err error) {
	if l.ends.Add(1) > 1 {
		return
	}
	l.err = err
	clear(l.message.Payload)
	<-l.room
	close(l.ended)
}

func (s *suite) sender(t *testing.T, c system.Cluster, topic system.Topic, id int) *sender {
	t.Helper()
	p, err := c.OpenProducer(s.context(t), system.ProducerOptions{Topic: topic, Index: id,
		InFlight: inFlight, MessageMax: big, Delivery: s.delivery})
	if err != nil {
		t.Fatalf("opening producer %d: %v", id, err)
	}
	return &sender{id: id, producer: p, room: make(chan struct{}, inFlight),
		parts: topic.Partitions}
}

// send sends one message of size bytes to partition, waiting for room.
func (p *sender) send(ctx context.Context, partition int32, key []byte, size int) error {
	l, err := p.prepare(ctx, partition, key, size)
	if err == nil {
		p.producer.Send(&l.message)
	}
	return err
}

// prepare returns the next message to send, when there is room for it in flight.
func (p *sender) prepare(ctx context.Context, partition int32, key []byte,
	size int) (*trackedMessage, error) {
	select {
	case p.room <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("producer %d: %d messages are in flight and none ends: %w", p.id,
			inFlight, ctx.Err())
	}
	l := &trackedMessage{room: p.room, ended: make(chan struct{})}
	l.message = system.Message{Partition: partition, Key: key,
		Payload: payload(p.id, len(p.sent), size)}
	l.message.Bind(l)
	p.sent = append(p.sent, l)
	return l, nil
}

// sendMany sends n small messages round the partitions.
func (p *sender) sendMany(ctx context.Context, n int) error {
	for i := range n {
		if err := p.send(ctx, int32(i%p.parts), nil, 64); err != nil {
			return err
		}
	}
	return nil
}

// await waits until every message sent has ended.
func (p *sender) await(ctx context.Context) error {
	for i, l := range p.sent {
		select {
		case <-l.ended:
		case <-ctx.Done():
			return fmt.Errorf("producer %d: message %d of %d has not ended (%w); system.Producer: "+
				"it calls Done exactly once for every Send", p.id, i, len(p.sent), ctx.Err())
		}
	}
	return nil
}

// check fails the test for each message that did not end exactly once, and
// returns the number acknowledged. Call it after await.
func (p *sender) check(t *testing.T) int {
	t.Helper()
	acked := 0
	for i, l := range p.sent {
		if n := l.ends.Load(); n != 1 {
			t.Errorf("producer %d: message %d ended %d times", p.id, i, n)
			continue
		}
		if l.err == nil {
			acked++
		}
	}
	return acked
}

// mustAll fails the test unless every message was acknowledged.
func (p *sender) mustAll(t *testing.T) {
	t.Helper()
	p.check(t)
	for i, l := range p.sent {
		if l.err != nil {
			t.Fatalf("producer %d: message %d of %d was refused: %v", p.id, i, len(p.sent), l.err)
		}
	}
}

// payload returns bytes that depend on producer, sequence and size, so a payload that
// arrives cut short is wrong.
func payload(producer, sequence, size int) []byte {
	b := make([]byte, max(size, stampSize))
	binary.BigEndian.PutUint64(b, uint64(producer))
	binary.BigEndian.PutUint64(b[8:], uint64(sequence))
	x := uint64(producer)<<48 + uint64(sequence)<<24 + uint64(len(b))
	for i := stampSize; i < len(b); i++ {
		x = x*6364136223846793005 + 1442695040888963407
		b[i] = byte(x >> 56)
	}
	return b
}

// id identifies a message.
type id struct{ producer, sequence int }

// idOf reads the header of a payload. A payload that is too short has the id {-1, -1}.
func idOf(payload []byte) id {
	if len(payload) < stampSize {
		return id{-1, -1}
	}
	return id{int(binary.BigEndian.Uint64(payload)), int(binary.BigEndian.Uint64(payload[8:]))}
}

// arrivals holds the messages that one or more consumers received.
type arrivals struct {
	mu      sync.Mutex
	order   []id
	seen    map[id]int
	wrong   error
	failed  error
	changed chan struct{} // holds a value after a change
}

func newArrivals() *arrivals {
	return &arrivals{seen: make(map[id]int), changed: make(chan struct{}, 1)}
}

// receive keeps a message and checks every byte of its payload.
func (b *arrivals) receive(m system.Received) {
	got := m.Payload
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.note()
	if len(got) < stampSize {
		b.wrong = fmt.Errorf("a payload of %d bytes arrived; none was sent", len(got))
		return
	}
	message := idOf(got)
	if !bytes.Equal(got, payload(message.producer, message.sequence, len(got))) {
		b.wrong = fmt.Errorf("message %v of %d bytes arrived changed", message, len(got))
		return
	}
	b.seen[message]++
	b.order = append(b.order, message)
}

func (b *arrivals) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
	b.note()
}

func (b *arrivals) note() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// distinct returns the number of different messages that arrived.
func (b *arrivals) distinct() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// await waits until n different messages have arrived.
func (b *arrivals) await(ctx context.Context, n int) error {
	for {
		b.mu.Lock()
		have, err := len(b.seen), errors.Join(b.wrong, b.failed)
		b.mu.Unlock()
		if err != nil {
			return err
		}
		if have >= n {
			return nil
		}
		select {
		case <-b.changed:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d messages arrived: %w", have, n, ctx.Err())
		}
	}
}

// awaitEach waits until n different messages have arrived, for each of them at most for a time.
func (b *arrivals) awaitEach(n int, within time.Duration) error {
	for have := b.distinct(); have < n; have = b.distinct() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		err := b.await(ctx, have+1)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// ended returns a context that has ended.
func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// mustBeInOrder fails the test unless messages arrived in order, or the system says that it
// keeps none.
func (s *suite) mustBeInOrder(t *testing.T, b *arrivals) {
	t.Helper()
	if why := s.System.Describe().WhyUnordered(s.options[s.level].Settings); why != "" {
		t.Logf("the order is not looked at: %s", why)
		return
	}
	b.mustBeInOrder(t)
}

// mustBeInOrder fails the test unless messages arrived in the order of their sequence.
func (b *arrivals) mustBeInOrder(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, message := range b.order {
		if message.sequence != i {
			t.Fatalf("arrival %d is message %d", i, message.sequence)
		}
	}
}

// consumer opens a consumer of a subscription.
func (s *suite) consumer(t *testing.T, c system.Cluster, topic system.Topic, subscription string,
	index int, d workload.Delivery, b *arrivals) system.Consumer {
	t.Helper()
	return s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: subscription, Index: index, Delivery: d,
		Receive: b.receive, Failed: b.fail,
	})
}

// consumerFunc opens a consumer and checks that one goroutine at a time calls Receive.
func (s *suite) consumerFunc(t *testing.T, c system.Cluster,
	o system.ConsumerOptions) system.Consumer {
	t.Helper()
	var running atomic.Int32
	receive := o.Receive
	o.Receive = func(m system.Received) {
		if running.Add(1) > 1 {
			t.Error("Receive was called by two goroutines at a time")
		}
		defer running.Add(-1)
		receive(m)
	}
	consumer, err := c.OpenConsumer(s.context(t), o)
	if err != nil {
		t.Fatalf("opening consumer %d of %s: %v", o.Index, o.Subscription, err)
	}
	return consumer
}

func (s *suite) close(t *testing.T, c interface{ Close(context.Context) error }) {
	t.Helper()
	if err := c.Close(s.context(t)); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// must fails the test on an error.
func must(t *testing.T, doing string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", doing, err)
	}
}
