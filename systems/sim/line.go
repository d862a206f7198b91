package sim

import (
	"container/heap"
	"errors"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	errRefused     = errors.New("refused by the simulated system")
	errNoPartition = errors.New("refused: the topic has no such partition")
	errBufferFull  = errors.New("refused: the simulated system's buffer is full (setting buffer)")
)

// record is a message on its way to the subscriptions.
type record struct {
	payload   []byte
	partition int32
	topic     *topic
	refs      int // deliveries still to come
}

// slot is a message's place in its partition: messages are delivered in the
// order in which they arrived, however long each takes to be acknowledged.
type slot struct {
	from     *producer
	record   *record // nil: nothing to deliver
	what     fault
	answered bool
}

// answer is an acknowledgement that will be due.
type answer struct {
	atNs    int64
	message *system.Message
	slot    *slot
}

// delivery is a record that will be due.
type delivery struct {
	atNs   int64
	record *record
}

// line is the simulated system's one worker and all its state. Its lock guards
// everything below it, topics and clients included.
type line struct {
	sync.Mutex
	clock   clock.Clock
	truth   truth
	faults  faults
	startNs int64

	arrivals   int64
	turnNs     float64 // when the next turn is free, since the start
	answers    answerQueue
	deliveries queue[delivery]
	waiting    []*subscription // with a backlog and a consumer
	buffered   int64
	bufferMax  int64
	free       []*record
	freeSlots  []*slot

	alarm   clock.Alarm
	wakeAt  int64 // what the line waits for
	closed  bool
	stopped chan struct{}
	ended   sync.Once
}

func newLine(c clock.Clock, s system.Settings) *line {
	return &line{
		clock: c, truth: newTruth(s), faults: newFaults(s), startNs: c.Now(),
		bufferMax: s.Bytes("buffer"), stopped: make(chan struct{}),
	}
}

// arrive takes a message in. The caller holds the lock.
func (l *line) arrive(m *system.Message, from *producer) {
	now := l.clock.Now() - l.startNs
	n := l.arrivals
	l.arrivals++
	turn := l.truth.afterStall(now)
	if l.truth.turnNs > 0 {
		start := max(float64(turn), l.turnNs)
		l.turnNs = float64(l.truth.afterStall(int64(start))) + l.truth.turnNs
		turn = int64(l.turnNs)
	}
	at := l.truth.afterStall(turn + l.truth.serviceNs(n))
	s := l.newSlot(from, l.faults.of(n))
	from.topic.partitions[m.Partition].push(s)
	l.answers.push(answer{atNs: at, message: m, slot: s})
	l.wakeBy(at)
}

func (l *line) newSlot(from *producer, what fault) *slot {
	var s *slot
	if n := len(l.freeSlots); n > 0 {
		s, l.freeSlots = l.freeSlots[n-1], l.freeSlots[:n-1]
	} else {
		s = &slot{}
	}
	*s = slot{from: from, what: what}
	return s
}

// wakeBy has the line look again by that time, if it would not anyway.
func (l *line) wakeBy(atNs int64) {
	if atNs < l.wakeAt && l.alarm != nil {
		l.wakeAt = atNs
		l.alarm.Wake()
	}
}

// run does what is due until the line is stopped.
func (l *line) run() {
	alarm := l.clock.NewAlarm()
	defer alarm.Close()
	defer close(l.stopped)
	l.Lock()
	l.alarm = alarm
	for !l.closed {
		now := l.clock.Now() - l.startNs
		if !l.work(now) {
			l.wakeAt = l.nextNs()
			until := min(l.startNs+l.wakeAt, clock.Never)
			l.Unlock()
			alarm.WaitUntil(until)
			l.Lock()
			// Anything that arrives from here on is seen before the next wait.
			l.wakeAt = 0
		}
	}
	l.abandon()
	l.Unlock()
}

// nextNs is when the next thing is due, since the start.
func (l *line) nextNs() int64 {
	next := clock.Never - l.startNs
	if a, ok := l.answers.peek(); ok {
		next = min(next, a.atNs)
	}
	if d, ok := l.deliveries.peek(); ok {
		next = min(next, d.atNs)
	}
	return next
}

// work does one thing that is due and reports whether there was one. The
// caller holds the lock, which is given up while clients are called.
func (l *line) work(now int64) bool {
	if len(l.waiting) > 0 {
		l.drainBacklog()
		return true
	}
	if d, ok := l.deliveries.peek(); ok && d.atNs <= now {
		l.deliveries.pop()
		l.deliver(d.record)
		return true
	}
	if a, ok := l.answers.peek(); ok && a.atNs <= now {
		l.answers.pop()
		l.answer(a)
		return true
	}
	return false
}

// answer acknowledges a message, or refuses it, and plans the deliveries that
// waited for it.
func (l *line) answer(a answer) {
	from, partition := a.slot.from, a.message.Partition
	err := l.accept(a)
	l.finish(from.topic, partition, a.atNs)
	l.Unlock()
	a.message.Done(err)
	l.Lock()
	from.answered()
}

// accept takes a message's content over, so that the message is free for its
// sender again.
func (l *line) accept(a answer) error {
	a.slot.answered = true
	switch {
	case a.slot.what == fail:
		l.faults.planted.Failed++
		return errRefused
	case l.buffered >= l.bufferMax:
		return errBufferFull
	case a.slot.what == lose:
		l.faults.planted.Lost++
		return nil
	}
	a.slot.record = l.keep(a.message, a.slot.from.topic)
	return nil
}

// finish plans the delivery of the messages at the head of a partition that
// have been answered.
func (l *line) finish(t *topic, partition int32, nowNs int64) {
	arrivals := &t.partitions[partition]
	for s, ok := arrivals.peek(); ok && s.answered; s, ok = arrivals.peek() {
		arrivals.pop()
		if s.record != nil {
			l.dispatch(s, partition, nowNs)
		}
		l.freeSlots = append(l.freeSlots, s)
	}
}

// dispatch plans the delivery of one message, with what is done to it on purpose.
func (l *line) dispatch(s *slot, partition int32, nowNs int64) {
	held := s.from.held[partition]
	if s.what == swap && held == nil {
		s.from.held[partition] = s.record
		return
	}
	if s.what == duplicate {
		l.faults.planted.Duplicated++
		s.record.refs++
		l.plan(nowNs, s.record)
	}
	l.plan(nowNs, s.record)
	if held != nil {
		l.faults.planted.Swapped++
		s.from.held[partition] = nil
		l.plan(nowNs, held)
	}
}

func (l *line) plan(ackedNs int64, r *record) {
	l.deliveries.push(delivery{atNs: l.truth.afterStall(ackedNs + l.truth.delayNs), record: r})
}

// keep copies a message into a record.
func (l *line) keep(m *system.Message, t *topic) *record {
	var r *record
	if n := len(l.free); n > 0 {
		r, l.free = l.free[n-1], l.free[:n-1]
	} else {
		r = &record{}
	}
	r.payload = append(r.payload[:0], m.Payload...)
	r.partition, r.topic, r.refs = m.Partition, t, 1
	return r
}

// release gives up one reference to a record.
func (l *line) release(r *record) {
	if r.refs--; r.refs == 0 {
		l.free = append(l.free, r)
	}
}

// deliver gives a record to every subscription of its topic.
func (l *line) deliver(r *record) {
	for i := 0; i < len(r.topic.ordered); i++ {
		s := r.topic.ordered[i]
		if len(s.consumers) == 0 || s.backlog.len() > 0 {
			r.refs++
			l.buffered += int64(len(r.payload))
			s.backlog.push(r)
			continue
		}
		l.hand(r, s)
	}
	l.release(r)
}

// hand gives a record to the consumer that its partition belongs to. The lock
// is given up meanwhile; the consumer's own keeps Close waiting.
func (l *line) hand(r *record, s *subscription) {
	k := s.consumers[int(r.partition)%len(s.consumers)]
	k.busy.Lock()
	l.Unlock()
	k.receive(r.payload)
	k.busy.Unlock()
	l.Lock()
}

// ready has the line deliver a subscription's backlog. The caller holds the
// lock.
func (l *line) ready(s *subscription) {
	if s.backlog.len() > 0 {
		l.waiting = append(l.waiting, s)
		l.wakeBy(0)
	}
}

func (l *line) drainBacklog() {
	s := l.waiting[len(l.waiting)-1]
	l.waiting = l.waiting[:len(l.waiting)-1]
	for s.backlog.len() > 0 && len(s.consumers) > 0 {
		r := s.backlog.pop()
		l.buffered -= int64(len(r.payload))
		l.hand(r, s)
		l.release(r)
	}
}

// stop ends the line and reports whether this call did.
func (l *line) stop() bool {
	first := false
	l.ended.Do(func() {
		first = true
		l.Lock()
		l.closed = true
		if l.alarm != nil {
			l.alarm.Wake()
		}
		l.Unlock()
		<-l.stopped
	})
	return first
}

// abandon answers all that is left with an error.
func (l *line) abandon() {
	for {
		a, ok := l.answers.peek()
		if !ok {
			return
		}
		l.answers.pop()
		l.Unlock()
		a.message.Done(errClosed)
		l.Lock()
		a.slot.from.answered()
	}
}

// queue is a first-in-first-out list that reuses its memory.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) push(v T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

func (q *queue[T]) peek() (T, bool) {
	if q.len() == 0 {
		var none T
		return none, false
	}
	return q.items[q.head], true
}

func (q *queue[T]) pop() T {
	v := q.items[q.head]
	var none T
	q.items[q.head] = none
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v
}

// answerQueue gives answers in the order of their times. Most come in that
// order already; the others go through a heap.
type answerQueue struct {
	inOrder queue[answer]
	lastNs  int64
	early   answerHeap
}

func (q *answerQueue) push(a answer) {
	if a.atNs >= q.lastNs || q.inOrder.len() == 0 {
		q.lastNs = a.atNs
		q.inOrder.push(a)
		return
	}
	heap.Push(&q.early, a)
}

func (q *answerQueue) peek() (answer, bool) {
	a, ok := q.inOrder.peek()
	if len(q.early) > 0 && (!ok || q.early[0].atNs < a.atNs) {
		return q.early[0], true
	}
	return a, ok
}

func (q *answerQueue) pop() {
	a, ok := q.inOrder.peek()
	if len(q.early) > 0 && (!ok || q.early[0].atNs < a.atNs) {
		heap.Pop(&q.early)
		return
	}
	q.inOrder.pop()
}

// drop removes and returns the answers due to one producer.
func (q *answerQueue) drop(p *producer) []answer {
	var dropped []answer
	var rest answerQueue
	for a, ok := q.peek(); ok; a, ok = q.peek() {
		q.pop()
		if a.slot.from == p {
			a.slot.answered = true
			dropped = append(dropped, a)
		} else {
			rest.push(a)
		}
	}
	*q = rest
	return dropped
}

type answerHeap []answer

func (h answerHeap) Len() int           { return len(h) }
func (h answerHeap) Less(i, j int) bool { return h[i].atNs < h[j].atNs }
func (h answerHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *answerHeap) Push(v any)        { *h = append(*h, v.(answer)) }
func (h *answerHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
