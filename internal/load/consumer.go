package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
)

var consumerSeries = []result.Series{result.EndToEnd}

// consumer is one consumer: it times and accounts for what arrives.
type consumer struct {
	clock        clock.Clock
	system       system.Consumer
	topic        system.Topic
	subscription int
	index        int  // among the consumers of the subscription
	replay       bool // reads a backlog from the beginning, beside the workload's own subscriptions
	run          uint32
	base, lanes  uint32 // the lanes of its topic
	window       *window
	payload      payload
	proof        atomic.Pointer[proof] // nil: nothing is to be proved any more

	*measure.Recorder // guards what follows
	arrived           *measure.Arrived
	foreign, corrupt  int64
	byPhase           [2]int64
	within            int64 // the window, whenever they were due
	fresh             int64 // without copies
	frozen            bool  // what comes no longer counts
	firstNs           int64 // when the first message came, on the clock; 0: none yet
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
		return
	}
	intact := c.payload.intact(b, s.lane, s.seq)
	phase := measure.Warmup
	if s.dueNs >= c.window.fromNs.Load() {
		phase = measure.Measured
	}
	c.Lock()
	if c.frozen {
		c.Unlock()
		return
	}
	if !c.replay {
		// A replayed message has waited, which says nothing of those who keep up.
		c.Add(0, phase, now-s.dueNs)
	}
	if c.firstNs == 0 {
		c.firstNs = now
	}
	if c.arrived.Received(int(s.lane-c.base), s.seq) {
		c.fresh++
	}
	c.byPhase[phase]++
	if c.window.holds(now) {
		c.within++
	}
	if !intact {
		c.corrupt++
	}
	c.Unlock()
}

// noteStranger takes what is no message of the load.
func (c *consumer) noteStranger(s stamp, state int) {
	if state == stampProof {
		// One that comes again later proves nothing and counts for nothing.
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
