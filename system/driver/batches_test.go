package driver

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// post is a message that records its result.
type post struct {
	system.Message
	ends int
	err  error
}

func (p *post) Complete(err error) { p.ends, p.err = p.ends+1, err }

func posts(n int) (all []*post, messages []*system.Message) {
	for range n {
		p := &post{}
		p.Bind(p)
		all, messages = append(all, p), append(messages, &p.Message)
	}
	return all, messages
}

// recorded is a batching that records the batches' sizes and times; answers come after a while.
type recorded struct {
	mu    sync.Mutex
	sizes []int
	at    []time.Duration
	took  []time.Duration
}

func (r *recorded) batches(began time.Time, most int, linger, answer time.Duration) *Batches[int] {
	var b *Batches[int]
	b = NewBatches(Batching[int]{
		InFlight: 100, Most: most, Linger: linger, Partitions: 1,
		Create: func(own *int) { *own = 7 }, Fill: func(one *Batched[int]) { one.Own++ },
		Deliver: func(life context.Context, batch []*Batched[int]) {
			r.mu.Lock()
			r.sizes, r.at = append(r.sizes, len(batch)), append(r.at, time.Since(began))
			r.mu.Unlock()
			err := error(nil)
			if !clock.Sleep(life, answer) {
				err = ErrUnanswered
			}
			b.EndAll(batch, err)
		},
		Answered: func(took time.Duration) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.took = append(r.took, took)
		},
	})
	return b
}

func TestBatches(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name           string
		most           int
		linger, answer time.Duration
		sizes          []int
		at             []time.Duration
	}{
		{"what comes while a batch is under way is the next one", 100, 0, second,
			[]int{3, 3}, []time.Duration{0, second}},
		{"a full batch does not linger", 3, second, second,
			[]int{3, 3}, []time.Duration{0, second}},
		{"one that is not full does", 100, 3 * second, second,
			[]int{6}, []time.Duration{3 * second}},
		{"no batch is larger", 2, 0, second,
			[]int{2, 2, 2}, []time.Duration{0, second, 2 * second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var r recorded
				b := r.batches(time.Now(), c.most, c.linger, c.answer)
				all, messages := posts(6)
				b.SendBatch(messages[:3])
				time.Sleep(second / 2)
				b.SendBatch(messages[3:])
				if err := b.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i, size := range c.sizes {
					if len(r.sizes) != len(c.sizes) || r.sizes[i] != size || r.at[i] != c.at[i] {
						t.Fatalf("batches of %v at %v, want %v at %v", r.sizes, r.at, c.sizes, c.at)
					}
					if len(r.took) != len(c.sizes) || r.took[i] != c.answer {
						t.Fatalf("batches took %v, want %v each", r.took, c.answer)
					}
				}
				for i, p := range all {
					if p.ends != 1 || p.err != nil {
						t.Errorf("message %d ended %d times: %v", i, p.ends, p.err)
					}
				}
			})
		})
	}
}

// When everything that may be in flight is in the queue, nothing more can come.
func TestBatchesWaitForNothingThatCannotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorded
		b := r.batches(time.Now(), 1000, time.Hour, 0)
		_, messages := posts(100)
		b.SendBatch(messages)
		synctest.Wait()
		if len(r.sizes) != 1 || r.sizes[0] != 100 || r.at[0] != 0 {
			t.Errorf("batches of %v at %v", r.sizes, r.at)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A producer that closes without time ends queued messages and messages being sent, with different
// errors, and refuses later messages.
func TestBatchesCloseWithoutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r recorded
		b := r.batches(time.Now(), 2, 0, time.Hour)
		all, messages := posts(6)
		b.SendBatch(messages[:4])
		synctest.Wait()
		over, cancel := context.WithCancel(t.Context())
		cancel()
		broken := errors.New("broken")
		b.Abort = func() error { return broken }
		if err := b.Close(over); !errors.Is(err, broken) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		b.Send(messages[4])
		messages[5].Partition = 1
		b.Send(messages[5])
		for i, p := range all {
			unknown := i < 2
			if p.ends != 1 || p.err == nil || errors.Is(p.err, system.ErrUnknown) != unknown {
				t.Errorf("message %d ended %d times: %v", i, p.ends, p.err)
			}
		}
	})
}

// Consecutive messages of one lane join one batch, also from different partitions. A message whose
// partition does not exist is refused at once, and the others go on.
func TestLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b recorded
		one, other := a.batches(time.Now(), 100, 0, time.Second),
			b.batches(time.Now(), 100, 0, time.Second)
		one.Partitions, other.Partitions = 3, 3
		l := Lanes[int]{one, one, other}
		all, messages := posts(6)
		for i, partition := range []int32{0, 1, 9, 2, 2, 0} {
			messages[i].Partition = partition
		}
		l.SendBatch(messages)
		if all[2].ends != 1 || all[2].err == nil {
			t.Errorf("partition 9 of 3: %v", all[2].err)
		}
		synctest.Wait()
		if len(a.sizes) == 0 || a.sizes[0] != 2 && a.sizes[0] != 3 || len(b.sizes) != 1 ||
			b.sizes[0] != 2 {
			t.Errorf("batches of %v and %v", a.sizes, b.sizes)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		for i, p := range all {
			if p.ends != 1 || i != 2 && p.err != nil {
				t.Errorf("message %d ended %d times: %v", i, p.ends, p.err)
			}
		}
	})
}

// Resend tries again while it may, and neither after its time nor after life.
func TestResend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := func(life context.Context, until int) (n int) {
			Resend(life, 10*RetryPause, func() bool { n++; return n < until })
			return n
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if a, b, c := tries(t.Context(), 3), tries(t.Context(), 1000), tries(ended, 3); a != 3 ||
			b != 11 || c != 1 {
			t.Errorf("%d, %d and %d tries, want 3, 11 and 1", a, b, c)
		}
	})
}
