package sim

import (
	"errors"
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

var (
	errRefused     = errors.New("refused by the simulated system")
	errNoPartition = errors.New("refused: the topic has no such partition")
	errBufferFull  = errors.New("refused: the simulated system's buffer is full (setting buffer)")
	errAborted     = errors.New("refused: the transaction was aborted by the simulated system")
	errSilent      = errors.New("never answered") // reported to nobody
)

// longAgo is before any time of a clock. A clock may count from any origin.
const longAgo = -clock.Never

// record is a message on its way to the subscriptions.
type record struct {
	payload   []byte
	key       []byte
	partition int32
	topic     *topic
	number    int64 // of the topic's records, in the order of acknowledgement
	refs      int   // outstanding deliveries
}

func (r *record) received() system.Received {
	one := system.Received{Payload: r.payload, Partition: r.partition}
	if len(r.key) > 0 {
		one.Key = r.key
	}
	return one
}

// slot is a message's place in its partition. Messages are delivered in the order of arrival,
// whatever their acknowledgements take.
type slot struct {
	from     *producer
	record   *record // nil: nothing to deliver
	what     fault
	answered bool
	seq      int64 // of its producer in its partition
}

// answer is a planned acknowledgement.
type answer struct {
	atNs    int64
	message *system.Message
	slot    *slot
}

// delivery is a planned delivery of a record.
type delivery struct {
	atNs   int64
	record *record
}

// given is a record that a consumer gave back, with the time of its redelivery.
type given struct {
	atNs   int64
	record *record
	to     *subscription
}

// arrival is a message that a producer handed over.
type arrival struct {
	atNs    int64 // on the clock
	message *system.Message
	from    *producer
	part    *transaction // nil: none
}

// inbox is where producers leave messages for the simulator.
type inbox struct {
	sync.Mutex
	arrivals []arrival
	closed   bool
	wakeAtNs int64 // the simulator sleeps until this time; longAgo: it is awake
}

// simulator is the simulated system's one worker and all its state. It holds its lock while it
// works, and lets others open and close clients in between. The inbox has its own lock, so that a
// Send never waits for work.
type simulator struct {
	sync.Mutex
	inbox   inbox
	clock   clock.Clock
	truth   truth
	faults  faults
	outage  outage
	memory  store
	drift   float64 // growth of the service time in each hour, as a share
	warmth  warmth
	cpuNs   float64 // simulated, since the start
	startNs int64

	arrived    int64
	turnNs     float64 // time of the next free turn, since the start
	spare      []arrival
	answers    answerQueue
	open       queue[*transaction] // in the order of their ends
	lists      [][]answer          // of ended transactions, for reuse
	deliveries queue[delivery]
	copies     queue[delivery] // delivered later than the message
	added      added
	returns    queue[given]
	draining   []*subscription // with a backlog and a consumer
	drainNs    float64         // between two deliveries to a subscription; 0: no limit
	retain     bool
	buffered   int64
	bufferMax  int64
	free       []*record
	freeSlots  []*slot

	// A subscription's consumers share its messages: each holds at most prefetch of them.
	shared       bool
	prefetch     int
	firstServed  bool  // the first consumer with room gets each message
	redeliveryNs int64 // from a return to the next delivery
	forgetShare  int64 // returns in a million that are forgotten
	rebalanceNs  int64

	block         stretch // in which Send does not return
	copyNs        int64   // from a delivery to its copy
	lingerNs      int64   // that a batch waits for more messages
	transactionNs int64
	silentComes   bool               // a message without an answer is delivered
	late          func(lateNs int64) // gets the lateness of each answer and delivery; may be nil

	alarm   clock.Alarm
	stopped chan struct{}
	ended   sync.Once
}

func newSimulator(c clock.Clock, s system.Settings, born *birth) *simulator {
	l := &simulator{
		clock: c, truth: newTruth(s), faults: newFaults(s), outage: newOutage(s), startNs: c.Now(),
		memory: newStore(s), drift: s.Number("service_drift"),
		warmth:    newWarmth(s, born.at(c.Now())),
		bufferMax: s.Bytes("buffer"), stopped: make(chan struct{}), inbox: inbox{wakeAtNs: longAgo},
		retain: s.Bool("retain"), block: stretchOf(s, "send_block_every", "send_block_for"),
		copyNs: int64(s.Duration("copy_after")), transactionNs: int64(
			s.Duration("transaction_interval")),
		lingerNs:    int64(s.Duration("linger")),
		silentComes: s.Bool("unanswered_delivered"),
		shared:      s.Text("shape") == shapeQueue, prefetch: int(s.Count("prefetch")),
		firstServed:  s.Text("turns") == "first",
		redeliveryNs: int64(s.Duration("redelivery_delay")),
		forgetShare:  s.Count("forget_per_million"),
		rebalanceNs:  int64(s.Duration("rebalance_for")),
		added:        newAdded(s),
	}
	if rate := s.Rate("drain_rate"); rate > 0 {
		l.drainNs = 1e9 / rate
	}
	return l
}

// take leaves messages in the inbox, all at one moment. It reports false when
// the simulator has ended, or the producer has been closed.
func (l *simulator) take(from *producer, messages ...*system.Message) bool {
	l.blockSend()
	now := l.clock.Now()
	l.inbox.Lock()
	if l.inbox.closed || from.closed.Load() {
		l.inbox.Unlock()
		return false
	}
	from.pending.Add(int64(len(messages)))
	answerable := now + l.truth.leastNs
	var part *transaction
	if from.transactional {
		// The time is read again under the lock, so that the simulator finds all messages of an
		// ended transaction.
		now = l.clock.Now()
		part = from.transaction(now - l.startNs)
		answerable = l.startNs + part.endNs
	}
	for _, m := range messages {
		if part != nil {
			m.InTransaction(part.number)
		}
		l.inbox.arrivals = append(l.inbox.arrivals,
			arrival{atNs: now, message: m, from: from, part: part})
	}
	wake := answerable < l.inbox.wakeAtNs
	if wake {
		l.inbox.wakeAtNs = longAgo
	}
	l.inbox.Unlock()
	if wake {
		l.alarm.Wake()
	}
	return true
}

// blockSend returns when a Send may continue. It uses Go's timers, because an alarm would change
// the caller's thread.
func (l *simulator) blockSend() {
	for l.block.everyNs > 0 {
		since := l.clock.Now() - l.startNs
		wait := l.block.after(since) - since
		if wait == 0 {
			return
		}
		time.Sleep(time.Duration(wait))
	}
}

// empty empties the inbox, oldest first. The caller holds the lock.
func (l *simulator) empty() {
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

// arrive assigns a message its place and the time of its answer.
func (l *simulator) arrive(a arrival) {
	turn := l.truth.afterStall(a.from.sends(a.atNs - l.startNs))
	n := l.arrived
	l.arrived++
	if l.truth.turnNs > 0 {
		start := max(float64(turn), l.turnNs)
		l.turnNs = float64(l.truth.afterStall(int64(start))) + l.truth.turnNs
		turn = int64(l.turnNs)
	}
	service, what := l.truth.serviceNs(n)
	if l.drift != 0 {
		hours := float64(a.atNs-l.startNs) / float64(time.Hour)
		service = int64(float64(service) * (1 + l.drift*hours))
	}
	factor := l.warmth.factor(a.atNs)
	service = int64(float64(service) * factor)
	l.cpuNs += l.warmth.cpuNs * factor
	if planted := l.faults.of(n); planted != none {
		what = planted
	}
	s := l.newSlot(a.from, what)
	s.seq = a.from.sent[a.message.Partition]
	a.from.sent[a.message.Partition]++
	if l.outage.slows(a.atNs - l.startNs) {
		service += l.outage.slowNs
	}
	a.from.topic.partitions[a.message.Partition].push(s)
	one := answer{message: a.message, slot: s}
	if a.part != nil {
		l.enlist(a.part, one, turn, service)
		return
	}
	one.atNs = l.truth.afterStall(turn + service)
	l.answers.push(one)
}

func (l *simulator) newSlot(from *producer, what fault) *slot {
	var s *slot
	if n := len(l.freeSlots); n > 0 {
		s, l.freeSlots = l.freeSlots[n-1], l.freeSlots[:n-1]
	} else {
		s = &slot{}
	}
	*s = slot{from: from, what: what}
	return s
}

// run does the work that is due until the simulator is stopped. The alarm belongs to this
// goroutine.
func (l *simulator) run(started chan<- struct{}) {
	l.alarm = l.clock.NewAlarm()
	defer l.alarm.Close()
	defer close(l.stopped)
	close(started)
	l.Lock()
	defer l.Unlock()
	for {
		l.empty()
		worked := l.work(l.clock.Now() - l.startNs)
		// Goroutines that open or close a client get the lock here.
		l.Unlock()
		if !worked && !l.sleep() {
			l.Lock()
			l.empty()
			l.abandon()
			return
		}
		l.Lock()
	}
}

// sleep waits until something is due or has arrived; it reports false when the
// simulator has been stopped.
func (l *simulator) sleep() bool {
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

// wake makes the simulator look for work again.
func (l *simulator) wake() {
	l.inbox.Lock()
	l.inbox.wakeAtNs = longAgo
	l.inbox.Unlock()
	l.alarm.Wake()
}

// nextNs returns the time of the next work, on the clock.
func (l *simulator) nextNs() int64 {
	next := clock.Never
	for _, s := range l.draining {
		next = min(next, l.startNs+s.dueNs())
	}
	if a, ok := l.answers.peek(); ok {
		next = min(next, l.startNs+a.atNs)
	}
	if t, ok := l.open.peek(); ok {
		next = min(next, l.startNs+t.endNs)
	}
	if d, ok := l.firstDelivery().peek(); ok {
		next = min(next, l.startNs+d.atNs)
	}
	if g, ok := l.returns.peek(); ok {
		next = min(next, l.startNs+g.atNs)
	}
	if dark := l.outage.untilNs; dark != 0 && next != clock.Never {
		next = max(next, min(l.startNs+dark, clock.Never))
	}
	return next
}

// batch bounds the work between two looks into the inbox.
const batch = 64

// work does the work that is due, at most a batch, and reports whether there was any.
func (l *simulator) work(now int64) bool {
	for n := range batch {
		switch {
		case now < l.outage.untilNs:
			return n > 0
		case l.returnDue(now) || l.drainDue(now) || l.deliverDue(now):
		case l.answerDue(now) || l.commitDue(now):
		default:
			return n > 0
		}
	}
	return true
}

// tellLate reports how long ago something was due that no outage delayed.
func (l *simulator) tellLate(dueNs int64) {
	if l.late != nil {
		l.late(l.clock.Now() - l.startNs - max(dueNs, l.outage.untilNs))
	}
}

func (l *simulator) answerDue(now int64) bool {
	a, ok := l.answers.peek()
	if ok = ok && a.atNs <= now; ok {
		l.answers.pop()
		l.answer(a)
	}
	return ok
}

// answer acknowledges or refuses a message, and plans the deliveries that waited for it.
func (l *simulator) answer(a answer) {
	from, partition := a.slot.from, a.message.Partition
	a.slot.what = l.outage.plant(a.slot.what, from.held[partition] == nil)
	err := l.accept(a)
	l.finish(from.topic, partition, a.atNs)
	if errors.Is(err, errSilent) {
		from.unanswered = append(from.unanswered, a.message)
	} else {
		l.tellLate(a.atNs)
		a.message.Done(err)
	}
	from.answered()
	l.outage.begin()
}

// accept copies a message's content, so that the sender may reuse the message.
func (l *simulator) accept(a answer) error {
	s, p := a.slot, &l.faults.planted
	s.answered = true
	switch {
	case s.what == aborted:
		p.Failed++
		return errAborted
	case s.what == fail || l.outage.failing && !s.from.transactional:
		p.Failed++
		return errRefused
	case l.buffered >= l.bufferMax:
		return errBufferFull
	case s.what == lose,
		l.added.loses && l.added.hides(s.from.topic, a.message.Partition, a.atNs):
		p.Lost++
		if len(p.LostMessages) < maxNamed {
			p.LostMessages = append(p.LostMessages,
				LostMessage{s.from.index, int(a.message.Partition), s.seq})
		}
		return nil
	case s.what == silent && !l.silentComes:
		p.NeverAnswered++
		return errSilent
	}
	s.record = l.keep(a.message, s.from.topic)
	switch s.what {
	case unanswered:
		p.Unanswered++
		return errUnanswered
	case silent:
		p.NeverAnswered++
		return errSilent
	case abortedShown:
		p.Failed++
		p.Transactions.AbortedDelivered++
		return errAborted
	case misplace:
		l.misplace(s.record)
	}
	return nil
}

// misplace makes a record appear to come from the neighbouring partition.
func (l *simulator) misplace(r *record) {
	if n := int32(len(r.topic.partitions)); n > 1 {
		l.faults.planted.Misplaced++
		r.partition = (r.partition + 1) % n
	}
}

// stop ends the simulator and reports whether this call did.
func (l *simulator) stop() bool {
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

// abandon answers all remaining messages with an error.
func (l *simulator) abandon() {
	for t, ok := l.open.peek(); ok; t, ok = l.open.peek() {
		l.open.pop()
		for _, a := range t.waiting {
			l.answers.push(a)
		}
	}
	for a, ok := l.answers.peek(); ok; a, ok = l.answers.peek() {
		l.answers.pop()
		a.message.Done(errClosed)
		a.slot.from.answered()
	}
}
