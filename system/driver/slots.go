package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/plimsoll-bench/plimsoll/system"
)

// How messages end that a closed producer did not send, or whose answer it did not
// get.
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

// Flight counts a producer's messages in flight, bounds them, and waits for the last.
// A message leaves the count after its Done, so that a producer with nothing in flight
// has told the end of every message. The lock is the driver's to use too: it guards
// whatever the driver changes together with the count.
type Flight struct {
	sync.Mutex
	changed sync.Cond
	most    int
	count   int
	closed  bool
}

// NewFlight returns a Flight of at most so many messages, at least 1.
func NewFlight(most int) *Flight {
	f := &Flight{}
	f.begin(most)
	return f
}

func (f *Flight) begin(most int) { f.most, f.changed.L = max(most, 1), &f.Mutex }

// Most is how many messages can be in flight.
func (f *Flight) Most() int { return f.most }

// Enter counts one more message. It waits while too many are in flight and while ready,
// which may be nil, is false; it returns the error of ready, or ErrProducerClosed. The
// caller holds the lock, and whoever changes the result of ready calls Wake.
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

// Wake has Enter look again.
func (f *Flight) Wake() { f.changed.Broadcast() }

// Leave uncounts messages that were told their end.
func (f *Flight) Leave(n int) {
	f.Lock()
	f.count -= n
	f.Unlock()
	f.changed.Broadcast()
}

// Shut lets no further message in.
func (f *Flight) Shut() {
	f.Lock()
	f.closed = true
	f.Unlock()
	f.changed.Broadcast()
}

// Drain waits until nothing is in flight. The error says how many messages are when
// ctx ends first.
func (f *Flight) Drain(ctx context.Context) error {
	wake := context.AfterFunc(ctx, func() {
		f.Lock() // between the look at ctx below and the wait
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
		return fmt.Errorf("closing the producer: %d messages were not answered: %w",
			f.count, ctx.Err())
	}
	return nil
}

// Slots are a Flight with a slot for each message in flight, in which the driver keeps
// what it must know of the message. A slot is made when it is first needed and used
// again, so that a message costs no allocation.
type Slots[T any] struct {
	Flight
	create    func(index int) *T
	all, free []*T
}

// NewSlots returns at most so many slots, at least 1, numbered from 0.
func NewSlots[T any](most int, create func(index int) *T) *Slots[T] {
	s := &Slots[T]{create: create}
	s.begin(most)
	return s
}

// Take enters the flight and returns a free slot, for which it waits too: a slot may be
// in use for longer than its message is in flight. The caller holds the lock.
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

// All are the slots so far, by number. The caller holds the lock.
func (s *Slots[T]) All() []*T { return s.all }

// End frees the slot of a message that was told its end.
func (s *Slots[T]) End(one *T) {
	s.Lock()
	s.free = append(s.free, one)
	s.count--
	s.Unlock()
	s.changed.Broadcast()
}

// Free frees a slot whose message left the flight before.
func (s *Slots[T]) Free(one *T) {
	s.Lock()
	s.free = append(s.free, one)
	s.Unlock()
	s.changed.Broadcast()
}
