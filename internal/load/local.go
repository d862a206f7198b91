package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// Local is a Worker in this process.
type Local struct {
	plan    Plan
	means   Means
	engine  *Engine
	before  measure.Connections // of this process, before the clients were opened
	self    *measure.Self
	process Process // resources used since the load began
	late    *lateness

	watcher  *measure.Watcher
	watching chan struct{} // closed when the watcher has ended; nil: the load has not begun
	spare    *measure.Live
	interval int64
	ownLags  *measure.Cells // of a share
	ownLag   OwnLag
	window   Window
	over     bool // closed: nothing is recorded any more
}

// Means holds the dependencies of a local worker. None of them crosses the seam.
type Means struct {
	Clock   clock.Clock
	Name    ClockName
	Cluster system.Cluster
	// Tell receives the worker's events, from any goroutine; it may be nil.
	Tell func(Event)
}

var _ Worker = (*Local)(nil)

// NewLocal returns a worker for a share of a plan.
func NewLocal(plan Plan, means Means) *Local {
	return &Local{
		plan: plan, means: means, engine: New(plan, means.Clock, means.Tell),
		late: newLateness(means.Cluster, means.Clock), spare: measure.NewLive(result.Hiccup),
		ownLags: measure.NewCells(result.OwnLag),
	}
}

// Open opens the share's clients.
func (l *Local) Open(ctx context.Context) error {
	l.before = measure.ReadConnections()
	return l.engine.Open(ctx, l.means.Cluster)
}

// Ready proves partitions, and then counts the clients' connections: all are open.
func (l *Local) Ready(ctx context.Context, again []int64, wait time.Duration) (Readiness, error) {
	ready, err := l.engine.Ready(ctx, again, wait)
	if _, inside := l.means.Cluster.(system.Simulation); !inside {
		ready.Connections = measure.ReadConnections().Since(l.before)
	}
	return ready, err
}

// Start begins the load.
func (l *Local) Start(w Window) error {
	l.self = measure.NewSelf()
	l.process = Process{ID: fmt.Sprintf("%d", os.Getpid())}
	phase := func(ns int64) measure.Phase {
		if l.engine.window.holds(ns) {
			return measure.Measured
		}
		return measure.Warmup
	}
	l.watcher = measure.NewWatcher(l.means.Clock, l.engine.InFlight, len(l.engine.producers), phase)
	l.late.begin(phase)
	l.window = w
	l.engine.Start(w)
	l.engine.scale(l.means.Cluster)
	l.watching = make(chan struct{})
	go func() {
		defer close(l.watching)
		l.watcher.Run(l.plan.Workload.Seed)
	}()
	return nil
}

// Cut adopts another window.
func (l *Local) Cut(w Window) error {
	l.window = w
	l.engine.follow(w)
	if w.Read {
		l.engine.Read(l.means.Cluster)
	}
	return nil
}

// Sample returns the counters. Histograms are collected after them, and may have some messages
// that the counters do not have yet.
func (l *Local) Sample(histograms bool) (Sample, error) {
	s := Sample{
		Worker: l.plan.Share.Worker, Interval: l.interval,
		Clock: l.means.Name, AtNs: l.means.Clock.Now(), Counters: l.engine.counters(),
	}
	if histograms {
		s.FirstAckNs, s.LastAckNs = l.engine.ackSpan()
		l.interval++
		s.Interval = l.interval
		s.Histograms = l.engine.Collect()
		if l.watcher != nil {
			var hiccups []measure.Histogram
			hiccups, l.spare = l.watcher.Collect(l.spare)
			s.Histograms = append(s.Histograms, hiccups...)
		}
		s.Histograms = append(s.Histograms, l.late.collect()...)
		s.Processes = []Process{l.spent()}
		if l.plan.Share.Workers > 0 {
			l.ownLags.Add(s.Histograms)
			own := l.ownLags.Of(result.OwnLag, measure.Measured).Histogram
			l.ownLag = OwnLag{own.ValueAtPercentile(99), own.TotalCount()}
		}
	}
	s.OwnLag = l.ownLag
	return s, nil
}

func (l *Local) spent() Process {
	if l.self == nil {
		return l.process
	}
	now := l.self.Read()
	l.process.CPUSeconds += now.CPUSeconds
	l.process.GCCount += now.GCCount
	l.process.GCPauseNs, l.process.RSSBytes = now.GCPauseNs, now.RSSBytes
	l.process.HeapBytes, l.process.Goroutines = now.HeapBytes, now.Goroutines
	l.process.ThrottledNs += now.Allowed.ThrottledNs
	l.process.CPULimitCores = now.Allowed.CPUCores
	l.process.MemoryLimitBytes = now.Allowed.MemoryBytes
	return l.process
}

// Account returns the sets of acknowledged and of arrived messages.
func (l *Local) Account() (Account, error) {
	a := l.engine.account(l.over)
	a.Clock = l.means.Name
	if l.watcher != nil {
		a.MeanInFlight = l.watcher.MeanInFlight()
	}
	return a, nil
}

// sendLimit bounds the wait for a Send that is under way when the load ends.
const sendLimit = 2 * time.Second

// Close ends sending and closes the clients. A Send that does not return blocks its pacer; closing
// the producer ends it.
func (l *Local) Close(limit time.Duration) error {
	sent := l.sentWithin(sendLimit)
	err := l.engine.Close(limit)
	if err != nil {
		err = fmt.Errorf("close the clients: %w", err)
	}
	if !sent && !l.sentWithin(sendLimit) {
		err = errors.Join(err, errors.New("the client library did not return from a send, "+
			"even after its producer was closed"))
	}
	l.over = true
	if l.watching != nil {
		l.watcher.Stop()
		<-l.watching
	}
	return err
}

// Halt ends the load at once, for a worker that has lost its coordinator. It does nothing before
// Start and after Close.
func (l *Local) Halt(limit time.Duration) error {
	if l.watching == nil || l.over {
		return nil
	}
	now := l.means.Clock.Now()
	w := l.window
	w.EndNs, w.HaltNs = min(w.EndNs, max(now, w.StartNs)), now
	if err := l.Cut(w); err != nil {
		return err
	}
	return l.Close(limit)
}

func (l *Local) sentWithin(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-l.engine.Sent():
		return true
	case <-timer.C:
		return false
	}
}
