package load

import (
	"math"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Schedule says when each message is due: a pure function of the rate curve,
// the seed and the message's sequence number. Times are nanoseconds since the
// schedule's start. It is immutable.
type Schedule struct {
	stretches []stretch
	endNs     int64
	warmupNs  int64
	expected  float64 // messages due before the end when evenly spaced
	poisson   bool
	burst     int64 // messages due at the same moment
	seed      uint64
	// sinceNs is the time up to which the schedule equals the one that it replaced.
	sinceNs int64
}

// stretch is a part of the curve on which the rate is linear. On a stretch at a rate of 0, no
// message is due.
type stretch struct {
	startNs, lengthNs int64
	from, slope       float64 // messages per second, and its change per second
	before            float64 // messages due before the stretch
	messages          float64 // messages due within it
}

// NewSchedule returns the schedule of a load with a warm-up in front, offered
// at the load's opening rate.
func NewSchedule(l workload.Load, warmup time.Duration, seed uint64) *Schedule {
	s := &Schedule{poisson: l.Arrivals == workload.ArrivalsPoisson, burst: int64(max(l.Burst, 1)),
		seed: seed, warmupNs: int64(warmup)}
	if len(l.Segments) > 0 && warmup > 0 {
		open := l.Segments[0].From
		s.add(open, open, warmup)
	}
	for _, seg := range l.Segments {
		s.add(seg.From, seg.To, seg.For)
	}
	return s
}

func (s *Schedule) add(from, to float64, length time.Duration) {
	next := stretch{
		startNs: s.endNs, lengthNs: int64(length),
		from: from, slope: (to - from) / length.Seconds(),
		before: s.expected, messages: (from + to) / 2 * length.Seconds(),
	}
	s.stretches = append(s.stretches, next)
	s.expected += next.messages
	s.endNs += int64(length)
}

// EndNs returns the end of the schedule.
func (s *Schedule) EndNs() int64 { return s.endNs }

// WarmupNs returns the beginning of the measured part.
func (s *Schedule) WarmupNs() int64 { return s.warmupNs }

// dueAt returns the time at which the curve has produced n messages: the inverse of the integral
// of the rate. at is a hint: the stretch of the last call.
func (s *Schedule) dueAt(n float64, at *int) int64 {
	for *at < len(s.stretches)-1 && n >= s.stretches[*at].before+s.stretches[*at].messages {
		*at++
	}
	st := &s.stretches[*at]
	n -= st.before
	if n <= 0 {
		return st.startNs
	}
	// The root of slope/2 t^2 + from t = n, in the form that stays exact when the slope is 0.
	root := st.from*st.from + 2*st.slope*n
	seconds := 2 * n / (st.from + math.Sqrt(max(root, 0)))
	if ns := int64(math.Round(seconds * 1e9)); ns < st.lengthNs {
		return st.startNs + ns
	}
	return s.afterStretch(*at)
}

// afterStretch returns the time at which the curve goes on after a stretch: the start of the next
// one on which messages are due, or the end.
func (s *Schedule) afterStretch(at int) int64 {
	for _, next := range s.stretches[at+1:] {
		if next.messages > 0 {
			return next.startNs
		}
	}
	return s.endNs
}

// Cursor walks every stride-th message of a schedule. It has one owner.
type Cursor struct {
	s       *Schedule
	seq     int64 // the next one to return
	stride  int64
	stretch int
	arrived float64 // Poisson: unit-rate arrival time of burst drawn-1
	drawn   int64   // Poisson: how many gaps have been drawn
}

// Cursor returns a walk over messages first, first+stride, … For any stride,
// the walks with first 0 to stride-1 together visit each message once.
func (s *Schedule) Cursor(first, stride int64) *Cursor {
	return &Cursor{s: s, seq: first, stride: stride}
}

// skip leaves out messages that other walks visit. It goes back by less than it went on with the
// last message.
func (c *Cursor) skip(messages int64) { c.seq += messages }

// follow changes to a schedule that agrees on every message visited so far.
func (c *Cursor) follow(s *Schedule) { c.s = s }

// Next returns the next message's sequence number and due time; ok is false
// when the schedule has no more.
func (c *Cursor) Next() (seq, dueNs int64, ok bool) {
	if len(c.s.stretches) == 0 {
		return 0, 0, false
	}
	seq = c.seq
	burst := seq
	if c.s.burst > 1 { // a division takes 5 ns
		burst /= c.s.burst
	}
	n := float64(burst * c.s.burst)
	if c.s.poisson {
		n = float64(c.s.burst) * c.arrival(burst)
	}
	if n >= c.s.expected {
		return 0, 0, false
	}
	dueNs = c.s.dueAt(n, &c.stretch)
	if dueNs >= c.s.endNs {
		return 0, 0, false
	}
	c.seq += c.stride
	return seq, dueNs, true
}

// leap skips the messages that are due before a time, and returns their number. It does not visit
// each, because a fleet may offer a hundred million a second. A Poisson process needs every gap,
// so there it skips none.
func (c *Cursor) leap(untilNs int64) (n int64) {
	if c.s.poisson {
		return 0
	}
	for step := int64(1) << 40; step > 0; step /= 2 {
		look := *c
		look.skip((step - 1) * c.stride)
		if _, dueNs, more := look.Next(); more && dueNs < untilNs {
			*c = look
			n += step
		}
	}
	return n
}

// arrival returns the time of a burst in a Poisson process of rate 1. Every walk draws all gaps,
// so that all walks agree.
func (c *Cursor) arrival(burst int64) float64 {
	for ; c.drawn <= burst; c.drawn++ {
		c.arrived += exponential(c.s.seed, uint64(c.drawn))
	}
	return c.arrived
}

// exponential returns the i-th gap of a seed, with mean 1.
func exponential(seed, i uint64) float64 {
	// 53 random bits, never 0: the logarithm is finite.
	u := (float64(mix(seed^mix(i))>>11) + 0.5) / (1 << 53)
	return -math.Log(u)
}

// mix spreads its argument over 64 bits (the finalizer of SplitMix64, Steele,
// Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
