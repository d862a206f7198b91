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
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// transactions sends a producer's messages in consecutive transactions. All messages of a
// transaction get its result when it ends: committed; not committed, for good; or unknown, because
// the commit was not answered.
type transactions struct {
	p      *producer
	kick   driver.Signal
	stop   chan struct{}
	life   context.Context // bounds the committer's requests
	cancel context.CancelFunc
	ended  chan struct{} // closed when the committer has ended
	broken error         // no transaction can be begun any more; guarded by gate

	// gate is held while a record is handed over and while a transaction ends, because the library
	// takes no record meanwhile.
	gate   sync.Mutex
	number uint32 // of this transaction, from 1
	sent   int    // records of this transaction

	mu      sync.Mutex
	failed  error // why this transaction cannot be committed
	settled []*parcel
	over    bool // no transaction will end any more
}

var (
	errAbandoned = errors.New("the producer was closed before it committed the transaction")
	errUnsettled = errors.New("not all of its messages were answered within " + setTxnTimeout)
)

func newTransactions(p *producer, interval time.Duration) (*transactions, error) {
	if err := p.client.BeginTransaction(); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	t := &transactions{
		p: p, number: 1,
		kick: driver.NewSignal(), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	t.life, t.cancel = context.WithCancel(context.Background())
	go t.run(interval)
	return t, nil
}

// send hands over a record in the current transaction.
func (t *transactions) send(one *parcel) {
	t.gate.Lock()
	defer t.gate.Unlock()
	if t.broken != nil {
		t.p.end(one, t.broken)
		return
	}
	t.sent++
	one.m.InTransaction(t.number)
	t.p.produce(one)
	if t.p.inFlight.Load() >= t.p.most {
		t.kick.Give() // no more can be sent until it has ended
	}
}

// answered keeps a record until its transaction ends. A record answered after the last transaction
// has ended belongs to one that was not committed, because the record was missing.
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
		t.p.end(one, errAbandoned)
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
		ctx, cancel := context.WithTimeout(t.life, t.p.of.Duration(setTxnTimeout))
		t.next(ctx)
		cancel()
	}
}

// next ends the current transaction and begins another.
func (t *transactions) next(ctx context.Context) {
	t.gate.Lock()
	if t.sent == 0 || t.broken != nil {
		t.gate.Unlock()
		return
	}
	ended, err := t.end(ctx, t.life)
	if begin := t.p.client.BeginTransaction(); begin != nil {
		t.broken = fmt.Errorf("no further transaction can be begun: %w", begin)
	}
	t.gate.Unlock()
	for _, one := range ended {
		t.p.end(one, err)
	}
}

// end commits the current transaction, or aborts it if one of its records failed, and returns its
// records and their common result. The caller holds the gate.
//
// If ctx ends first, end gives up the records that no broker can have. It waits for the others
// until patience ends, because they would be part of the next transaction.
func (t *transactions) end(ctx, patience context.Context) (ended []*parcel, err error) {
	t.sent = 0
	t.number++
	flushed := t.p.client.Flush(ctx)
	if flushed != nil {
		// If this fails too, the client closes, and no transaction is begun.
		_ = t.p.client.AbortBufferedRecords(patience)
	}
	t.mu.Lock()
	cause := t.failed
	if cause == nil && flushed != nil {
		cause = errUnsettled
	}
	ended, t.settled, t.failed = t.settled, nil, nil
	t.mu.Unlock()
	if cause == nil {
		return ended, t.commit(ctx, patience)
	}
	if err := t.abort(patience); err != nil {
		// No other transaction can be begun, so nothing commits this one.
		return ended, fmt.Errorf("the transaction was not committed: %w; aborting it: %w", cause,
			err)
	}
	return ended, fmt.Errorf("the transaction was aborted: %w", cause)
}

// commit commits the current transaction. A commit that was refused or not sent is an abort. After
// any other failure it is unknown whether the transaction was committed.
func (t *transactions) commit(ctx, patience context.Context) error {
	err := t.p.client.EndTransaction(ctx, kgo.TryCommit)
	if err == nil {
		return nil
	}
	_ = t.abort(patience) // if this fails, no other transaction can be begun
	if errors.Is(err, kerr.OperationNotAttempted) || errors.Is(err, kerr.TransactionAbortable) {
		return fmt.Errorf("the transaction was aborted: its commit was refused: %w", err)
	}
	return fmt.Errorf("commit the transaction: %w: %w", err, system.ErrUnknown)
}

// abort aborts the current transaction, within transaction_timeout: after it the coordinator
// aborts it anyway.
func (t *transactions) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, t.p.of.Duration(setTxnTimeout))
	defer cancel()
	return t.p.client.EndTransaction(ctx, kgo.TryAbort)
}

// close ends the last transaction within ctx. The coordinator aborts what close cannot end;
// nothing can commit it any more.
func (t *transactions) close(ctx context.Context) error {
	close(t.stop)
	select {
	case <-t.ended:
	case <-ctx.Done():
	}
	t.cancel() // in case the committer waits for a broker
	<-t.ended
	t.gate.Lock()
	able := t.broken == nil && t.sent > 0
	t.broken = driver.ErrProducerClosed
	var ended []*parcel
	var err error
	if able && ctx.Err() == nil {
		patience, cancel := beyond(ctx)
		ended, err = t.end(ctx, patience)
		cancel()
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
		t.p.end(one, errAbandoned)
	}
	return errors.Join(err, ctx.Err())
}

// beyond returns a context that ends closeGrace after ctx.
func beyond(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(closeGrace, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}
