package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// maxPacers bounds the OS threads that pace. Up to as many producers each have
// their own, so that one which blocks holds up no other.
const maxPacers = 64

// Engine offers one workload to one cluster. Its methods are for one goroutine;
// InFlight and the channels may be used by any, once it has started.
type Engine struct {
	plan      Plan
	schedule  atomic.Pointer[Schedule] // replaced by Settle and by End
	topics    []system.Topic
	producers []*producer
	consumers []*consumer
	shared    map[place]*subscription
	readers   readers // those of consumers that wait for a backlog
	pacers    []*pacer
	halt      atomic.Int64
	startNs   int64
	pacing    sync.WaitGroup
	sentAll   chan struct{}
	failures  chan error
	counted   *Cursor // walks the schedule for DueBy
	due       dueCount
	window    *window
	// The histograms of each kind of client.
	producing, pacings, consuming stores
	readiness                     *readiness
	twin                          *twin // nil: the plan has none
}

// Plan is what an engine needs to know.
type Plan struct {
	Workload *workload.Workload
	Clock    clock.Clock
	Run      uint32 // stamped into every message, to tell runs apart
	Prefix   string // of topic names
	// Spread is how the system's own client deals messages without a key.
	Spread system.Spread
	// Alone leaves the twin out. It is for benchmarks of the engine itself.
	Alone bool
}

// New returns an engine that has opened nothing yet.
func New(plan Plan) *Engine {
	w := plan.Workload
	e := &Engine{
		plan:     plan,
		sentAll:  make(chan struct{}),
		failures: make(chan error, 1),
		window:   newWindow(),
		shared:   make(map[place]*subscription),

		producing: newStores(w.Topics*w.Producers, producerSeries(w.Load)...),
		pacings:   newStores(w.Topics*w.Producers, pacerSeries...),
		consuming: newStores(w.Topics*w.AllSubscriptions()*w.Consumers, consumerSeries...),
		readiness: newReadiness(w),
	}
	if !plan.Alone {
		e.twin = newTwin(plan, e.window)
	}
	e.schedule.Store(scheduleOf(w))
	for i := range w.Topics {
		e.topics = append(e.topics, system.Topic{Name: fmt.Sprintf("%s-%d", plan.Prefix, i), Partitions: w.Partitions})
	}
	e.halt.Store(clock.Never)
	return e
}

// Topics returns the topics that the workload needs.
func (e *Engine) Topics() []system.Topic { return e.topics }

// Schedule returns when messages are due.
func (e *Engine) Schedule() *Schedule { return e.schedule.Load() }

// Subscription is the name of the i-th subscription of each topic.
func Subscription(i int) string { return fmt.Sprintf("subscription-%d", i) }

// Failures tells of the first consumer that could not go on.
func (e *Engine) Failures() <-chan error { return e.failures }

// Start begins the schedule at a time of the clock.
func (e *Engine) Start(startNs int64) {
	e.startNs = startNs
	for _, p := range e.producers {
		p.startNs = startNs
	}
	schedule := e.schedule.Load()
	e.window.fromNs.Store(startNs + schedule.warmupNs)
	e.window.toNs.Store(startNs + schedule.EndNs())
	e.counted = schedule.Cursor(0, 1)
	e.due.advance(e.counted)
	e.startTwin(startNs)
	if closed := e.plan.Workload.Load.Closed; closed != nil {
		for i := range e.producers {
			e.pacing.Go(newLoop(e.newPacer(i, i+1), closed, e.plan.Workload.Seed).run)
		}
	} else {
		all, n := len(e.producers), Pacers(e.plan.Workload)
		for i := range n {
			p := e.newPacer(i*all/n, (i+1)*all/n)
			if i == 0 {
				p.twin = e.twin
			}
			e.pacing.Go(p.run)
		}
	}
	go func() {
		e.pacing.Wait()
		close(e.sentAll)
	}()
}

// startTwin starts the twin's system, and beside a closed loop a pacer for it.
func (e *Engine) startTwin(startNs int64) {
	if e.twin == nil {
		return
	}
	e.twin.producer.startNs = startNs
	e.twin.system.start()
	if e.plan.Workload.Load.Closed != nil {
		p := e.newPacer(0, 0)
		p.twin = e.twin
		e.pacing.Go(p.runTwin)
	}
}

// newPacer adds the pacer of some of the producers.
func (e *Engine) newPacer(from, to int) *pacer {
	first := len(e.pacers)
	p := &pacer{
		clock: e.plan.Clock, schedule: e.schedule.Load(), replaced: &e.schedule,
		startNs: e.startNs, wokeNs: e.startNs - mostQuantumNs, halt: &e.halt,
		producers: e.producers[from:to], first: int64(from), all: int64(len(e.producers)),
		Recorder: e.pacings.recorder(first),
	}
	e.pacers = append(e.pacers, p)
	return p
}

// Pacers is how many OS threads an engine for the workload paces with. A closed
// loop waits for no due time: its only pacer is the twin's.
func Pacers(w *workload.Workload) int {
	if w.Load.Closed != nil {
		return 1
	}
	return min(w.Topics*w.Producers, maxPacers)
}

// Sent is closed when every message has been handed over or counted unsent.
func (e *Engine) Sent() <-chan struct{} { return e.sentAll }

// EndWindow ends the measured window at a time of the clock: what is answered or
// arrives later is no longer within it.
func (e *Engine) EndWindow(ns int64) { e.window.toNs.Store(ns) }

// Halt lets no message be handed over from that time of the clock on.
func (e *Engine) Halt(ns int64) {
	e.halt.Store(ns)
	for _, p := range e.pacers {
		p.wake()
	}
}

// Close ends the counting of answers, so that messages without one stay
// unknown, and closes producers, then consumers, each kind at once and within
// limit. Nothing is counted afterwards, even where closing failed. progress,
// which may be nil, is told of how many the closing has ended.
func (e *Engine) Close(limit time.Duration, progress func(string)) error {
	now := e.plan.Clock.Now()
	for _, p := range e.producers {
		p.freeze(now)
	}
	if e.twin != nil {
		e.twin.close(now)
	}
	err := closeAll(limit, e.producers, Counting(progress, "closed %s of %s producers", len(e.producers)), func(p *producer) closer { return p.system })
	prompt := e.consumers[:len(e.consumers)-len(e.readers.consumers)]
	open := prompt
	if e.stopReading(limit) {
		open = slices.DeleteFunc(slices.Clone(e.consumers), func(c *consumer) bool { return c.system == nil })
	} else {
		err = errors.Join(err, errors.New("the consumers that read later were still being opened"))
	}
	err = errors.Join(err, closeAll(limit, open, Counting(progress, "closed %s of %s consumers", len(open)), func(c *consumer) closer { return c.system }))
	for _, c := range e.consumers {
		// One that could not be closed may still receive.
		c.Lock()
		c.frozen = true
		c.Unlock()
	}
	return err
}

type closer interface {
	Close(ctx context.Context) error
}

// maxClosing bounds how many clients close at one time.
const maxClosing = 512

// closeAll closes all clients within limit and returns the first error: when
// one cannot be closed, many cannot, for the same reason.
func closeAll[T any](limit time.Duration, all []T, progress func(done int), of func(T) closer) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var once sync.Once
	var first error
	// Neither an error nor the limit keeps the others from being closed.
	_ = system.Each(context.Background(), len(all), maxClosing, progress, func(_ context.Context, i int) error {
		if err := of(all[i]).Close(ctx); err != nil {
			once.Do(func() { first = err })
		}
		return nil
	})
	return first
}
