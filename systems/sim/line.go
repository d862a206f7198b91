package sim

import (
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

// longAgo is before any time of a clock, which may count from anywhere.
const longAgo = -clock.Never

// record is a message on its way to the subscriptions.
type record struct {
	payload   []byte
	key       []byte
	partition int32
	topic     *topic
	refs      int // deliveries still to come
}

func (r *record) received() system.Received {
	one := system.Received{Payload: r.payload, Partition: r.partition}
	if len(r.key) > 0 {
		one.Key = r.key
	}
	return one
}

// slot is a message's place in its partition: messages are delivered in the
// order in which they arrived, however long each takes to be acknowledged.
type slot struct {
	from     *producer
	record   *record // nil: nothing to deliver
	what     fault
	answered bool
	seq      int64 // of its producer in its partition
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

// arrival is a message that a producer handed over.
type arrival struct {
	atNs    int64 // on the clock
	message *system.Message
	from    *producer
}

// inbox is where producers leave messages for the line.
type inbox struct {
	sync.Mutex
	arrivals []arrival
	closed   bool
	wakeAtNs int64 // the line sleeps until then; long ago: it is awake
}

// line is the simulated system's one worker and all its state. It holds its
// lock while it works; who opens or closes clients takes it in between. The
// inbox has a lock of its own, so that a Send never waits for work.
type line struct {
	sync.Mutex
	inbox   inbox
	clock   clock.Clock
	truth   truth
	faults  faults
	outage  outage
	startNs int64

	arrived    int64
	turnNs     float64 // when the next turn is free, since the start
	spare      []arrival
	answers    answerQueue
	deliveries queue[delivery]
	draining   []*subscription // with a backlog and a consumer
	drainNs    float64         // between two deliveries to a subscription; 0: no limit
	retain     bool
	buffered   int64
	bufferMax  int64
	free       []*record
	freeSlots  []*slot

	alarm   clock.Alarm
	stopped chan struct{}
	ended   sync.Once
}

func newLine(c clock.Clock, s system.Settings) *line {
	l := &line{
		clock: c, truth: newTruth(s), faults: newFaults(s), outage: newOutage(s), startNs: c.Now(),
		bufferMax: s.Bytes("buffer"), stopped: make(chan struct{}), inbox: inbox{wakeAtNs: longAgo},
		retain: s.Bool("retain"),
	}
	if rate := s.Rate("drain_rate"); rate > 0 {
		l.drainNs = 1e9 / rate
	}
	return l
}

// take leaves messages in the inbox, all at one moment. It reports false when
// the line has ended, or the producer has been closed.
func (l *line) take(from *producer, messages ...*system.Message) bool {
	now := l.clock.Now()
	l.inbox.Lock()
	if l.inbox.closed || from.closed.Load() {
		l.inbox.Unlock()
		return false
	}
	from.pending.Add(int64(len(messages)))
	for _, m := range messages {
		l.inbox.arrivals = append(l.inbox.arrivals, arrival{atNs: now, message: m, from: from})
	}
	wake := now+l.truth.leastNs < l.inbox.wakeAtNs
	if wake {
		l.inbox.wakeAtNs = longAgo
	}
	l.inbox.Unlock()
	if wake {
		l.alarm.Wake()
	}
	return true
}

// open empties the inbox, oldest first. The caller holds the lock.
func (l *line) open() {
	l.inbox.Lock()
	arrivals := l.inbox.arrivals
	l.inbox.arrivals = l.spare[:0]
	l.inbox.Unlock()
	for _, a := range arrivals {
		l.arrive(a)
	}
	clear(arrivals)
	l.spare = arrivals
}

// arrive gives a message its place and the time of its answer.
func (l *line) arrive(a arrival) {
	turn := l.truth.afterStall(a.atNs - l.startNs)
	n := l.arrived
	l.arrived++
	if l.truth.turnNs > 0 {
		start := max(float64(turn), l.turnNs)
		l.turnNs = float64(l.truth.afterStall(int64(start))) + l.truth.turnNs
		turn = int64(l.turnNs)
	}
	s := l.newSlot(a.from, l.faults.of(n))
	s.seq = a.from.sent[a.message.Partition]
	a.from.sent[a.message.Partition]++
	service := l.truth.serviceNs(n)
	if l.outage.slowed {
		service += l.outage.slowNs
	}
	a.from.topic.partitions[a.message.Partition].push(s)
	l.answers.push(answer{
		atNs: l.truth.afterStall(turn + service), message: a.message, slot: s,
	})
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

// run does what is due until the line is stopped. The alarm was made for this
// goroutine.
func (l *line) run(started chan<- struct{}) {
	l.alarm = l.clock.NewAlarm()
	defer l.alarm.Close()
	defer close(l.stopped)
	close(started)
	l.Lock()
	defer l.Unlock()
	for {
		l.open()
		worked := l.work(l.clock.Now() - l.startNs)
		// Whoever opens or closes a client gets its turn here.
		l.Unlock()
		if !worked && !l.sleep() {
			l.Lock()
			l.open()
			l.abandon()
			return
		}
		l.Lock()
	}
}

// sleep waits until something is due or has arrived; it reports false when the
// line has been stopped.
func (l *line) sleep() bool {
	l.Lock()
	until := l.nextNs()
	l.Unlock()
	l.inbox.Lock()
	closed := l.inbox.closed
	sleeps := !closed && len(l.inbox.arrivals) == 0
	if sleeps {
		l.inbox.wakeAtNs = until
	}
	l.inbox.Unlock()
	if sleeps {
		l.alarm.WaitUntil(until)
	}
	return !closed
}

// wake has the line look again.
func (l *line) wake() {
	l.inbox.Lock()
	l.inbox.wakeAtNs = longAgo
	l.inbox.Unlock()
	l.alarm.Wake()
}

// nextNs is when the next thing is due, on the clock.
func (l *line) nextNs() int64 {
	next := clock.Never
	for _, s := range l.draining {
		next = min(next, l.startNs+s.dueNs())
	}
	if a, ok := l.answers.peek(); ok {
		next = min(next, l.startNs+a.atNs)
	}
	if d, ok := l.deliveries.peek(); ok {
		next = min(next, l.startNs+d.atNs)
	}
	if dark := l.outage.untilNs; dark != 0 && next != clock.Never {
		next = max(next, min(l.startNs+dark, clock.Never))
	}
	return next
}

// batch bounds the work between two looks into the inbox.
const batch = 64

// work does what is due by now, at most a batch of it, and reports whether
// there was any.
func (l *line) work(now int64) bool {
	for n := range batch {
		switch {
		case now < l.outage.untilNs:
			return n > 0
		case l.drainDue(now) || l.deliverDue(now) || l.answerDue(now):
		default:
			return n > 0
		}
	}
	return true
}

func (l *line) deliverDue(now int64) bool {
	d, ok := l.deliveries.peek()
	if ok = ok && d.atNs <= now; ok {
		l.deliveries.pop()
		l.deliver(d.record, d.atNs)
	}
	return ok
}

func (l *line) answerDue(now int64) bool {
	a, ok := l.answers.peek()
	if ok = ok && a.atNs <= now; ok {
		l.answers.pop()
		l.answer(a)
	}
	return ok
}

// answer acknowledges a message, or refuses it, and plans the deliveries that
// waited for it.
func (l *line) answer(a answer) {
	from, partition := a.slot.from, a.message.Partition
	a.slot.what = l.outage.plant(a.slot.what, from.held[partition] == nil)
	err := l.accept(a)
	l.finish(from.topic, partition, a.atNs)
	a.message.Done(err)
	from.answered()
	l.outage.begin()
}

// accept takes a message's content over, so that the message is free for its
// sender again.
func (l *line) accept(a answer) error {
	a.slot.answered = true
	switch {
	case a.slot.what == fail || l.outage.failing:
		l.faults.planted.Failed++
		return errRefused
	case l.buffered >= l.bufferMax:
		return errBufferFull
	case a.slot.what == lose:
		p := &l.faults.planted
		p.Lost++
		if len(p.LostMessages) < maxNamed {
			p.LostMessages = append(p.LostMessages, LostMessage{a.slot.from.index, int(a.message.Partition), a.slot.seq})
		}
		return nil
	}
	a.slot.record = l.keep(a.message, a.slot.from.topic)
	if a.slot.what == unanswered {
		l.faults.planted.Unanswered++
		return errUnanswered
	}
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
	r.key = append(r.key[:0], m.Key...)
	r.partition, r.topic, r.refs = m.Partition, t, 1
	return r
}

// release gives up one reference to a record.
func (l *line) release(r *record) {
	if r.refs--; r.refs == 0 {
		l.free = append(l.free, r)
	}
}

// stop ends the line and reports whether this call did.
func (l *line) stop() bool {
	first := false
	l.ended.Do(func() {
		first = true
		l.inbox.Lock()
		l.inbox.closed = true
		l.inbox.Unlock()
		l.alarm.Wake()
		<-l.stopped
	})
	return first
}

// abandon answers all that is left with an error.
func (l *line) abandon() {
	for a, ok := l.answers.peek(); ok; a, ok = l.answers.peek() {
		l.answers.pop()
		a.message.Done(errClosed)
		a.slot.from.answered()
	}
}
