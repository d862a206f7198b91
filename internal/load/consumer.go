package load

import (
	"sync"
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Places of the series in a consumer's recorder.
const (
	atEndToEnd = iota
	atCopies
	atRedelivery
	atCatchUp
	atEndToEndOf // of the first class
)

// consumerSeries are the series of a consumer's recorder. Memory for those without a use is small.
func consumerSeries(w *workload.Workload) []result.Series {
	all := []result.Series{result.EndToEnd, result.Copies, result.Redelivered, result.CatchUp}
	if !w.Leaves() && len(w.Classes) == 0 {
		return all[:atCatchUp]
	}
	return append(all, ClassSeries(w, result.EndToEnd)...)
}

// subscription holds the consumers of one subscription of one topic.
type subscription struct {
	order     *measure.Order
	consumers []*consumer
	// late is held while a message that came after a later one of its lane is searched for at the
	// other consumers and noted, so that two copies find each other.
	late  sync.Mutex
	back  *givenBack // nil: no consumer gives messages back
	gaps  gaps       // nil: the number of consumers is constant
	found *reached
	// behind: the subscription had no consumers, and has not caught up.
	behind atomic.Bool
}

// consumer is one consumer: it times and accounts for what arrives.
type consumer struct {
	clock        clock.Clock
	system       system.Consumer
	topic        system.Topic
	topicIndex   int
	subscription int
	shared       *subscription
	index        int  // among the consumers of the subscription
	later        bool // reads a backlog, or everything when the load is over
	replay       bool // reads a backlog from the beginning, beside the workload's own subscriptions
	run          uint32
	base, lanes  uint32 // the lanes of its topic
	growth       growth // of its topic
	keyed        bool
	window       *window
	payloads     []payload             // of all messages, or by class
	classes      []uint8               // of the topic's producers; nil: there are none
	proof        atomic.Pointer[proof] // nil: nothing has to be proved any more
	handler      *handler              // nil: handling takes no time

	*measure.Recorder // guards what follows
	arrived           *measure.Arrived
	foreign, corrupt  int64
	byPhase           [2]int64
	within            int64 // first arrivals in the window, whenever they were due
	fresh             int64 // first arrivals
	misplaced         int64 // came from another partition, or with another key
	seen              *measure.Seen
	lastNs            int64 // arrival of the last message, on the clock; 0: none yet
	frozen            bool  // arrivals no longer count
	firstNs           int64 // arrival of the first message, on the clock; 0: none yet

	// messages given back, delivered again, those of the measured window in all, and copies
	givenBack, redelivered, handled, copies int64
}

// receive takes one message from the system.
func (c *consumer) receive(m system.Received) {
	now := c.clock.Now()
	b := m.Payload
	s, state := readStamp(b, c.run)
	if state == stampGood && s.lane-c.base >= c.lanes {
		state = stampForeign
	}
	if state != stampGood {
		c.noteStranger(s, state)
		c.handler.spare()
		return
	}
	sound := soundness{intact: c.payloadOf(s.lane).intact(b, s.lane, s.seq),
		placed: c.placed(m, &s)}
	lane := int(s.lane - c.base)
	c.Lock()
	how := measure.Arrival{Late: !c.frozen && c.shared.order.Late(lane, s.seq), AtNs: now}
	if how.Late && len(c.shared.consumers) > 1 && !c.arrived.Has(lane, s.seq) {
		c.Unlock()
		c.receiveLate(s, now, sound)
	} else {
		c.take(s, now, how, sound)
		c.Unlock()
	}
	c.handler.handle(lane, s.seq)
}

// soundness says which parts of a received message are unchanged.
type soundness struct {
	intact bool // the payload
	placed bool // key and partition
}

// classOf returns the class of a lane's messages, where there are classes.
func (c *consumer) classOf(lane uint32) int { return int(c.classes[(lane-c.base)/c.growth.most]) }

// payloadOf returns the payload of a lane's messages.
func (c *consumer) payloadOf(lane uint32) *payload {
	if c.classes == nil {
		return &c.payloads[0]
	}
	return &c.payloads[c.classOf(lane)]
}

// receiveLate handles a message that came after a later one of its lane: out of order, or a copy.
// It checks the other consumers of the subscription one by one for the message, while none of them
// can note another late message.
func (c *consumer) receiveLate(s stamp, nowNs int64, sound soundness) {
	how := measure.Arrival{Late: true, AtNs: nowNs}
	c.shared.late.Lock()
	defer c.shared.late.Unlock()
	for _, other := range c.shared.consumers {
		if other == c {
			continue
		}
		other.Lock()
		how.Elsewhere = how.Elsewhere || other.arrived.Has(int(s.lane-c.base), s.seq)
		other.Unlock()
	}
	c.Lock()
	c.take(s, nowNs, how, sound)
	c.Unlock()
}

// take notes a message of the load. The caller holds the lock.
func (c *consumer) take(s stamp, nowNs int64, how measure.Arrival, sound soundness) {
	if c.frozen {
		return
	}
	phase := measure.Warmup
	if s.dueNs >= c.window.fromNs.Load() {
		phase = measure.Measured
	}
	lane := int(s.lane - c.base)
	if phase == measure.Measured {
		c.handled++
	}
	partition := lane % int(c.growth.most)
	c.shared.gaps.arrived(partition, nowNs)
	c.shared.found.note(partition)
	if sinceNs, again := c.shared.back.again(lane, s.seq); again {
		c.redelivered++
		c.Add(atRedelivery, phase, nowNs-sinceNs)
		c.lastNs = nowNs
		return
	}
	first := c.arrived.Received(lane, s.seq, how)
	series := atCopies
	if first {
		if series = atEndToEnd; c.shared.behind.Load() {
			series = atCatchUp
		}
		c.fresh++
		c.seen.Received(lane/int(c.growth.most), s.transaction)
	} else {
		c.copies++
	}
	if !c.replay {
		// A replayed message has waited in the backlog, so its latency says nothing about
		// consumers that keep up.
		c.Add(series, phase, nowNs-s.dueNs)
		if series == atEndToEnd && c.classes != nil {
			c.Add(atEndToEndOf+c.classOf(s.lane), phase, nowNs-s.dueNs)
		}
	}
	if c.firstNs == 0 {
		c.firstNs = nowNs
	}
	c.lastNs = nowNs
	c.byPhase[phase]++
	if first && c.window.holds(nowNs) {
		c.within++
	}
	if !sound.intact {
		c.corrupt++
	}
	if !sound.placed {
		c.misplaced++
	}
}

// placed reports whether a message came from the partition that it was sent to, and with a key of
// that partition, as far as the system reports them.
func (c *consumer) placed(m system.Received, s *stamp) bool {
	partition := (s.lane - c.base) % c.growth.most
	if m.Partition >= 0 && uint32(m.Partition) != partition {
		return false
	}
	return !c.keyed || m.Key == nil ||
		keyPartition(m.Key, c.growth.partitions(s.dueNs, c.window)) == int64(partition)
}

// noteStranger handles a payload that is not a message of the load.
func (c *consumer) noteStranger(s stamp, state int) {
	if state == stampProof {
		// A later copy of a proof proves nothing and does not count.
		if p := c.proof.Load(); p != nil {
			p.arrived(s.lane)
		}
		return
	}
	c.Lock()
	defer c.Unlock()
	switch {
	case c.frozen:
	case state == stampCorrupt:
		c.corrupt++
	default:
		c.foreign++
	}
}
