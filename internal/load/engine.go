package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// maxPacers bounds the pacers. Up to this number, each producer has its own, so that a blocked one
// delays no other.
const maxPacers = 64

// Engine offers a share of one workload to one cluster. Its methods are for one goroutine;
// InFlight may be called from any goroutine after Start.
type Engine struct {
	plan   Plan
	clock  clock.Clock
	tell   func(Event)    // may be nil
	topics []system.Topic // as they are at first
	grown  []system.Topic // as they are in the end
	growth []growth       // of each
	rounds *rounds        // nil: all producers take turns
	// The added partitions that messages have reached: of each topic, and all marks by
	// acknowledgements and by arrivals at subscriptions.
	used         []*reached
	acked, found atomic.Int64
	payloads     []payload   // of every message, or of those of each class
	first        int         // the index of the share's first producer
	step         int         // from each of its producers to the next
	producers    []*producer // of the share, as are all that follow
	consumers    []*consumer
	shared       map[place]*subscription
	readers      readers // those of consumers that wait for a backlog
	pacers       []*pacer
	startNs      int64
	pacing       sync.WaitGroup
	sentAll      chan struct{}
	failures     chan error
	closing      chan struct{} // closed when the clients begin to close
	closed       sync.Once
	scaler       scaler

	// The copy of the run's window, written only by follow.
	schedule atomic.Pointer[Schedule]
	window   *window
	halt     atomic.Int64

	// The histograms of each kind of client.
	producing, pacings, consuming stores
	readiness                     *readiness
	twin                          *twin // nil: the plan has none
}

// New returns an engine that has opened nothing yet. The engine reports events to tell, which may
// be nil, from any goroutine.
func New(plan Plan, c clock.Clock, tell func(Event)) *Engine {
	w := &plan.Workload
	e := &Engine{
		plan: plan, clock: c, tell: tell,
		sentAll:  make(chan struct{}),
		failures: make(chan error, 1),
		window:   newWindow(),
		closing:  make(chan struct{}),
		shared:   make(map[place]*subscription),
		topics:   plan.Topics(),
		grown:    plan.Grown(),
		rounds:   roundsOf(w),
		payloads: newPayloads(w),

		producing: newStores(w.Topics*w.Producers, producerSeries(w)...),
		pacings:   newStores(w.Topics*w.Producers, pacerSeries...),
		consuming: newStores(w.Topics*w.AllSubscriptions()*w.Consumers,
			consumerSeries(w)...),
	}
	for topic := range w.Topics {
		e.growth = append(e.growth, growthOf(w, topic))
		e.used = append(e.used, newReached(e.growth[topic], &e.acked))
	}
	e.readiness = newReadiness(w)
	if !plan.Alone {
		e.twin = newTwin(plan, c, e.window)
	}
	e.schedule.Store(scheduleOf(w, w.Warmup))
	e.halt.Store(clock.Never)
	return e
}

// progress returns the function that reports progress, or nil.
func (e *Engine) progress() func(sentence string) {
	if e.tell == nil {
		return nil
	}
	return func(sentence string) { e.tell(Event{Progress, sentence}) }
}

// Subscription returns the name of the i-th subscription of each topic.
func Subscription(i int) string { return fmt.Sprintf("subscription-%d", i) }

// Start begins the schedule.
func (e *Engine) Start(w Window) {
	e.readiness = nil
	for _, c := range e.consumers {
		c.proof.Store(nil)
	}
	e.startNs = w.StartNs
	for _, p := range e.producers {
		p.startNs = w.StartNs
	}
	e.follow(w)
	e.startTwin()
	if closed := e.plan.Workload.Load.Closed; closed != nil {
		for i := range e.producers {
			e.pacing.Go(newLoop(e.newPacer(e.producers[i:i+1], i), closed,
				e.plan.Workload.Seed).run)
		}
	} else {
		all := len(e.producers)
		for i, n := 0, min(all, maxPacers); i < n; i++ {
			p := e.newPacer(e.dealt(i, n), i*all/n)
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

// follow adopts the run's window. Every client reads a part of it for each message.
func (e *Engine) follow(w Window) {
	before := e.schedule.Load()
	after := scheduleIn(&e.plan.Workload, w)
	if after.warmupNs != before.warmupNs || after.endNs != before.endNs {
		after.sinceNs = min(after.endNs, before.endNs)
		if after.warmupNs != before.warmupNs {
			after.sinceNs = min(after.warmupNs, before.warmupNs)
		}
		if w.HaltNs <= w.EndNs {
			after.sinceNs = math.MaxInt64 // nothing later is handed over at all
		}
		e.schedule.Store(after)
	}
	e.window.fromNs.Store(w.MeasureNs)
	e.window.toNs.Store(w.EndNs)
	e.halt.Store(w.HaltNs)
	for _, p := range e.pacers {
		p.wake()
	}
}

// startTwin starts the twin's system and, in a closed loop, a pacer for it.
func (e *Engine) startTwin() {
	if e.twin == nil {
		return
	}
	e.twin.producer.startNs = e.startNs
	e.twin.system.start()
	if e.plan.Workload.Load.Closed != nil {
		p := e.newPacer(nil, 0)
		p.twin = e.twin
		e.pacing.Go(p.runTwin)
	}
}

// dealt returns the producers of the i-th of n pacers. With rounds producers differ in rate, and
// neighbours may be of one class: so they go to different pacers.
func (e *Engine) dealt(i, n int) (some []*producer) {
	all := len(e.producers)
	if e.rounds == nil {
		return e.producers[i*all/n : (i+1)*all/n]
	}
	for ; i < all; i += n {
		some = append(some, e.producers[i])
	}
	return some
}

// newPacer adds a pacer for some of the share's producers, from a number on.
func (e *Engine) newPacer(producers []*producer, from int) *pacer {
	first := len(e.pacers)
	p := &pacer{
		clock: e.clock, schedule: e.schedule.Load(), replaced: &e.schedule,
		startNs: e.startNs, wokeNs: e.startNs - mostQuantumNs, halt: &e.halt,
		producers: producers, first: int64(e.producerIndex(from)), step: int64(e.step),
		rounds: e.rounds,
		all:    int64(e.plan.Workload.Topics * e.plan.Workload.Producers), failed: e.failed,
		Recorder: e.pacings.recorder(first),
	}
	p.waits.asleep = p.stint.Asleep
	e.pacers = append(e.pacers, p)
	return p
}

// Sent is closed when every message has been handed over or counted unsent.
func (e *Engine) Sent() <-chan struct{} { return e.sentAll }

// Close ends the counting of answers, so that messages without an answer stay unknown, and closes
// producers, then consumers, each kind at once and within limit. Nothing is counted afterwards,
// even if closing failed.
func (e *Engine) Close(limit time.Duration) error { return e.close(limit, e.progress()) }

func (e *Engine) close(limit time.Duration, progress func(string)) error {
	now := e.clock.Now()
	e.closed.Do(func() { close(e.closing) })
	e.scaler.running.Wait()
	for _, p := range e.producers {
		p.freeze(now)
	}
	if e.twin != nil {
		e.twin.close(now)
	}
	err := closeAll(limit, e.producers, Counting(progress, "closed %s of %s producers",
		len(e.producers)), func(p *producer) closer { return p.system })
	open := e.consumers[:len(e.consumers)-len(e.readers.consumers)]
	if e.stopReading(limit) {
		open = e.consumers
	} else {
		err = errors.Join(err, errors.New("the consumers that read later were still being opened"))
	}
	open = slices.DeleteFunc(slices.Clone(open), func(c *consumer) bool { return c.system == nil })
	err = errors.Join(err, closeAll(limit, open,
		Counting(progress, "closed %s of %s consumers",
			len(open)), func(c *consumer) closer { return c.system }))
	for _, c := range e.consumers {
		// A consumer that could not be closed may still receive.
		c.Lock()
		c.frozen = true
		c.Unlock()
	}
	return err
}

type closer interface {
	Close(ctx context.Context) error
}

// maxClosing bounds the clients that close at the same time.
const maxClosing = 512

// closeAll closes all clients within limit and returns the first error. Further errors usually
// have the same reason.
func closeAll[T any](limit time.Duration, all []T, progress func(done int),
	of func(T) closer) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var once sync.Once
	var first error
	// Neither an error nor the limit prevents the closing of the others.
	_ = system.Each(context.Background(), len(all), maxClosing, progress,
		func(_ context.Context, i int) error {
			if err := of(all[i]).Close(ctx); err != nil {
				once.Do(func() { first = err })
			}
			return nil
		})
	return first
}
