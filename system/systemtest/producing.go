package systemtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func (s *suite) ordering(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, 1)
	b := newArrivals()
	s.consumer(t, c, topic, "order", 0, workload.AtLeastOnce, b)
	s.sendAll(t, c, topic, 0)
	must(t, "receiving", b.await(s.context(t), s.Messages))
	s.mustBeInOrder(t, b)
}

func (s *suite) everySendEndsOnce(t *testing.T) {
	const producers = 4
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	ctx := s.context(t)
	all := make([]*sender, producers)
	errs := make([]error, producers)
	for i := range all {
		all[i] = s.sender(t, c, topic, i)
	}
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { errs[i] = p.sendMany(ctx, s.Messages) })
	}
	wg.Wait()
	for i, p := range all {
		must(t, "sending", errs[i])
		s.close(t, p.producer)
		must(t, "waiting for the end of every message", p.await(ctx))
		p.mustAll(t)
	}
}

// batches sends several messages in one call, some to a partition that does not
// exist. Each message has its own result, and the valid ones arrive in order.
func (s *suite) batches(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, 1)
	b := newArrivals()
	s.consumer(t, c, topic, "batches", 0, workload.AtLeastOnce, b)
	p := s.sender(t, c, topic, 0)
	batched, able := p.producer.(system.BatchSender)
	if !able {
		t.Skip("this producer takes one message at a time")
	}
	ctx := s.context(t)
	const size = 10
	good := s.Messages / size * size
	for range good / size {
		batch := make([]*system.Message, size)
		for i := range batch {
			m, err := p.prepare(ctx, 0, nil, 64)
			must(t, "sending", err)
			batch[i] = &m.message
		}
		batched.SendBatch(batch)
		clear(batch) // SendBatch does not keep the slice
	}
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	must(t, "receiving", b.await(ctx, good))
	s.mustBeInOrder(t, b)
	mixed := make([]*system.Message, 2)
	for i := range mixed {
		m, err := p.prepare(ctx, int32(i), nil, 64)
		must(t, "sending", err)
		mixed[i] = &m.message
	}
	batched.SendBatch(mixed)
	must(t, "waiting for the end of every message", p.await(ctx))
	if acked := p.check(t); acked != good+1 {
		t.Errorf("%d messages were acknowledged, want %d", acked, good+1)
	}
}

// gathered sends messages after Gather, some of them too large to be kept back. Flush and Close
// send them all, and they arrive in order.
func (s *suite) gathered(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, 1)
	b := newArrivals()
	s.consumer(t, c, topic, "gathered", 0, workload.AtLeastOnce, b)
	p := s.sender(t, c, topic, 0)
	gatherer, able := p.producer.(system.Gatherer)
	if !able {
		t.Skip("this producer sends each message by itself")
	}
	ctx := s.context(t)
	const size = 10
	for round := range 3 {
		gatherer.Gather()
		must(t, "sending", p.sendMany(ctx, size))
		if round == 1 {
			must(t, "sending", p.send(ctx, 0, nil, big))
		}
		if round < 2 {
			gatherer.Flush()
			must(t, "waiting for acknowledgements", p.await(ctx))
		}
	}
	s.close(t, p.producer)
	p.mustAll(t)
	must(t, "receiving", b.await(ctx, len(p.sent)))
	s.mustBeInOrder(t, b)
}

// closeWhileSending closes a producer, with time enough, while another goroutine
// goes on sending. Earlier messages are acknowledged and later ones refused.
func (s *suite) closeWhileSending(t *testing.T) {
	s.closeAmid(t, s.context(t))
}

// closeWithoutTime is closeWhileSending with a context that has ended already.
func (s *suite) closeWithoutTime(t *testing.T) {
	s.closeAmid(t, ended(context.Background()))
}

func (s *suite) closeAmid(t *testing.T, closing context.Context) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	underWay, sent := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := range s.Messages {
			if i == s.Messages/4 {
				close(underWay)
			}
			if err := p.send(ctx, int32(i%partitions), nil, 64); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	select {
	case <-underWay:
	case <-ctx.Done():
		t.Fatal("a quarter of the messages could not be sent")
	}
	closed := p.producer.Close(closing)
	if closing.Err() == nil && closed != nil {
		t.Errorf("closing with time to spare: %v", closed)
	}
	must(t, "sending after Close", <-sent)
	must(t, "waiting for the end of every message", p.await(ctx))
	acked := p.check(t)
	t.Logf("%d of %d acknowledged", acked, len(p.sent))
	if before := s.Messages/4 - inFlight; closing.Err() == nil && acked < before {
		t.Errorf("%d acknowledged of more than %d that were sent before Close; the first ended "+
			"with %v", acked, before, p.sent[0].err)
	}
	if err := p.send(ctx, 0, nil, 64); err != nil {
		t.Fatal(err)
	}
	must(t, "waiting for the end of the last message", p.await(ctx))
	if p.sent[len(p.sent)-1].err == nil {
		t.Error("a message sent after Close was acknowledged")
	}
}

// closeEndsAll closes a producer without time right after sending: when Close
// has returned, every message has ended.
func (s *suite) closeEndsAll(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	must(t, "sending", p.sendMany(ctx, inFlight))
	// There is no error if every answer has arrived already.
	_ = p.producer.Close(ended(ctx))
	for i, l := range p.sent {
		select {
		case <-l.ended:
		default:
			t.Fatalf("message %d has not ended when Close has returned", i)
		}
	}
	p.check(t)
}

func (s *suite) noSuchPartition(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, 2)
	p := s.sender(t, c, topic, 0)
	ctx := s.context(t)
	for _, partition := range []int32{2, -1} {
		must(t, "sending", p.send(ctx, partition, nil, 64))
	}
	must(t, "waiting for the end of every message", p.await(ctx))
	if acked := p.check(t); acked != 0 {
		t.Errorf("%d messages to partitions that do not exist were acknowledged", acked)
	}
}

func (s *suite) payloads(t *testing.T) {
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newArrivals()
	s.consumer(t, c, topic, "payloads", 0, workload.AtLeastOnce, b)
	p := s.sender(t, c, topic, 7)
	ctx := s.context(t)
	sizes := []int{stampSize, stampSize + 1, 100, 1 << 10, 4<<10 - 1, big}
	n := max(s.Messages/10, len(sizes))
	for i := range n {
		var key []byte
		if i%2 == 0 {
			key = fmt.Appendf(nil, "key \x00\xff\r\n %d", i)
		}
		must(t, "sending", p.send(ctx, int32(i%partitions), key, sizes[i%len(sizes)]))
	}
	must(t, "waiting for acknowledgements", p.await(ctx))
	p.mustAll(t)
	must(t, "receiving", b.await(ctx, n))
}
