package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/plimsoll-bench/plimsoll/system"
)

// transactions sends a producer's messages in one transaction after another.
// A message has its end when its transaction has.
type transactions struct {
	p      *producer
	kick   chan struct{}
	stop   chan struct{}
	life   context.Context // of the committer's requests
	cancel context.CancelFunc
	ended  chan struct{} // closed when the committer has ended
	broken error         // no transaction can be begun any more; the gate's

	// gate is held while a record is handed over and while a transaction
	// ends: the library takes no record in between.
	gate sync.Mutex
	sent int // records of this transaction

	mu      sync.Mutex
	failed  error // why this transaction cannot be committed
	settled []*parcel
	over    bool // no transaction will end any more
}

func newTransactions(p *producer, interval time.Duration) (*transactions, error) {
	if err := p.client.BeginTransaction(); err != nil {
		return nil, fmt.Errorf("beginning a transaction: %w", err)
	}
	t := &transactions{p: p, kick: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	t.life, t.cancel = context.WithCancel(context.Background())
	go t.run(interval)
	return t, nil
}

// send hands a record over within the present transaction.
func (t *transactions) send(one *parcel) {
	t.gate.Lock()
	defer t.gate.Unlock()
	if t.broken != nil {
		t.p.end(one, t.broken)
		return
	}
	t.sent++
	t.p.client.Produce(context.Background(), &one.record, one.promise)
	if t.p.inFlight.Load() >= t.p.most {
		t.hurry()
	}
}

// answered keeps a record until its transaction ends.
func (t *transactions) answered(one *parcel, err error) {
	t.mu.Lock()
	over := t.over
	if !over {
		t.settled = append(t.settled, one)
		if t.failed == nil {
			t.failed = err
		}
	}
	t.mu.Unlock()
	if over {
		t.p.end(one, errUnanswered)
	}
}

// hurry ends the transaction before its time: no more can be sent until it
// has ended.
func (t *transactions) hurry() {
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// run ends a transaction every interval, until the producer closes.
func (t *transactions) run(interval time.Duration) {
	defer close(t.ended)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-ticker.C:
		case <-t.kick:
		}
		ctx, cancel := context.WithTimeout(t.life, t.p.of.cfg.txnTimeout)
		t.next(ctx)
		cancel()
	}
}

// next ends the present transaction and begins another.
func (t *transactions) next(ctx context.Context) {
	t.gate.Lock()
	if t.sent == 0 || t.broken != nil {
		t.gate.Unlock()
		return
	}
	ended, err := t.end(ctx)
	if begin := t.p.client.BeginTransaction(); begin != nil {
		t.broken = fmt.Errorf("no further transaction can be begun: %w", begin)
	}
	t.gate.Unlock()
	for _, one := range ended {
		t.p.end(one, err)
	}
}

// end commits the present transaction, or aborts it when a record of it failed,
// and returns its records and what became of them all. The gate is held.
func (t *transactions) end(ctx context.Context) (ended []*parcel, err error) {
	t.sent = 0
	if err := t.p.client.Flush(ctx); err != nil {
		// What is left fails, which aborts the transaction below.
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		_ = t.p.client.AbortBufferedRecords(ctx)
		cancel()
	}
	t.mu.Lock()
	cause := t.failed
	ended, t.settled, t.failed = t.settled, nil, nil
	t.mu.Unlock()
	if cause == nil {
		if err := t.p.client.EndTransaction(ctx, kgo.TryCommit); err != nil {
			_ = t.abort(ctx) // what became of it is unknown either way
			return ended, fmt.Errorf("committing the transaction: %w: %w", err, system.ErrUnknown)
		}
		return ended, nil
	}
	if err := t.abort(ctx); err != nil {
		return ended, fmt.Errorf("aborting the transaction after %w: %w: %w", cause, err, system.ErrUnknown)
	}
	return ended, fmt.Errorf("the transaction was aborted: %w", cause)
}

func (t *transactions) abort(ctx context.Context) error {
	return t.p.client.EndTransaction(ctx, kgo.TryAbort)
}

// close ends the last transaction within ctx. What it cannot end stays for the
// coordinator to abort; its messages are told that their outcome is unknown.
func (t *transactions) close(ctx context.Context) error {
	close(t.stop)
	select {
	case <-t.ended:
	case <-ctx.Done():
	}
	t.cancel() // of the waiting for a broker, if the committer does
	<-t.ended
	t.gate.Lock()
	t.broken = errProducerClosed
	var ended []*parcel
	var err error
	if ctx.Err() == nil {
		ended, err = t.end(ctx)
	}
	t.mu.Lock()
	t.over = true
	left := t.settled
	t.settled = nil
	t.mu.Unlock()
	t.gate.Unlock()
	for _, one := range ended {
		t.p.end(one, err)
	}
	for _, one := range left {
		t.p.end(one, errUnanswered)
	}
	return errors.Join(err, ctx.Err())
}
