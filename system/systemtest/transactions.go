package systemtest

import (
	"bytes"
	"sync"
	"testing"
)

// transactions sends from two producers at a time. Each numbers its transactions from
// 1, one after another, and enlists every message once, before it reads the payload.
func (s *suite) transactions(t *testing.T) {
	const producers = 2
	c := s.connect(t)
	topic := s.topic(t, c, partitions)
	b := newArrivals()
	s.consumer(t, c, topic, "transactions", 0, s.delivery, b)
	ctx := s.context(t)
	all, errs := make([]*sender, producers), make([]error, producers)
	var wg sync.WaitGroup
	for i := range all {
		p := s.sender(t, c, topic, i)
		all[i] = p
		wg.Go(func() {
			for n := range s.Messages / producers {
				l, err := p.prepare(ctx, int32(n%partitions), nil, 64)
				if err != nil {
					errs[i] = err
					return
				}
				l.text = bytes.Clone(l.message.Payload)
				clear(l.message.Payload)
				p.producer.Send(&l.message)
			}
		})
	}
	wg.Wait()
	for i, p := range all {
		must(t, "sending", errs[i])
		must(t, "waiting for acknowledgements", p.await(ctx))
		p.mustAll(t)
		p.checkTransactions(t)
	}
	must(t, "receiving", b.await(s.context(t), s.Messages))
}

// checkTransactions checks how a producer's messages were enlisted. Call it after await.
func (p *sender) checkTransactions(t *testing.T) {
	t.Helper()
	last := uint32(1)
	for i, l := range p.sent {
		if l.enlisted != 1 {
			t.Fatalf("producer %d: message %d was enlisted %d times", p.id, i, l.enlisted)
		}
		next := i > 0 && l.transaction == last+1
		if l.transaction != last && !next {
			t.Fatalf("producer %d: message %d is of transaction %d, after one of %d",
				p.id, i, l.transaction, last)
		}
		last = l.transaction
	}
	t.Logf("producer %d: %d messages in %d transactions", p.id, len(p.sent), last)
	if last < 2 {
		t.Errorf("producer %d sent all messages in one transaction", p.id)
	}
}
