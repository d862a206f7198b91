package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Results of messages that a closed producer did not send, or whose answer it did not
// receive.
var (
	ErrProducerClosed = errors.New("the producer is closed")
	ErrUnanswered     = fmt.Errorf("the producer was closed before the server answered: %w",
		system.ErrUnknown)
)

// CheckPartition refuses a message to a partition that the topic does not have.
func CheckPartition(m *system.Message, partitions int) error {
	if m.Partition >= 0 && int(m.Partition) < partitions {
		return nil
	}
	return fmt.Errorf("partition %d: the topic has %d", m.Partition, partitions)
}

// Flight counts a producer's messages in flight, bounds them, and waits for the last. A
// message leaves the count after its Done, so a producer with nothing in flight has
// reported every result. The driver may use the lock for state that changes together
// with the count.
type Flight struct {
	sync.Mutex
	changed sync.Cond
	most    int
	count   int
	closed  bool
}

// NewFlight returns a Flight of at most a number of messages, at least 1.
func NewFlight(most int) *Flight {
	f := &Flight{}
	f.begin(most)
	return f
}

func (f *Flight) begin(most int) { f.most, f.changed.L = max(most, 1), &f.Mutex }

// Most returns the bound of messages in flight.
func (f *Flight) Most() int { return f.most }

// Enter counts a further message. It waits while too many are in flight and while ready,
// which may be nil, is false. It returns the error of ready, or ErrProducerClosed. The
// caller holds the lock. Code that changes the result of ready calls Wake.
func (f *Flight) Enter(ready func() (bool, error)) error {
	for !f.closed {
		able := true
		if ready != nil {
			var err error
			if able, err = ready(); err != nil {
				return err
			}
		}
		if able && f.count < f.most {
			f.count++
			return nil
		}
		f.changed.Wait()
	}
	return ErrProducerClosed
}

// Wake makes waiting calls of Enter check again.
func (f *Flight) Wake() { f.changed.Broadcast() }

// Leave removes messages from the count after their Done.
func (f *Flight) Leave(n int) {
	f.Lock()
	f.count -= n
	f.Unlock()
	f.changed.Broadcast()
}

// Shut refuses further messages.
func (f *Flight) Shut() {
	f.Lock()
	f.closed = true
	f.Unlock()
	f.changed.Broadcast()
}

// Drain waits until nothing is in flight. If ctx ends first, the error has the number of messages
// in flight.
func (f *Flight) Drain(ctx context.Context) error {
	wake := context.AfterFunc(ctx, func() {
		f.Lock() // not between the check of ctx below and the wait
		defer f.Unlock()
		f.changed.Broadcast()
	})
	defer wake()
	f.Lock()
	defer f.Unlock()
	for f.count > 0 && ctx.Err() == nil {
		f.changed.Wait()
	}
	if f.count > 0 {
		return fmt.Errorf("close the producer: %d messages were not answered: %w",
			f.count, ctx.Err())
	}
	return nil
}

// Slots is a Flight with a slot for each message in flight, in which the driver keeps its
// state of the message. Slots are reused, so a message costs no allocation.
type Slots[T any] struct {
	Flight
	create    func(index int) *T
	all, free []*T
}

// NewSlots returns at most a number of slots, at least 1, numbered from 0.
func NewSlots[T any](most int, create func(index int) *T) *Slots[T] {
	s := &Slots[T]{create: create}
	s.begin(most)
	return s
}

// Take enters the flight, waits for a free slot and returns it. A slot may be in use for
// longer than its message is in flight. The caller holds the lock.
func (s *Slots[T]) Take(ready func() (bool, error)) (*T, error) {
	err := s.Enter(func() (bool, error) {
		room := len(s.free) > 0 || len(s.all) < s.most
		if ready == nil {
			return room, nil
		}
		able, err := ready()
		return able && room, err
	})
	if err != nil {
		return nil, err
	}
	last := len(s.free) - 1
	if last < 0 {
		one := s.create(len(s.all))
		s.all = append(s.all, one)
		return one, nil
	}
	one := s.free[last]
	s.free = s.free[:last]
	return one, nil
}

// All returns the slots so far, by number. The caller holds the lock.
func (s *Slots[T]) All() []*T { return s.all }

// End frees the slot of a message after its Done.
func (s *Slots[T]) End(one *T) {
	s.Lock()
	s.free = append(s.free, one)
	s.count--
	s.Unlock()
	s.changed.Broadcast()
}

// Free frees a slot whose message has left the flight already.
func (s *Slots[T]) Free(one *T) {
	s.Lock()
	s.free = append(s.free, one)
	s.Unlock()
	s.changed.Broadcast()
}
