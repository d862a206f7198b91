package system

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// eachTells is the interval at which Each reports its progress.
const eachTells = time.Second

// Each calls do for 0 to n-1, at most width at a time, and returns when all calls have
// returned. The first error cancels the context of the other calls, prevents further
// ones, and is returned. The caller's goroutine calls progress, which may be nil, once
// a second with the number of calls done.
func Each(ctx context.Context, n, width int, progress func(done int),
	do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed sync.Once
	var first error
	var next, done atomic.Int64
	var workers sync.WaitGroup
	for range min(n, width) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					failed.Do(func() { first = err })
					cancel()
					return
				}
				done.Add(1)
			}
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		workers.Wait()
	}()
	ticker := time.NewTicker(eachTells)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			if first == nil && int(done.Load()) < n {
				return ctx.Err()
			}
			return first
		case <-ticker.C:
			if progress != nil {
				progress(int(done.Load()))
			}
		}
	}
}
