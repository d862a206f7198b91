package skew_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/skew"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// manual is a clock whose time a test sets.
type manual struct {
	clock.Clock
	now int64
}

func (m *manual) Now() int64           { return m.now }
func (m *manual) Name() string         { return "by hand" }
func (m *manual) ThreadStates() string { return "" }

// world has a worker and a coordinator whose clocks differ by a known function, and a
// network between them. Its time is that of the worker's own clock.
type world struct {
	*rand.Rand
	own   *manual
	clock *skew.Clock

	beganNs, offsetNs int64
	drift             float64 // nanoseconds a nanosecond
	swing, periodNs   float64 // of the drift's wander: the greatest that is assumed
	phase             float64
	jumpNs            float64 // the drift jumps twice in this period
	stepNs, stepAtNs  int64

	thereNs, backNs float64 // the least delays
	jitter          float64 // the mean of what is added, as a share of them
	heavy           bool    // jitter has a heavy tail
	lost            float64
	burstEndNs      int64 // congestion until then
	burstTo         [2]float64
}

const second = int64(time.Second)

// newWorld plants offsets of ±50 ms, drifts of ±100 ppm that wander as fast as is assumed,
// and delays that differ by direction.
func newWorld(seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 21))
	w := &world{
		Rand: r, beganNs: r.Int64N(1e15), offsetNs: r.Int64N(100e6) - 50e6,
		drift: (2*r.Float64() - 1) * 100e-6, periodNs: (10 + 190*r.Float64()) * 1e9,
		phase: 2 * math.Pi * r.Float64(), jumpNs: (2 + 20*r.Float64()) * 1e9,
		thereNs: math.Exp(math.Log(1e4) + r.Float64()*math.Log(300)),
		backNs:  math.Exp(math.Log(1e4) + r.Float64()*math.Log(300)),
		jitter:  0.02 + r.Float64(), heavy: r.IntN(3) == 0, lost: 0.3 * r.Float64(),
	}
	w.swing = skew.WanderPPMPerSecond / 1e6 / 1e9 * w.periodNs / (2 * math.Pi)
	w.own = &manual{now: w.beganNs}
	w.clock = skew.New(w.own)
	return w
}

// truth is the coordinator's clock less the worker's own.
func (w *world) truth(ownNs int64) float64 {
	x := float64(ownNs - w.beganNs)
	turn := 2 * math.Pi / w.periodNs
	offset := float64(w.offsetNs) + w.drift*x +
		w.swing/turn*(math.Cos(w.phase)-math.Cos(turn*x+w.phase))
	within := math.Mod(x, w.jumpNs)
	offset += skew.JumpPPM / 1e6 / 2 * min(within, w.jumpNs-within)
	if w.stepNs != 0 && ownNs >= w.stepAtNs {
		offset += float64(w.stepNs)
	}
	return offset
}

// coordinator reads the coordinator's clock.
func (w *world) coordinator(ownNs int64) int64 {
	return ownNs + int64(math.Floor(w.truth(ownNs)))
}

// delay is the time of a message in a direction.
func (w *world) delay(least float64, direction int) int64 {
	added := w.ExpFloat64()
	if w.heavy {
		added = math.Pow(1-w.Float64(), -1/1.5) - 1
	}
	ns := least * (1 + w.jitter*added)
	if w.own.now < w.burstEndNs {
		ns += w.burstTo[direction] * w.Float64()
	}
	return int64(ns) + 1
}

// exchange makes an exchange that begins now. It returns false when it was lost.
func (w *world) exchange() (skew.Exchange, bool) {
	if w.own.now >= w.burstEndNs && w.IntN(80) == 0 {
		w.burstEndNs = w.own.now + w.Int64N(2*second)
		w.burstTo = [2]float64{20e6 * w.Float64(), 20e6 * w.Float64()}
	}
	sent := w.own.now
	received := sent + w.delay(w.thereNs, 0)
	answered := received + w.Int64N(20_000)
	returned := answered + w.delay(w.backNs, 1)
	w.own.now = returned
	if w.Float64() < w.lost {
		return skew.Exchange{}, false
	}
	return skew.Exchange{
		SentNs: sent, ReceivedNs: w.coordinator(received),
		AnsweredNs: w.coordinator(answered), ReturnedNs: returned,
	}, true
}

// run exchanges timestamps at the clock's pace until a time after the beginning, and calls
// look a few times in between.
func (w *world) run(t *testing.T, untilNs int64, look func(*skew.Step, skew.Exchange)) {
	t.Helper()
	for w.own.now < w.beganNs+untilNs {
		pace := int64(w.clock.Pace())
		next := w.own.now + pace*8/10 + w.Int64N(pace*4/10)
		x, ok := w.exchange()
		if !ok {
			x = skew.Exchange{}
		}
		var step *skew.Step
		if ok {
			var err error
			if step, err = w.clock.Add(x); err != nil {
				t.Fatalf("%+v: %v", x, err)
			}
		}
		look(step, x)
		for w.own.now < next {
			w.own.now = min(next, w.own.now+1+w.Int64N(100e6))
			look(nil, skew.Exchange{})
		}
	}
}

// wrong is the disciplined clock less the coordinator's.
func (w *world) wrong() float64 {
	return float64(w.clock.Now()-w.own.now) - w.truth(w.own.now)
}
