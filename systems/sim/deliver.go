package sim

import (
	"math"
	"slices"
)

// deliver gives a record, due at that time since the line began, to every
// subscription of its topic: at once, or behind what waits already.
func (l *line) deliver(r *record, atNs int64) {
	if l.retain {
		r.refs++
		l.buffered += int64(len(r.payload))
		r.topic.retained = append(r.topic.retained, r)
	}
	for _, s := range r.topic.ordered {
		if s.backlog.len() == 0 && s.dueNs() <= atNs {
			if k := s.consumerOf(r.partition); k != nil {
				s.turnNs = float64(atNs) + l.drainNs
				k.receive(r.received())
				continue
			}
		}
		l.hold(s, r)
		l.drain(s, atNs)
	}
	l.release(r)
}

// hold puts a record behind what waits for a subscription.
func (l *line) hold(s *subscription, r *record) {
	r.refs++
	l.buffered += int64(len(r.payload))
	s.backlog.push(r)
}

// dueNs is when the subscription may have its next message, since the line
// began.
func (s *subscription) dueNs() int64 { return int64(math.Ceil(s.turnNs)) }

// drain has the line deliver what waits for a subscription, from that time on.
// The caller holds the lock.
func (l *line) drain(s *subscription, nowNs int64) {
	if s.draining || s.backlog.len() == 0 || len(s.consumers) == 0 {
		return
	}
	s.draining = true
	s.turnNs = max(s.turnNs, float64(nowNs))
	l.draining = append(l.draining, s)
}

// drainDue delivers what waits and whose turn has come, and reports whether
// there was any.
func (l *line) drainDue(nowNs int64) bool {
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

// deliverFirst delivers the first message that waits, and reports whether there
// is another one and somebody to take it.
func (l *line) deliverFirst(s *subscription) bool {
	r, ok := s.backlog.peek()
	if !ok {
		return false
	}
	k := s.consumerOf(r.partition)
	if k == nil {
		return false
	}
	s.backlog.pop()
	l.buffered -= int64(len(r.payload))
	s.turnNs += l.drainNs
	k.receive(r.received())
	l.release(r)
	return s.backlog.len() > 0
}

// rewind has everything wait again for a subscription that the topic has.
func (l *line) rewind(t *topic, s *subscription) {
	for r, ok := s.backlog.peek(); ok; r, ok = s.backlog.peek() {
		s.backlog.pop()
		l.buffered -= int64(len(r.payload))
		l.release(r)
	}
	for _, r := range t.retained {
		l.hold(s, r)
	}
}
