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
	subscription int
	run          uint32
	base, lanes  uint32       // the lanes of its topic
	measuredNs   atomic.Int64 // due times from here on are of the measured window
	payload      payload
	proof        atomic.Pointer[proof] // nil: nothing is to be proved any more

	*measure.Recorder // guards what follows
	arrived           *measure.Arrived
	foreign, corrupt  int64
	byPhase           [2]int64
	fresh             int64 // without copies
}

// receive takes one message from the system.
func (c *consumer) receive(b []byte) {
	now := c.clock.Now()
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
	if s.dueNs >= c.measuredNs.Load() {
		phase = measure.Measured
	}
	c.Lock()
	c.Add(0, phase, now-s.dueNs)
	if c.arrived.Received(int(s.lane-c.base), s.seq) {
		c.fresh++
	}
	c.byPhase[phase]++
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
	if state == stampCorrupt {
		c.corrupt++
	} else {
		c.foreign++
	}
}
