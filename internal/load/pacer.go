package load

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Places of the series in a pacer's recorder.
const (
	atLag = iota
	atOwnLag
)

var pacerSeries = []result.Series{result.Lag, result.OwnLag}

// The least time between two wake-ups of a pacer. Waking for every message of a high
// rate would cost more than sending it; the messages that become due in between are
// handed over together, each with its own due time. The quantum is leastQuantumNs,
// or the part 1/quantumShare of the producer's usual latency. A message waits for half
// of it on average, so waiting adds a fiftieth to the median.
const (
	leastQuantumNs = 100_000
	mostQuantumNs  = 1_000_000
	quantumShare   = 25
)

func quantumNs(to *producer) int64 {
	return min(max(to.usualNs.Load()/quantumShare, leastQuantumNs), mostQuantumNs)
}

// errCutLate is the error of a run whose cut came after a producer had drawn a message.
var errCutLate = errors.New("the window was cut before a message that a producer had drawn: " +
	"the cut came too late; measure again with less load on this machine")

// waitNs bounds a wait for the system's answer between two checks for the stop.
const waitNs = 50_000_000

// pacer hands over the messages of its producers when they are due. When it is late it skips
// nothing: it hands over all due messages, each with its own due time.
type pacer struct {
	clock     clock.Clock
	schedule  *Schedule
	replaced  *atomic.Pointer[Schedule] // the engine's schedule, which may be replaced once
	startNs   int64                     // when the schedule starts
	producers []*producer               // the producers that it serves
	all       int64                     // producers of the run
	first     int64                     // index of producers[0] among all
	step      int64                     // from the index of each to that of the next
	rounds    *rounds                   // nil: all producers take turns
	halt      *atomic.Int64
	failed    func(error)

	mu    sync.Mutex // guards alarm against stop
	alarm clock.Alarm
	stint *clock.Stint // nil: a closed loop, or the machine does not know

	lastSendNs int64 // time of the last call of Send or Flush
	wokeNs     int64 // end of the last wait for a due time
	waits      waits
	twin       *twin       // nil: another pacer has it
	gathering  []*producer // that may keep messages back

	*measure.Recorder          // guards what follows
	handed            [2]int64 // by phase
	unsent            [2]int64
	calls             [2]int64 // sends of a closed loop that were begun
	blockedNs         int64
	firstHandedNs     int64
}

// run hands over the pacer's messages of the schedule, until the schedule ends or halt is reached.
func (p *pacer) run() {
	alarm := p.setAlarm(p.clock)
	defer alarm.Close()
	defer p.flush()
	p.stint = clock.NewStint(p.clock)
	p.waits.asleep = p.stint.Asleep
	p.stint.Begin()
	defer p.stint.End()
	for _, producer := range p.producers {
		producer.pool.alarm = alarm
	}
	cursors := newTurns(p)
	for {
		ordinal, dueNs, producer, ok := cursors.next()
		if !ok {
			if p.twin != nil {
				p.twins(p.schedule.endNs)
			}
			return
		}
		if p.twin != nil && p.twin.dueNs < dueNs && !p.twins(dueNs) {
			p.countUnsent(dueNs, cursors)
			return
		}
		if !p.one(producer, ordinal, dueNs) {
			p.countUnsent(dueNs, cursors)
			return
		}
	}
}

// one waits for the message's due time and hands it over. It returns false if the pacer was
// stopped instead.
func (p *pacer) one(to *producer, ordinal, dueNs int64) bool {
	now := p.now()
	f := to.pool.take()
	if f == nil {
		p.flush()
		f, now = p.awaitAnswer(to, p.now(), p.startNs+dueNs)
		if f == nil {
			return false
		}
	}
	due := p.startNs + dueNs
	phase := phaseOf(dueNs, p.schedule)
	to.prepare(f, ordinal, due, phase)
	if due > now {
		// The wait comes last, so that the message is ready when it is due.
		now = p.sleepUntil(max(due, p.wokeNs+quantumNs(to)))
		p.wokeNs = now
	}
	if now >= p.halt.Load() {
		to.pool.giveBack(f)
		return false
	}
	p.gather(to)
	to.send(f, now, p.note(phase, now, due))
	p.lastSendNs = now
	return true
}

// gather makes the producer keep messages back until flush, if it can.
func (p *pacer) gather(to *producer) {
	if to.gatherer != nil && !to.gathering {
		to.gathering = true
		to.gatherer.Gather()
		p.gathering = append(p.gathering, to)
	}
}

// flush makes the producers send what they kept back.
func (p *pacer) flush() {
	for _, to := range p.gathering {
		p.lastSendNs = p.now()
		to.gathering = false
		to.gatherer.Flush()
	}
	p.gathering = p.gathering[:0]
}

// now returns the time, after recording the end of the last Send or Flush.
func (p *pacer) now() int64 {
	now := p.clock.Now()
	if p.lastSendNs != 0 {
		p.noteBlocked(p.waits.sent(now-p.lastSendNs, now))
		p.lastSendNs = 0
	}
	return now
}

// sleepUntil waits for a due time. The pacer is then on time again.
func (p *pacer) sleepUntil(until int64) int64 {
	if len(p.gathering) > 0 {
		p.flush()
		p.now()
	}
	p.stint.End()
	now := p.waitUntil(until)
	p.stint.Begin()
	p.waits.onTime(now)
	return now
}

func (p *pacer) noteBlocked(ns int64) {
	if ns == 0 {
		return
	}
	p.Lock()
	p.blockedNs += ns
	p.Unlock()
}

// note counts a message being handed over, and returns its own lag.
func (p *pacer) note(phase measure.Phase, nowNs, dueNs int64) (ownNs int64) {
	ownNs = p.waits.own(dueNs, nowNs)
	p.Lock()
	if p.firstHandedNs == 0 {
		p.firstHandedNs = nowNs
	}
	p.handed[phase]++
	p.Add(atLag, phase, nowNs-dueNs)
	p.Add(atOwnLag, phase, ownNs)
	p.Unlock()
	return ownNs
}

// waitUntil returns the time when due is reached or the pacer is stopped.
func (p *pacer) waitUntil(due int64) int64 {
	now := p.clock.Now()
	for now < due && now < p.halt.Load() {
		p.alarm.WaitUntil(due)
		now = p.clock.Now()
	}
	return now
}

// awaitAnswer waits for a message to come back to the producer's pool. The time from when the next
// message was due until the answer counts as blocked.
func (p *pacer) awaitAnswer(to *producer, now, due int64) (*flight, int64) {
	from := max(now, due)
	p.stint.End()
	defer p.stint.Begin()
	for {
		answered := to.pool.waitForAnswer(now + waitNs)
		f := to.pool.take()
		now = p.clock.Now()
		if f == nil && now < p.halt.Load() {
			continue
		}
		if answered == 0 {
			answered = now
		}
		if blocked := answered - from; blocked > 0 {
			p.waits.idled(blocked, answered)
			p.noteBlocked(blocked)
		}
		p.waits.begin(now)
		return f, now
	}
}

// countUnsent counts the message that was not handed over, and the later ones that were due before
// the pacer was stopped. Their own lag is at least its value at the stop.
func (p *pacer) countUnsent(dueNs int64, rest *turns) {
	halt := p.halt.Load() - p.startNs
	ok := true
	p.Lock()
	defer p.Unlock()
	for ok && dueNs < halt {
		phase := phaseOf(dueNs, p.schedule)
		p.unsent[phase]++
		p.Add(atOwnLag, phase, p.waits.own(p.startNs+dueNs, p.startNs+halt))
		_, dueNs, _, ok = rest.next()
	}
}

// setAlarm creates the pacer's alarm, for the calling goroutine.
func (p *pacer) setAlarm(c clock.Clock) clock.Alarm {
	alarm := c.NewAlarm()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alarm = alarm
	return alarm
}

// wake makes the pacer check halt.
func (p *pacer) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm != nil {
		p.alarm.Wake()
	}
}

func phaseOf(dueNs int64, s *Schedule) measure.Phase {
	if dueNs < s.warmupNs {
		return measure.Warmup
	}
	return measure.Measured
}
