package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// gaps records, for each partition of a subscription, the longest time between two arrivals. Any
// goroutine may use it. A nil value records nothing.
type gaps []struct{ lastNs, longestNs atomic.Int64 }

// arrived notes an arrival.
func (g gaps) arrived(partition int, nowNs int64) {
	if g == nil {
		return
	}
	at := &g[partition]
	since := at.lastNs.Swap(nowNs)
	if since == 0 {
		return
	}
	for gap := nowNs - since; ; {
		longest := at.longestNs.Load()
		if gap <= longest || at.longestNs.CompareAndSwap(longest, gap) {
			return
		}
	}
}

// gap is the longest gap of a partition. Its bound is result.AtLeast if it has not ended.
type gap struct {
	ns    int64
	bound result.Bound
}

// take returns the longest gap of each partition since the last call; an unfinished gap counts
// with its length so far.
func (g gaps) take(nowNs int64) (all []gap) {
	for i := range g {
		longest := gap{ns: g[i].longestNs.Swap(0)}
		if last := g[i].lastNs.Load(); last != 0 && nowNs-last > longest.ns {
			longest = gap{nowNs - last, result.AtLeast}
		}
		all = append(all, longest)
	}
	return all
}

// scaleLimit bounds one change of the number of consumers.
const scaleLimit = 2 * time.Minute

// scaler changes the number of consumers while the load runs.
type scaler struct {
	running sync.WaitGroup

	mu    sync.Mutex
	steps []scaled
	away  []bool // subscriptions without consumers
}

// scaled is a change, and what consumers that came back found.
type scaled struct {
	result.ScaleStep
	back *catchUp // nil: none came back
}

// done returns the finished changes.
func (s *scaler) done() (all []result.ScaleStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, step := range s.steps {
		step.Return = step.back.soFar()
		all = append(all, step.ScaleStep)
	}
	return all
}

// scale starts to change the number of consumers according to the plan, until the clients close.
func (e *Engine) scale(c system.Cluster) {
	if len(e.plan.Workload.Scaling) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.scaler.running.Go(func() {
		defer cancel()
		e.follows(ctx, c)
	})
	go func() {
		select {
		case <-e.closing:
		case <-ctx.Done():
		}
		cancel()
	}()
}

// follows makes the changes, one after another.
func (e *Engine) follows(ctx context.Context, c system.Cluster) {
	w := &e.plan.Workload
	step := scaled{ScaleStep: result.ScaleStep{Consumers: w.Consumers}}
	e.scaler.away = make([]bool, w.Subscriptions)
	if !e.until(ctx, 0) {
		return
	}
	_, copies := e.takes(workload.GroupSize{})
	for _, next := range w.Scaling {
		if !e.until(ctx, next.At) {
			e.ends(step, copies)
			return
		}
		copies = e.ends(step, copies)
		began := e.clock.Now()
		step = scaled{ScaleStep: result.ScaleStep{AtNs: int64(next.At), Consumers: next.Consumers,
			Subscription: next.Subscription}, back: e.comesBack(ctx, next, began)}
		err := e.resize(ctx, c, next)
		step.TookNs = e.clock.Now() - began
		e.leaves(next)
		if err != nil && ctx.Err() == nil {
			step.Failure = BoundText(err.Error())
			e.ends(step, copies)
			e.failed(err)
			return
		}
	}
	e.until(ctx, w.Duration)
	e.ends(step, copies)
}

// until waits for a time of the measured window, which may move, and reports whether it was
// reached.
func (e *Engine) until(ctx context.Context, at time.Duration) bool {
	for {
		wait := e.window.fromNs.Load() + int64(at) - e.clock.Now()
		if wait <= 0 {
			return ctx.Err() == nil
		}
		if !clock.Sleep(ctx, min(time.Duration(wait), time.Second)) {
			return false
		}
	}
}

// takes returns the longest gap of each partition of a group's subscriptions since the last call,
// and the copies so far.
func (e *Engine) takes(of workload.GroupSize) (all []gap, copies int64) {
	now := e.clock.Now()
	for at, s := range e.shared {
		if longest := s.gaps.take(now); of.Of(at.subscription + 1) {
			all = append(all, longest...)
		}
	}
	for _, k := range e.consumers {
		k.Lock()
		copies += k.copies
		k.Unlock()
	}
	slices.SortFunc(all, func(a, b gap) int { return cmp.Compare(a.ns, b.ns) })
	return all, copies
}

// ends records a stretch that ends now and began at a number of copies. It returns the copies so
// far.
func (e *Engine) ends(step scaled, before int64) int64 {
	all, copies := e.takes(workload.GroupSize{Subscription: step.Subscription})
	if len(all) > 0 {
		median, longest := all[len(all)/2], all[len(all)-1]
		step.MedianGapNs, step.MedianGapBound = median.ns, median.bound
		step.LongestGapNs, step.LongestGapBound = longest.ns, longest.bound
	}
	step.Copies = copies - before
	e.scaler.mu.Lock()
	e.scaler.steps = append(e.scaler.steps, step)
	e.scaler.mu.Unlock()
	return copies
}

// resize closes or opens consumers until each subscription of a group has its size, and waits until
// their partitions are assigned.
func (e *Engine) resize(ctx context.Context, c system.Cluster, to workload.GroupSize) error {
	ctx, cancel := context.WithTimeout(ctx, scaleLimit)
	defer cancel()
	var leave, join, stay []*consumer
	for _, k := range e.consumers {
		switch {
		case k.later || !to.Of(k.subscription+1):
		case k.index >= to.Consumers && k.system != nil:
			leave = append(leave, k)
		case k.index < to.Consumers && k.system == nil:
			join = append(join, k)
			stay = append(stay, k)
		case k.system != nil:
			stay = append(stay, k)
		}
	}
	err := system.Each(ctx, len(leave), maxClosing, nil, func(ctx context.Context, i int) error {
		k := leave[i]
		if err := k.system.Close(ctx); err != nil {
			return fmt.Errorf("close consumer %d of %s on %s: %w", k.index,
				e.plan.subscriptionName(k.subscription), k.topic.Name, err)
		}
		k.system = nil
		return nil
	})
	return errors.Join(err, system.Each(ctx, len(join), maxOpening, nil,
		func(ctx context.Context, i int) error { return e.openConsumer(ctx, c, join[i]) }),
		settle(ctx, stay))
}
