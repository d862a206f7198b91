package driver

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/plimsoll-bench/plimsoll/system"
)

type slot struct{ number int }

func slots(most int) *Slots[slot] {
	return NewSlots(most, func(i int) *slot { return &slot{number: i} })
}

func take(s *Slots[slot]) (*slot, error) {
	s.Lock()
	defer s.Unlock()
	return s.Take(nil)
}

// However many goroutines send, the bound of messages in flight holds, and a slot belongs to one
// message at a time.
func TestSlotsBoundWhatIsInFlight(t *testing.T) {
	const most, senders, each = 5, 8, 500
	s := slots(most)
	var now, peak atomic.Int64
	var taken [most]atomic.Bool
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for range each {
				one, err := take(s)
				if err != nil {
					t.Error(err)
					return
				}
				if taken[one.number].Swap(true) {
					t.Errorf("slot %d has two messages", one.number)
				}
				peak.Store(max(peak.Load(), now.Add(1)))
				now.Add(-1)
				taken[one.number].Store(false)
				s.End(one)
			}
		})
	}
	sending.Wait()
	if peak.Load() > most || len(s.All()) > most {
		t.Errorf("%d at a time in %d slots, at most %d", peak.Load(), len(s.All()), most)
	}
}

func TestSendWaitsForASlotAndEndsWhenTheProducerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots(1)
		first, err := take(s)
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		wait := func() { _, err := take(s); got <- err }
		go wait()
		synctest.Wait()
		if len(got) > 0 {
			t.Fatal("a second message is in flight")
		}
		s.End(first)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		go wait()
		synctest.Wait()
		s.Shut()
		if err := <-got; err != ErrProducerClosed {
			t.Errorf("a Send that waited ended with %v", err)
		}
		if _, err := take(s); err != ErrProducerClosed {
			t.Errorf("a closed producer took a message: %v", err)
		}
	})
}

// A slot that the client library keeps after its message timed out delays later messages, although
// the message has left the flight.
func TestASlotMayOutliveItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots(1)
		one, _ := take(s)
		s.Leave(1)
		if err := s.Drain(t.Context()); err != nil {
			t.Errorf("the message that timed out is waited for: %v", err)
		}
		got := make(chan *slot, 1)
		go func() { again, _ := take(s); got <- again }()
		synctest.Wait()
		if len(got) > 0 {
			t.Error("the slot was taken before the library let go of it")
		}
		s.Free(one)
		if again := <-got; again != one {
			t.Error("another slot was made")
		}
	})
}

func TestReadyHoldsMessagesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFlight(2)
		up, refused := false, error(nil)
		enter := func() error {
			f.Lock()
			defer f.Unlock()
			return f.Enter(func() (bool, error) { return up, refused })
		}
		got := make(chan error, 1)
		go func() { got <- enter() }()
		synctest.Wait()
		if len(got) > 0 {
			t.Fatal("it did not wait for a connection")
		}
		f.Lock()
		up = true
		f.Unlock()
		f.Wake()
		if err := <-got; err != nil {
			t.Error(err)
		}
		refused = errors.New("no server was reached")
		if err := enter(); err != refused {
			t.Errorf("got %v", err)
		}
	})
}

func TestDrainSaysHowManyAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots(3)
		one, _ := take(s)
		_, _ = take(s)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() { got <- s.Drain(ctx) }()
		s.End(one)
		synctest.Wait()
		if len(got) > 0 {
			t.Fatal("it returned while a message is in flight")
		}
		cancel()
		err := <-got
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 messages") {
			t.Errorf("got %v", err)
		}
		s.Leave(1)
		if err := s.Drain(ctx); err != nil {
			t.Errorf("nothing is in flight: %v", err)
		}
	})
}

func TestAMessageCostsNoAllocation(t *testing.T) {
	s := slots(4)
	up, given := true, error(nil)
	message := &system.Message{}
	if n := testing.AllocsPerRun(1000, func() {
		if err := CheckPartition(message, 1); err != nil {
			t.Fatal(err)
		}
		s.Lock()
		one, err := s.Take(func() (bool, error) { return up, given })
		s.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		s.End(one)
	}); n > 0 {
		t.Errorf("%v allocations for each message", n)
	}
}

func TestCheckPartition(t *testing.T) {
	for partition, fits := range map[int32]bool{-1: false, 0: true, 2: true, 3: false} {
		err := CheckPartition(&system.Message{Partition: partition}, 3)
		if (err == nil) != fits {
			t.Errorf("partition %d of 3: %v", partition, err)
		}
	}
}

func BenchmarkSlots(b *testing.B) {
	s := slots(1000)
	b.ReportAllocs()
	for b.Loop() {
		one, err := take(s)
		if err != nil {
			b.Fatal(err)
		}
		s.End(one)
	}
}
