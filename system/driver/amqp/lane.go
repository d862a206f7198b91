package amqp

import (
	"sync"
	"sync/atomic"
)

// lane holds a partition's sent messages whose answers are outstanding, in the order of sending.
// The slots are linked, so a message costs no allocation, and the lane has room for all messages
// in flight.
type lane struct {
	waiting atomic.Int64 // the sweep, from 1, at which the waiting message was sent; 0: none

	mu          sync.Mutex
	changed     sync.Cond
	first, last *slot // nil: there are none
	over        bool
}

func newLane() *lane {
	l := &lane{}
	l.changed.L = &l.mu
	return l
}

// put adds a message that was sent.
func (l *lane) put(s *slot) {
	l.mu.Lock()
	if l.last == nil {
		l.first = s
	} else {
		l.last.next = s
	}
	l.last = s
	l.mu.Unlock()
	l.changed.Signal()
}

// take waits for the message that was sent first, and removes it. It returns nil if the lane is
// shut.
func (l *lane) take() *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.first == nil && !l.over {
		l.changed.Wait()
	}
	s := l.first
	if s == nil {
		return nil
	}
	if l.first = s.next; l.first == nil {
		l.last = nil
	}
	s.next = nil
	return s
}

// shut makes take return when the lane is empty.
func (l *lane) shut() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.changed.Signal()
}
