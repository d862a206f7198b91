package result

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestQueueWritesInOrderAndToldFailuresEndIt(t *testing.T) {
	var written []int
	q := newQueue()
	for i := range 3 {
		if err := q.put(func() error { written = append(written, i); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	full := errors.New("no space")
	first := q.put(func() error { return full })
	after := q.put(func() error { written = append(written, 9); return nil })
	// Reported once: by one of the later calls, or at the end.
	var told []error
	for _, err := range []error{first, after, q.close()} {
		if err != nil {
			told = append(told, err)
		}
	}
	if !slices.Equal(written, []int{0, 1, 2}) || len(told) != 1 || !errors.Is(told[0], full) {
		t.Errorf("written %v, told %v", written, told)
	}
}

func TestQueueWaitsWhenItIsFullAndSaysForHowLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const stall = 3 * time.Second
		q := newQueue()
		_ = q.put(func() error { time.Sleep(stall); return nil })
		synctest.Wait() // the disk is blocked, and the queue is empty
		for range mostQueued {
			_ = q.put(func() error { return nil })
		}
		if q.heldUp != 0 {
			t.Errorf("held up for %s before the queue was full", q.heldUp)
		}
		_ = q.put(func() error { return nil })
		if q.heldUp != stall {
			t.Errorf("held up for %s, not %s", q.heldUp, stall)
		}
		if err := q.close(); err != nil {
			t.Error(err)
		}
	})
}
