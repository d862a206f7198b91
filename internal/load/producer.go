package load

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Places of the series in a producer's recorder.
const (
	atPublish = iota
	atSend
	atWaited
	atLessOwnLag
	atRequest
	atSendCall                  // closed loop only
	atPublishOf = atRequest + 1 // of the first class; classes are of open loops only
)

// maxErrors bounds the distinct error messages kept; the rest are counted
// together.
const maxErrors = 20

const otherErrors = "other errors"

// The usual latency is the median of the send latency, tracked by steps: a message above it adds a
// part, a message below it subtracts that part (H. Robbins and S. Monro, "A Stochastic
// Approximation Method", 1951). Pacers learn of it after every toldEvery messages.
const (
	usualStep = 1024
	toldEvery = 32
)

// follow returns the usual latency, updated with another message.
func follow(usualNs, ns int64) int64 {
	step := usualNs/usualStep + 1
	switch {
	case usualNs == 0:
		return ns
	case ns < usualNs:
		return max(usualNs-step, ns)
	}
	return min(usualNs+step, ns)
}

// producer is one producer: its next message, and the outcome of every message so far.
type producer struct {
	clock  clock.Clock
	system system.Producer
	// gatherer is the system's producer if it can keep messages back, else nil; gathering is the
	// pacer's.
	gatherer  system.Gatherer
	gathering bool
	topic     int
	topics    int // of the run
	index     int // among all producers of the run
	// place is that among the peers: the producers of its class, or all where there are none.
	place, peers int64
	base         uint32
	pool         pool
	payload      payload
	class        int // of all messages, from 1; 0: there are no classes
	chooser      *chooser
	run          uint32
	startNs      int64   // of the schedule
	nextSeq      []int64 // by partition; the pacer's
	// phase becomes that of the measured window with its first message, and measuredFrom
	// is the sequence number of each partition's first measured one; the pacer's.
	phase        measure.Phase
	measuredFrom []int64
	window       *window
	growth       growth   // of its topic
	used         *reached // by acknowledged messages, of its topic

	handed  atomic.Int64
	answers atomic.Int64
	usualNs atomic.Int64 // the usual send latency, as the pacer knows it

	*measure.Recorder // guards what follows
	sent              *measure.Sent
	flights           []*flight // all created flights
	transactions      measure.Transactions
	acked, failed     [2]int64 // by phase
	usual             int64    // the usual send latency, in nanoseconds
	ackedBytes        int64    // payload of acked
	// Acknowledged within the window, whenever they were due.
	ackedWithin, bytesWithin int64
	errors                   map[string]int64
	frozen                   bool // answers no longer count

	firstAckNs, lastAckNs int64 // since they were last read; 0: none
}

func (p *producer) fresh() *flight {
	f := p.unbound()
	f.Bind(f)
	return f
}

// unbound is a message without a receiver of its answers.
func (p *producer) unbound() *flight {
	f := &flight{producer: p, buffer: make([]byte, p.payload.most)}
	p.Lock()
	p.flights = append(p.flights, f)
	p.Unlock()
	return f
}

// number returns the number of a message among those of all peers, from its number at the producer.
func (p *producer) number(ordinal int64) int64 { return ordinal*p.peers + p.place }

// prepare does all work on a message that can be done before its due time. ordinal is its number at
// the producer.
func (p *producer) prepare(f *flight, ordinal, dueNs int64, phase measure.Phase) {
	if phase == measure.Measured && p.phase != phase {
		p.phase = phase
		copy(p.measuredFrom, p.nextSeq)
	}
	f.Key, f.Partition = p.chooser.choose(f.key[:], p.number(ordinal), p.index, ordinal,
		dueNs-p.startNs, p.growth.partitions(dueNs, p.window))
	f.seq = p.nextSeq[f.Partition]
	f.lane, f.dueNs, f.phase = f.Partition, dueNs, phase
	lane := p.base + uint32(f.Partition)
	f.transaction = 0
	stamp{run: p.run, lane: lane, seq: f.seq, dueNs: dueNs}.put(f.buffer)
	f.Payload, f.filled = p.payload.fill(f.buffer, lane, f.seq, f.filled)
}

// send hands over a prepared message with its own lag.
func (p *producer) send(f *flight, nowNs, ownNs int64) {
	p.nextSeq[f.Partition]++
	f.ownNs = ownNs
	p.begin(f, nowNs)
	p.system.Send(&f.Message)
}

// begin notes that a message is about to be handed over.
func (p *producer) begin(f *flight, nowNs int64) {
	f.handedNs = nowNs
	f.open.Store(true)
	p.handed.Add(1)
}

// answered records the system's answer to a message.
func (p *producer) answered(f *flight, nowNs int64, err error) {
	p.Lock()
	switch {
	case p.frozen:
		p.Add(atWaited, f.phase, nowNs-f.dueNs)
	case err == nil:
		p.Add(atPublish, f.phase, nowNs-f.dueNs)
		if p.class > 0 {
			p.Add(atPublishOf+p.class-1, f.phase, nowNs-f.dueNs)
		}
		p.Add(atSend, f.phase, nowNs-f.handedNs)
		p.Add(atLessOwnLag, f.phase, nowNs-f.dueNs-f.ownNs)
		p.usual = follow(p.usual, nowNs-f.handedNs)
		if p.acked[f.phase]%toldEvery == 0 {
			p.usualNs.Store(p.usual)
		}
		p.sent.Acked(int(f.lane), f.seq, f.dueNs, nowNs)
		p.used.note(int(f.lane))
		if p.firstAckNs == 0 {
			p.firstAckNs, p.lastAckNs = nowNs, nowNs
		}
		p.lastAckNs = max(p.lastAckNs, nowNs)
		p.acked[f.phase]++
		bytes := int64(len(f.Payload))
		p.ackedBytes += bytes
		if p.window.holds(nowNs) {
			p.ackedWithin++
			p.bytesWithin += bytes
		}
	default:
		// Messages that are neither acked nor failed stay unknown.
		if errors.Is(err, system.ErrUnknown) {
			p.Add(atWaited, f.phase, nowNs-f.dueNs)
		} else {
			p.failed[f.phase]++
			p.sent.Refused(int(f.lane), f.seq)
			p.transactions.Aborted(f.transaction)
		}
		p.noteError(err)
	}
	p.Unlock()
	p.answers.Add(1)
}

// freeze ends the counting of answers. A message without an answer has been waited for until now.
func (p *producer) freeze(nowNs int64) {
	p.Lock()
	defer p.Unlock()
	p.frozen = true
	for _, f := range p.flights {
		if f.open.CompareAndSwap(true, false) {
			p.Add(atWaited, f.phase, nowNs-f.dueNs)
		}
	}
}

// requested records how long the servers took for a request, if it was answered within the window.
func (p *producer) requested(took time.Duration) {
	p.Lock()
	defer p.Unlock()
	if !p.frozen && p.window.holds(p.clock.Now()) {
		p.Add(atRequest, measure.Measured, int64(took))
	}
}

func (p *producer) noteError(err error) {
	text := BoundText(err.Error())
	if _, known := p.errors[text]; !known && len(p.errors) >= maxErrors {
		text = otherErrors
	}
	p.errors[text]++
}

// inFlight returns the number of messages handed over and not answered.
func (p *producer) inFlight() int64 {
	// In this order, so that an answer in between cannot make it negative.
	answers := p.answers.Load()
	return p.handed.Load() - answers
}

// producerSeries are the series of a producer's recorder, in the order of their
// places.
func producerSeries(w *workload.Workload) []result.Series {
	series := []result.Series{result.Publish, result.Send, result.Waited, result.LessOwnLag,
		result.Request}
	if w.Load.Closed != nil {
		series = append(series, result.SendCall)
	}
	return append(series, ClassSeries(w, result.Publish)...)
}

// ClassSeries are the parts of a series that belong to the workload's classes.
func ClassSeries(w *workload.Workload, of result.Series) (all []result.Series) {
	for _, c := range w.Classes {
		all = append(all, result.OfClass(of, c.Name))
	}
	return all
}

// classesOf returns the class of each producer of a topic; nil: there are no classes.
func classesOf(w *workload.Workload, topic int) []uint8 {
	if len(w.Classes) == 0 {
		return nil
	}
	all := make([]uint8, w.Producers)
	for i := range all {
		all[i] = uint8(w.ClassOf(topic, i))
	}
	return all
}
