package load

import (
	"errors"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Places of the series in a producer's recorder.
const (
	atPublish = iota
	atSend
	atSendCall // closed loop only
)

// maxErrors bounds the distinct error messages kept; the rest are counted
// together.
const maxErrors = 20

const otherErrors = "other errors"

// usualOver is the number of answers over which the usual latency is a mean.
const usualOver = 64

// producer is one producer: what it sends next and what became of it all.
type producer struct {
	clock   clock.Clock
	system  system.Producer
	index   int // among all producers of the run
	base    uint32
	pool    pool
	payload payload
	chooser *chooser
	run     uint32
	nextSeq []int64 // by partition; the pacer's
	window  *window

	handed  atomic.Int64
	answers atomic.Int64
	usualNs atomic.Int64 // mean send latency of the last hundred answers or so; written under the lock

	*measure.Recorder // guards what follows
	sent              *measure.Sent
	acked, failed     [2]int64 // by phase
	ackedWithin       int64    // the window, whenever they were due
	errors            map[string]int64
	frozen            bool // answers no longer count: they came too late

	firstAckNs, lastAckNs int64 // since AckSpan was called last; 0: none
}

func (p *producer) fresh() *flight {
	f := p.unbound()
	f.Bind(f)
	return f
}

// unbound is a message whose answers nobody takes yet.
func (p *producer) unbound() *flight {
	return &flight{producer: p, buffer: make([]byte, p.payload.size)}
}

// prepare makes the message ready for its due time: all that can be done
// before.
func (p *producer) prepare(f *flight, seq, ordinal, dueNs int64, phase measure.Phase) {
	// Producers begin at different partitions, so that they do not go round
	// them in step.
	f.Key, f.Partition = p.chooser.choose(f.key[:], seq, ordinal+int64(p.index))
	f.seq = p.nextSeq[f.Partition]
	f.lane, f.dueNs, f.phase = f.Partition, dueNs, phase
	lane := p.base + uint32(f.Partition)
	stamp{run: p.run, lane: lane, seq: f.seq, dueNs: dueNs}.put(f.buffer)
	p.payload.fill(f.buffer, lane, f.seq)
	f.Payload = f.buffer
}

// send hands a prepared message over.
func (p *producer) send(f *flight, nowNs int64) {
	p.nextSeq[f.Partition]++
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
	case err == nil:
		p.Add(atPublish, f.phase, nowNs-f.dueNs)
		p.Add(atSend, f.phase, nowNs-f.handedNs)
		usual := p.usualNs.Load()
		p.usualNs.Store(usual + (nowNs-f.handedNs-usual)/usualOver)
		p.sent.Acked(int(f.lane), f.seq, f.dueNs, nowNs)
		if p.firstAckNs == 0 {
			p.firstAckNs, p.lastAckNs = nowNs, nowNs
		}
		p.lastAckNs = max(p.lastAckNs, nowNs)
		p.acked[f.phase]++
		if p.window.holds(nowNs) {
			p.ackedWithin++
		}
	default:
		// What is neither acked nor failed stays unknown.
		if !errors.Is(err, system.ErrUnknown) {
			p.failed[f.phase]++
		}
		p.noteError(err)
	}
	p.Unlock()
	p.answers.Add(1)
}

func (p *producer) noteError(err error) {
	text := err.Error()
	if _, known := p.errors[text]; !known && len(p.errors) >= maxErrors {
		text = otherErrors
	}
	p.errors[text]++
}

// inFlight is the number of messages handed over and not answered.
func (p *producer) inFlight() int64 {
	// In this order, so that an answer in between cannot make it negative.
	answers := p.answers.Load()
	return p.handed.Load() - answers
}

// producerSeries are the series of a producer's recorder, in the order of their
// places.
func producerSeries(l workload.Load) []result.Series {
	if l.Closed != nil {
		return []result.Series{result.Publish, result.Send, result.SendCall}
	}
	return []result.Series{result.Publish, result.Send}
}
