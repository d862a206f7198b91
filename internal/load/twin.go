package load

import (
	"context"
	"sync"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

const (
	// twinEveryNs is the mean time between two of the twin's messages, which are due at random:
	// enough for a p99 within ten seconds. Each costs the waking of two goroutines (BenchmarkTwin).
	twinEveryNs = 10_000_000
	twinBytes   = 64
	twinRoom    = 256 // messages in flight
)

// Series without a name in a result: the twin's recorders have them like those of any producer and
// consumer, but they are never collected.
const (
	twinSend   result.Series = "instrument_send"
	twinLess   result.Series = "instrument_less_own_lag"
	twinCopies result.Series = "instrument_copies"
)

// twinSeries are the series of the twin's producer and of its consumer, in the order of
// their places.
var twinSeries = [2][]result.Series{
	{result.Twin, twinSend, result.TwinWaited, twinLess},
	{result.TwinReceive, twinCopies},
}

// twin measures plimsoll itself in every run: a producer and a consumer of a system that takes no
// time. A pacer of the measured system offers it a small load, with the recorders and the receive
// path of any run. Its answers and deliveries come from ordinary goroutines, like those of client
// libraries, so its latency is plimsoll's own error at that moment. A wait of the pacer for the
// measured system is not counted, because it is not plimsoll's error.
type twin struct {
	producer *producer
	consumer *consumer
	system   *echo
	seed     uint64
	drawn    uint64
	dueNs    int64 // of its next message, since the schedule's start
	stores   [2]stores
}

func newTwin(plan Plan, c clock.Clock, w *window) *twin {
	load := &workload.Workload{
		Topics: 1, Partitions: 1, Producers: 1, Consumers: 1, Subscriptions: 1,
		MaxInFlight: twinRoom,
		Message:     workload.Message{Size: twinBytes, Incompressible: 1},
		Keys:        workload.Keys{Kind: workload.KeysNone},
	}
	t := &twin{seed: mix(plan.Workload.Seed ^ 0x7477696e)}
	for i, series := range twinSeries {
		t.stores[i] = newStores(1, series...)
	}
	t.consumer = &consumer{
		clock: c, run: plan.Run, lanes: 1, growth: growth{first: 1, most: 1}, window: w,
		payloads: []payload{newPayload(load.Message, 0)}, Recorder: t.stores[1].recorder(0),
		arrived: measure.NewArrived(1), seen: measure.NewSeen(1),
		shared: &subscription{order: measure.NewOrder(1), found: &reached{}},
	}
	t.system = newEcho(t.consumer.receive)
	t.producer = &producer{
		clock: c, system: t.system, run: plan.Run, window: w, growth: growth{first: 1, most: 1},
		used:    &reached{},
		payload: newPayload(load.Message, 0), chooser: newChooser(load, system.Spread{}),
		nextSeq: make([]int64, 1), measuredFrom: never(1), Recorder: t.stores[0].recorder(0),
		sent: measure.NewSent(1), errors: make(map[string]int64),
	}
	t.producer.pool.bound, t.producer.pool.fresh = twinRoom, t.producer.fresh
	t.advance()
	return t
}

// advance draws the due time of the next message.
func (t *twin) advance() {
	t.dueNs += int64(exponential(t.seed, t.drawn) * twinEveryNs)
	t.drawn++
}

// send hands over a message with its own lag so far. If all messages are in flight, the message is
// left out and counts as never answered.
func (t *twin) send(ownLagNs, nowNs int64, phase measure.Phase) {
	f := t.producer.pool.take()
	if f == nil {
		t.producer.Lock()
		t.producer.Add(atWaited, phase, ownLagNs)
		t.producer.Unlock()
		return
	}
	t.producer.prepare(f, int64(t.drawn), nowNs-ownLagNs, phase)
	t.producer.send(f, nowNs, 0)
}

func (t *twin) collect(aside *clock.Aside) (all []measure.Histogram) {
	t.producer.Hand()
	t.consumer.Hand()
	for i := range t.stores {
		all = append(all, t.stores[i].collect(aside)...)
	}
	return all
}

// close ends the twin's goroutines. Messages in flight count as never answered.
func (t *twin) close(nowNs int64) {
	t.producer.freeze(nowNs)
	_ = t.system.Close(context.Background())
	t.consumer.Lock()
	t.consumer.frozen = true
	t.consumer.Unlock()
}

// twins hands over the twin's messages that are due before a time since the schedule's start; it
// reports false when the pacer was stopped instead. The twin never takes the pacer's turn to wake:
// it costs the measured load only the hand-over.
func (p *pacer) twins(untilNs int64) bool {
	t := p.twin
	for ; t.dueNs < untilNs; t.advance() {
		now := p.now()
		due := p.startNs + t.dueNs
		if due > now {
			now = p.sleepUntil(max(due, p.wokeNs+p.twinQuantumNs()))
		}
		if now >= p.halt.Load() {
			return false
		}
		t.send(p.waits.own(due, now), now, phaseOf(t.dueNs, p.replaced.Load()))
	}
	return true
}

// twinQuantumNs returns the quantum of the pacer's first producer, so that the twin's latency
// includes the wait that pacing adds.
func (p *pacer) twinQuantumNs() int64 {
	if len(p.producers) == 0 {
		return leastQuantumNs
	}
	return quantumNs(p.producers[0])
}

// runTwin is run for a pacer without producers: a closed loop needs no pacer, so the twin has its
// own.
func (p *pacer) runTwin() {
	alarm := p.setAlarm(p.clock)
	defer alarm.Close()
	for {
		end := p.replaced.Load().endNs
		if !p.twins(min(end, p.twin.dueNs+1)) || p.twin.dueNs >= end {
			return
		}
	}
}

// echo is a system that takes no time: one goroutine answers, another delivers, each
// woken through a channel.
type echo struct {
	sent     chan *system.Message
	received chan [twinBytes]byte
	receive  func(system.Received)
	stop     chan struct{}
	running  sync.WaitGroup
	once     sync.Once
}

func newEcho(receive func(system.Received)) *echo {
	return &echo{
		sent: make(chan *system.Message, twinRoom), received: make(chan [twinBytes]byte, twinRoom),
		receive: receive, stop: make(chan struct{}),
	}
}

// start begins to answer and to deliver, until Close.
func (e *echo) start() {
	e.running.Go(func() {
		for {
			select {
			case m := <-e.sent:
				var b [twinBytes]byte
				copy(b[:], m.Payload)
				m.Done(nil)
				select {
				case e.received <- b:
				case <-e.stop:
					return
				}
			case <-e.stop:
				return
			}
		}
	})
	e.running.Go(func() {
		for {
			select {
			case b := <-e.received:
				e.receive(system.Received{Payload: b[:]})
			case <-e.stop:
				return
			}
		}
	})
}

// Send never blocks: there is room for every message of the pool.
func (e *echo) Send(m *system.Message) { e.sent <- m }

func (e *echo) Close(context.Context) error {
	e.once.Do(func() { close(e.stop) })
	e.running.Wait()
	return nil
}
