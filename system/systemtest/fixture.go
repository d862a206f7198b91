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

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// stampSize is the first bytes of every payload: who sent it and which it is.
const stampSize = 16

// topicNumber keeps the tests' topics apart on a cluster that they share.
var topicNumber atomic.Int64

// numbered is the name of a topic that there is not yet.
func numbered() string { return fmt.Sprintf("systemtest-%d", topicNumber.Add(1)) }

func (s *suite) topic(t *testing.T, c system.Cluster, parts int) system.Topic {
	t.Helper()
	topic := system.Topic{Name: numbered(), Partitions: parts}
	if err := c.CreateTopic(s.context(t), topic); err != nil {
		t.Fatalf("creating a topic: %v", err)
	}
	return topic
}

// sender sends through one producer and remembers what became of each message.
type sender struct {
	id       int
	producer system.Producer
	room     chan struct{} // a place for each message in flight
	parts    int
	sent     []*letter
}

// letter is one message and its end.
type letter struct {
	message system.Message
	ends    atomic.Int32
	err     error
	room    chan struct{}
	ended   chan struct{} // closed by the first end

	transaction uint32 // that it was enlisted in; 0: in none
	enlisted    int    // times
	text        []byte // not nil: the payload, which is blank until it is enlisted
}

// Enlist keeps the transaction's number. A payload that is written only now shows that
// nobody has read it before.
func (l *letter) Enlist(transaction uint32) {
	l.transaction = transaction
	l.enlisted++
	copy(l.message.Payload, l.text)
}

// Complete counts the ends and spoils the payload, which nobody may read any more.
func (l *letter) Complete(err error) {
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
	l, err := p.letter(ctx, partition, key, size)
	if err == nil {
		p.producer.Send(&l.message)
	}
	return err
}

// letter is a message that is to be sent, when there is room for it.
func (p *sender) letter(ctx context.Context, partition int32, key []byte, size int) (*letter,
	error) {
	select {
	case p.room <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("producer %d: %d messages are in flight and none ends: %w", p.id,
			inFlight, ctx.Err())
	}
	l := &letter{room: p.room, ended: make(chan struct{})}
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
			return fmt.Errorf("producer %d: message %d of %d has not ended: %w", p.id, i,
				len(p.sent), ctx.Err())
		}
	}
	return nil
}

// check fails the test for each message that did not end exactly once, and
// returns how many were acknowledged. Call it after await.
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

// payload is a function of who sends it, which it is and its size, so that one
// that arrives cut short is a wrong one.
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

// id says which message it is.
type id struct{ producer, sequence int }

// idOf reads the first bytes of a payload; one that is too short has no id.
func idOf(payload []byte) id {
	if len(payload) < stampSize {
		return id{-1, -1}
	}
	return id{int(binary.BigEndian.Uint64(payload)), int(binary.BigEndian.Uint64(payload[8:]))}
}

// inbox is what one consumer, or several of a subscription, received.
type inbox struct {
	mu      sync.Mutex
	order   []id
	seen    map[id]int
	wrong   error
	failed  error
	changed chan struct{} // holds one note that something changed
}

func newInbox() *inbox {
	return &inbox{seen: make(map[id]int), changed: make(chan struct{}, 1)}
}

// receive takes one payload and checks every byte of it.
func (b *inbox) receive(m system.Received) {
	got := m.Payload
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.note()
	if len(got) < stampSize {
		b.wrong = fmt.Errorf("a payload of %d bytes arrived; none was sent", len(got))
		return
	}
	one := idOf(got)
	if !bytes.Equal(got, payload(one.producer, one.sequence, len(got))) {
		b.wrong = fmt.Errorf("message %v of %d bytes arrived changed", one, len(got))
		return
	}
	b.seen[one]++
	b.order = append(b.order, one)
}

func (b *inbox) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = err
	b.note()
}

func (b *inbox) note() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// distinct is how many different messages arrived.
func (b *inbox) distinct() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// await waits until n different messages have arrived.
func (b *inbox) await(ctx context.Context, n int) error {
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

// consumer opens one of the consumers of a subscription.
func (s *suite) consumer(t *testing.T, c system.Cluster, topic system.Topic, subscription string,
	index int, d workload.Delivery, b *inbox) system.Consumer {
	t.Helper()
	return s.consumerFunc(t, c, system.ConsumerOptions{
		Topic: topic, Subscription: subscription, Index: index, Delivery: d,
		Receive: b.receive, Failed: b.fail,
	})
}

// consumerFunc opens a consumer and sees to it that Receive is called by one
// goroutine at a time.
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

func (s *suite) close(t *testing.T, one interface{ Close(context.Context) error }) {
	t.Helper()
	if err := one.Close(s.context(t)); err != nil {
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
