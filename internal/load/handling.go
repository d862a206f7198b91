package load

import (
	"sync"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// handler simulates the work of a consumer on each message before the acknowledgement. The
// goroutine that calls Receive owns it. A nil handler does nothing.
type handler struct {
	consumer *consumer
	time     workload.HandlingTime
	fails    float64
	seed     uint64
	handled  uint64          // messages so far
	closing  <-chan struct{} // closed when the clients close: handling ends
	timer    *time.Timer
	lateNs   int64 // by which the waits so far ended late, and later ones are shorter

	now sequence // the message whose Receive returned last
	bad bool     // it failed
}

func newHandler(c *consumer, w *workload.Workload, closing <-chan struct{}) *handler {
	h := &handler{
		consumer: c, time: w.Handling.Time, fails: w.Handling.Fails, closing: closing,
		seed: mix(w.Seed ^ 0x68616e646c65 ^ uint64(place{c.topicIndex, c.subscription}.
			number(w)+c.index)<<24),
		timer: time.NewTimer(0),
	}
	<-h.timer.C
	return h
}

// spare notes that the message received last was not handled.
func (h *handler) spare() {
	if h != nil {
		h.bad = false
	}
}

// handle waits for the handling time of one message, and decides whether it fails.
func (h *handler) handle(lane int, seq int64) {
	if h == nil {
		return
	}
	h.handled++
	draw := mix(h.seed ^ h.handled)
	h.now, h.bad = sequence{lane, seq}, float64(mix(draw)>>11)/(1<<53) < h.fails
	h.wait(h.time.At(draw))
	select {
	case <-h.closing:
		h.bad = false
	default:
	}
}

// maxMadeUp bounds the lateness that later waits make up for, so that they do not make up for a
// pause of the machine.
const maxMadeUp = 2 * time.Millisecond

// wait lasts for the length less the lateness of the waits before. Go's timers ring up to a
// millisecond late, which would make a consumer that is busy all the time slower than asked.
func (h *handler) wait(length time.Duration) {
	if length <= 0 {
		return
	}
	began := h.consumer.clock.Now()
	if rest := length - time.Duration(h.lateNs); rest > 0 {
		h.timer.Reset(rest)
		select {
		case <-h.timer.C:
		case <-h.closing:
			h.timer.Stop()
		}
	}
	h.lateNs = min(h.lateNs+h.consumer.clock.Now()-began-int64(length), int64(maxMadeUp))
}

// giveBack returns the function that decides whether the message received last is given back; nil:
// none ever is.
func (h *handler) giveBack() func() bool {
	if h == nil || h.fails == 0 {
		return nil
	}
	return func() bool {
		if !h.bad {
			return false
		}
		c := h.consumer
		c.Lock()
		defer c.Unlock()
		if c.frozen || !c.shared.back.add(h.now, c.clock.Now()) {
			return false
		}
		c.givenBack++
		return true
	}
}

// sequence names a message by its lane and its sequence number.
type sequence struct {
	lane int
	seq  int64
}

// maxGivenBack bounds the messages of a subscription that wait for their redelivery. At the bound
// every handling succeeds.
const maxGivenBack = 1_000_000

// givenBack holds the messages of a subscription that were given back and not yet redelivered,
// with the times on the clock. A nil givenBack is empty.
type givenBack struct {
	sync.Mutex
	at map[sequence]int64
}

// add notes a message, and reports false at the bound.
func (g *givenBack) add(s sequence, nowNs int64) bool {
	g.Lock()
	defer g.Unlock()
	if len(g.at) >= maxGivenBack {
		return false
	}
	g.at[s] = nowNs
	return true
}

// again removes a message and returns the time of its return; ok is false if it was not given
// back.
func (g *givenBack) again(lane int, seq int64) (sinceNs int64, ok bool) {
	if g == nil {
		return 0, false
	}
	g.Lock()
	defer g.Unlock()
	s := sequence{lane, seq}
	if sinceNs, ok = g.at[s]; ok {
		delete(g.at, s)
	}
	return sinceNs, ok
}
