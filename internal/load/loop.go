package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// pauseNs is the pause between the answer to a send with a failed message and the next send, so
// that a system that refuses at once does not get sends as fast as it refuses them.
const pauseNs = 10_000_000

// loop is one producer in a closed loop: it begins a send when all messages of an earlier send are
// answered, until the schedule ends or halt is reached. The messages of a send are due at that
// last answer.
type loop struct {
	*pacer
	to      *producer
	batched system.BatchSender // nil: the messages of a send go one by one
	seed    uint64
	batch   workload.Batch
	bound   int // sends in flight

	returned atomic.Pointer[call] // a stack, pushed by answers
	idle     *call                // the loop's own part of the stack, oldest first
	made     int
	waiting  atomic.Bool

	sends, ordinal int64 // begun so far: sends, messages
}

// call is a send that is in flight, or waits for its reuse.
type call struct {
	loop     *loop
	next     *call
	flights  []*flight
	messages []*system.Message // of the flights
	dueNs    int64
	handedNs int64
	phase    measure.Phase
	left     atomic.Int32 // messages not answered
	failed   atomic.Bool  // one of them was not acknowledged
}

func newLoop(p *pacer, c *workload.Closed, seed uint64) *loop {
	l := &loop{pacer: p, to: p.producers[0], seed: mix(seed ^ mix(uint64(p.first))), batch: c.Batch,
		bound: c.InFlight}
	l.batched, _ = l.to.system.(system.BatchSender)
	return l
}

// run owns the calling goroutine. It waits only for answers, which wake a goroutine sooner than a
// separate thread.
func (l *loop) run() {
	alarm := l.setAlarm(clock.Timers())
	defer alarm.Close()
	for {
		c, now := l.await()
		if c == nil {
			return
		}
		if c.dueNs > now {
			now = l.pause(c, now)
		}
		if now >= min(l.endNs(), l.halt.Load()) {
			return
		}
		l.send(c, now)
	}
}

// endNs returns the loop's end by the current schedule, which ends sooner if the warm-up has
// settled.
func (l *loop) endNs() int64 {
	l.schedule = l.replaced.Load()
	return l.startNs + l.schedule.endNs
}

// pause waits for the loop's start, or after a failure. Sends that are delayed by it are late
// because the system failed.
func (l *loop) pause(c *call, began int64) int64 {
	now := l.waitUntil(min(c.dueNs, l.endNs()))
	if c.handedNs != 0 {
		l.waits.idled(now-began, now)
		l.noteBlocked(now - began)
	}
	return now
}

// await returns a send that may begin, and the time, or nil if the end comes first.
func (l *loop) await() (*call, int64) {
	for {
		c, now := l.take(), l.clock.Now()
		if c != nil {
			return c, now
		}
		until := min(l.endNs(), l.halt.Load())
		if now >= until {
			return nil, now
		}
		l.waiting.Store(true)
		// An answer between the failed take and the line above woke no one.
		if l.returned.Load() == nil {
			l.alarm.WaitUntil(until)
		}
		l.waiting.Store(false)
		l.waits.sinceNs = 0
	}
}

// take returns an idle send, or nil. Sends answered first come first.
func (l *loop) take() *call {
	if l.idle == nil {
		for c := l.returned.Swap(nil); c != nil; {
			c.next, l.idle, c = l.idle, c, c.next
		}
	}
	if c := l.idle; c != nil {
		l.idle, c.next = c.next, nil
		return c
	}
	if l.made == l.bound {
		return nil
	}
	l.made++
	return &call{loop: l, dueNs: l.startNs}
}

// size returns the number of messages of the loop's next send.
func (l *loop) size() int {
	return l.batch.Least + int(mix(l.seed^uint64(l.sends))%uint64(l.batch.Most-l.batch.Least+1))
}

// send begins a send: it prepares its messages, then hands them over.
func (l *loop) send(c *call, now int64) {
	size := l.size()
	for len(c.flights) < size {
		f := l.to.unbound()
		f.Bind(batchMessage{f, c})
		c.flights, c.messages = append(c.flights, f), append(c.messages, &f.Message)
	}
	c.phase = phaseOf(c.dueNs-l.startNs, l.schedule)
	for _, f := range c.flights[:size] {
		l.to.prepare(f, l.ordinal, c.dueNs, c.phase)
		l.to.nextSeq[f.Partition]++
		l.ordinal++
	}
	l.sends++
	l.Lock()
	l.calls[c.phase]++
	l.Unlock()
	c.failed.Store(false)
	c.left.Store(int32(size))
	c.handedNs = l.clock.Now()
	if l.batched != nil {
		l.handBatch(c, size)
		return
	}
	if size > 1 {
		l.gather(l.to)
	}
	l.handEach(c, size)
	if len(l.gathering) > 0 {
		l.flush()
		l.now()
	}
}

func (l *loop) handBatch(c *call, size int) {
	now := c.handedNs
	for _, f := range c.flights[:size] {
		f.ownNs = l.note(c.phase, now, c.dueNs)
		l.to.begin(f, now)
	}
	l.batched.SendBatch(c.messages[:size])
	after := l.clock.Now()
	l.noteBlocked(l.waits.sent(after-now, after))
}

// handEach hands the messages over one by one. Those left when the loop is stopped are unsent.
func (l *loop) handEach(c *call, size int) {
	now := c.handedNs
	for i, f := range c.flights[:size] {
		if i > 0 && now >= l.halt.Load() {
			l.Lock()
			l.unsent[c.phase] += int64(size - i)
			l.Unlock()
			return
		}
		f.ownNs = l.note(c.phase, now, c.dueNs)
		l.to.begin(f, now)
		l.to.system.Send(&f.Message)
		after := l.clock.Now()
		l.noteBlocked(l.waits.sent(after-now, after))
		now = after
	}
}

// batchMessage is a message of a send. Its answer counts for the send too.
type batchMessage struct {
	flight *flight
	call   *call
}

// Enlist stamps the transaction into the payload, as flight.Enlist does.
func (m batchMessage) Enlist(transaction uint32) { m.flight.Enlist(transaction) }

// Complete records the system's answer. It may be called from any goroutine.
func (m batchMessage) Complete(err error) {
	if !m.flight.open.CompareAndSwap(true, false) {
		return // a second answer, as in flight.Complete
	}
	now := m.call.loop.clock.Now()
	m.flight.producer.answered(m.flight, now, err)
	m.call.answered(now, err)
}

// answered counts the answer to one message. The last one ends the send.
func (c *call) answered(nowNs int64, err error) {
	if err != nil {
		c.failed.Store(true)
	}
	if c.left.Add(-1) > 0 {
		return
	}
	l := c.loop
	c.dueNs = nowNs
	if c.failed.Load() {
		c.dueNs += pauseNs
	} else {
		l.to.timed(c, nowNs)
	}
	push(&l.returned, c, &c.next)
	if l.waiting.Load() {
		l.alarm.Wake()
	}
}

// timed records how long a whole send took.
func (p *producer) timed(c *call, nowNs int64) {
	p.Lock()
	if !p.frozen {
		p.Add(atSendCall, c.phase, nowNs-c.handedNs)
	}
	p.Unlock()
}
