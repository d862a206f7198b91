package system

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestEachDoesAllWithinItsWidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		var did [100]atomic.Int64
		var told []int
		began := time.Now()
		err := Each(t.Context(), len(did), 10, func(done int) { told = append(told, done) },
			func(_ context.Context, i int) error {
				if now := running.Add(1); now > most.Load() {
					most.Store(now)
				}
				defer running.Add(-1)
				time.Sleep(300 * time.Millisecond)
				did[i].Add(1)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		for i := range did {
			if n := did[i].Load(); n != 1 {
				t.Errorf("%d was done %d times", i, n)
			}
		}
		if most.Load() > 10 || time.Since(began) != 3*time.Second {
			t.Errorf("%d at a time in %s: want 10 in 3s", most.Load(), time.Since(began))
		}
		if len(told) < 2 || told[0] != 30 {
			t.Errorf("told %v: want 30 after the first second", told)
		}
	})
}

func TestEachEndsWithTheFirstError(t *testing.T) {
	wrong := errors.New("wrong")
	var did atomic.Int64
	err := Each(t.Context(), 1000, 4, nil, func(ctx context.Context, i int) error {
		did.Add(1)
		if i == 2 {
			return wrong
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, wrong) || did.Load() > 4 {
		t.Errorf("%v after %d: want the first error and no more than 4 begun", err, did.Load())
	}
}

func TestEachEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Each(ctx, 3, 2, nil, func(context.Context, int) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v: want that it was cancelled", err)
	}
	if err := Each(t.Context(), 0, 2, nil, nil); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
}
