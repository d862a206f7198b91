package sim

import (
	"math"
	"slices"

	"github.com/plimsoll-bench/plimsoll/system"
)

// finish plans the delivery of the answered messages at the head of a partition.
func (l *simulator) finish(t *topic, partition int32, nowNs int64) {
	arrivals := &t.partitions[partition]
	for s, ok := arrivals.peek(); ok && s.answered; s, ok = arrivals.peek() {
		arrivals.pop()
		if s.record != nil {
			l.dispatch(s, partition, nowNs)
		}
		l.freeSlots = append(l.freeSlots, s)
	}
}

// dispatch plans the delivery of one message, with its planted fault.
func (l *simulator) dispatch(s *slot, partition int32, nowNs int64) {
	held := s.from.held[partition]
	if s.what == swap && held == nil {
		s.from.held[partition] = s.record
		return
	}
	if s.what == duplicate {
		l.faults.planted.Duplicated++
		s.record.refs++
		l.planCopy(nowNs, s.record)
	}
	l.plan(nowNs, s.record)
	if held != nil {
		l.faults.planted.Swapped++
		s.from.held[partition] = nil
		l.plan(nowNs, held)
	}
}

func (l *simulator) planCopy(ackedNs int64, r *record) {
	if l.copyNs == 0 {
		l.plan(ackedNs, r)
		return
	}
	first := l.truth.afterStall(ackedNs + l.truth.delayNs)
	l.copies.push(delivery{atNs: l.truth.afterStall(first + l.copyNs), record: r})
}

func (l *simulator) plan(ackedNs int64, r *record) {
	if l.added.hides(r.topic, r.partition, ackedNs) {
		l.added.waiting.push(delivery{atNs: l.added.untilNs, record: r})
		return
	}
	l.deliveries.push(delivery{atNs: l.truth.afterStall(ackedNs + l.truth.delayNs), record: r})
}

// keep copies a message into a record.
func (l *simulator) keep(m *system.Message, t *topic) *record {
	var r *record
	if n := len(l.free); n > 0 {
		r, l.free = l.free[n-1], l.free[:n-1]
	} else {
		r = &record{}
	}
	r.payload = append(r.payload[:0], m.Payload...)
	r.key = append(r.key[:0], m.Key...)
	r.partition, r.topic, r.number, r.refs = m.Partition, t, t.kept, 1
	t.kept++
	return r
}

// release drops one reference to a record.
func (l *simulator) release(r *record) {
	if r.refs--; r.refs == 0 {
		l.free = append(l.free, r)
	}
}

// firstDelivery returns the queue whose head is due first.
func (l *simulator) firstDelivery() *queue[delivery] {
	first := &l.deliveries
	for _, q := range [...]*queue[delivery]{&l.copies, &l.added.waiting} {
		d, some := first.peek()
		if other, ok := q.peek(); ok && (!some || other.atNs < d.atNs) {
			first = q
		}
	}
	return first
}

func (l *simulator) deliverDue(now int64) bool {
	from := l.firstDelivery()
	d, ok := from.peek()
	if ok = ok && d.atNs <= now; ok {
		from.pop()
		l.deliver(d.record, d.atNs)
	}
	return ok
}

// deliver gives a record, due at a time since the simulator began, to every subscription of its
// topic that did not begin after it: at once, or behind waiting records.
func (l *simulator) deliver(r *record, atNs int64) {
	if l.retain {
		r.refs++
		l.buffered += int64(len(r.payload))
		r.topic.retained = append(r.topic.retained, r)
	}
	for _, s := range r.topic.ordered {
		if r.number < s.first {
			continue
		}
		if s.waiting() == 0 && s.dueNs() <= atNs {
			if k := s.consumerOf(r.partition); k != nil {
				s.turnNs = float64(atNs) + l.drainNs
				l.tellLate(atNs)
				k.take(r)
				continue
			}
		}
		l.hold(s, r)
		l.drain(s, atNs)
	}
	l.release(r)
}

// hold puts a record at the end of a subscription's backlog.
func (l *simulator) hold(s *subscription, r *record) {
	r.refs++
	l.buffered += int64(len(r.payload))
	s.backlog.push(r)
}

// dueNs returns the earliest time of the subscription's next delivery, since the simulator began.
func (s *subscription) dueNs() int64 { return int64(math.Ceil(s.turnNs)) }

// drain makes the simulator deliver a subscription's backlog from a time on. The caller holds the
// lock.
func (l *simulator) drain(s *subscription, nowNs int64) {
	if s.draining || s.waiting() == 0 || len(s.consumers) == 0 {
		return
	}
	s.draining = true
	s.turnNs = max(s.turnNs, float64(nowNs))
	l.draining = append(l.draining, s)
}

// drainDue delivers backlogs that are due, and reports whether there were any.
func (l *simulator) drainDue(nowNs int64) bool {
	worked := false
	for i := len(l.draining) - 1; i >= 0; i-- {
		s := l.draining[i]
		for n := 0; s.draining && s.dueNs() <= nowNs && n < batch; n++ {
			worked = true
			s.draining = l.deliverFirst(s)
		}
		if !s.draining {
			l.draining = slices.Delete(l.draining, i, i+1)
		}
	}
	return worked
}

// deliverFirst delivers the first waiting message, and reports whether there is another and a
// consumer for it.
func (l *simulator) deliverFirst(s *subscription) bool {
	from := &s.again
	r, ok := from.peek()
	if !ok {
		from = &s.backlog
		r, ok = from.peek()
	}
	if !ok {
		return false
	}
	k := s.consumerOf(r.partition)
	if k == nil {
		return false
	}
	from.pop()
	if from == &s.backlog {
		l.buffered -= int64(len(r.payload))
	}
	if l.drainNs > 0 {
		// Without a rate the whole backlog is due at once, which is impossible, so it is not late.
		l.tellLate(s.dueNs())
	}
	s.turnNs += l.drainNs
	k.take(r)
	l.release(r)
	return s.waiting() > 0
}

// forgets counts a message that was given back, and decides whether it is forgotten.
func (l *simulator) forgets() bool {
	p := &l.faults.planted
	p.GivenBack++
	if int64(mix(l.truth.seed^uint64(p.GivenBack))%million) >= l.forgetShare {
		return false
	}
	p.Forgotten++
	return true
}

// returnDue queues given-back messages for redelivery when they are due.
func (l *simulator) returnDue(nowNs int64) bool {
	g, ok := l.returns.peek()
	if ok = ok && g.atNs <= nowNs; ok {
		l.returns.pop()
		g.to.again.push(g.record)
		l.drain(g.to, g.atNs)
	}
	return ok
}

// rewind queues all retained messages again for an existing subscription.
func (l *simulator) rewind(t *topic, s *subscription) {
	l.forget(s)
	for _, r := range t.retained {
		l.hold(s, r)
	}
}

// forget drops a subscription's backlog.
func (l *simulator) forget(s *subscription) {
	for r, ok := s.backlog.peek(); ok; r, ok = s.backlog.peek() {
		s.backlog.pop()
		l.buffered -= int64(len(r.payload))
		l.release(r)
	}
}
