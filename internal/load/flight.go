package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// flight is a message from the pool with the engine's data about it. It is reused as soon as its
// answer is recorded.
type flight struct {
	system.Message
	next     *flight
	producer *producer
	dueNs    int64
	handedNs int64
	ownNs    int64 // own lag
	seq      int64 // within the lane
	lane     int32 // among the producer's lanes
	phase    measure.Phase
	// transaction is the number of the message's transaction at its producer; 0: none.
	transaction uint32
	open        atomic.Bool // handed over, not answered
	key         [keyBytes]byte
	buffer      []byte // of the largest message
	filled      int    // bytes after the stamp that are not zeros
}

// Complete records the system's answer. It may be called from any goroutine.
func (f *flight) Complete(err error) {
	if !f.open.CompareAndSwap(true, false) {
		// A system that answers twice breaks its contract; the first answer counts.
		return
	}
	p := f.producer
	now := p.clock.Now()
	p.answered(f, now, err)
	p.pool.put(f, now)
}

// Enlist stamps the transaction into the payload. It is called before the payload is
// read, by the goroutine that sends.
func (f *flight) Enlist(transaction uint32) {
	p := f.producer
	f.transaction = transaction
	p.Lock()
	if !p.frozen {
		p.transactions.Enlist(transaction)
	}
	p.Unlock()
	stamp{
		run: p.run, lane: p.base +
			uint32(f.lane), seq: f.seq, dueNs: f.dueNs, transaction: transaction,
	}.put(f.buffer)
}

// pool holds a producer's idle messages. One goroutine, the pacer, takes from
// it; any may put back. It grows, up to its bound, only when more messages are
// in flight than ever before.
type pool struct {
	returned atomic.Pointer[flight] // a stack, pushed by answers
	idle     *flight                // the pacer's own part of the stack
	made     int
	bound    int
	starving atomic.Bool // the pacer waits for an answer
	// answeredNs is the time of the first answer to a starving pacer; 0: none.
	answeredNs atomic.Int64
	alarm      clock.Alarm // the pacer's; set before the first take
	fresh      func() *flight
}

// take returns an idle message, or nil when the bound is reached.
func (p *pool) take() *flight {
	if p.idle == nil {
		// Taking the whole stack at once avoids the ABA problem.
		p.idle = p.returned.Swap(nil)
	}
	if f := p.idle; f != nil {
		p.idle, f.next = f.next, nil
		return f
	}
	if p.made < p.bound {
		p.made++
		return p.fresh()
	}
	return nil
}

// giveBack returns a message that was taken and not sent.
func (p *pool) giveBack(f *flight) { f.next, p.idle = p.idle, f }

// put returns a message that was answered at nowNs, and wakes the pacer if it waits for one.
func (p *pool) put(f *flight, nowNs int64) {
	push(&p.returned, f, &f.next)
	if p.starving.Load() {
		p.answeredNs.CompareAndSwap(0, nowNs)
		p.alarm.Wake()
	}
}

// push puts a node on a stack to which any goroutine may push. next is the node's link.
func push[T any](stack *atomic.Pointer[T], node *T, next **T) {
	for {
		head := stack.Load()
		*next = head
		if stack.CompareAndSwap(head, node) {
			return
		}
	}
}

// waitForAnswer returns when a message may have come back: the time of its answer, or 0 if it is
// not known.
func (p *pool) waitForAnswer(untilNs int64) (answeredNs int64) {
	p.answeredNs.Store(0)
	p.starving.Store(true)
	// An answer between the failed take and the line above woke no one.
	if p.returned.Load() == nil {
		p.alarm.WaitUntil(untilNs)
	}
	p.starving.Store(false)
	return p.answeredNs.Load()
}
