package sim

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/system"
)

// truth draws what the settings promise: every draw is a pure function of the
// seed and the number of the message.
type truth struct {
	seed      uint64
	kind      string
	timeNs    float64
	sigma     float64
	slowNs    float64
	slowShare float64
	turnNs    float64 // between two messages' turns; 0: no limit
	leastNs   int64   // no service time is shorter
	delayNs   int64
	everyNs   int64
	stallNs   int64
}

func newTruth(s system.Settings) truth {
	t := truth{
		seed: uint64(s.Count("seed")), kind: s.Text("service"),
		timeNs: float64(s.Duration("service_time")), sigma: s.Number("service_sigma"),
		slowNs: float64(s.Duration("service_slow")), slowShare: s.Number("service_slow_share"),
		delayNs: int64(s.Duration("delivery_delay")),
		everyNs: int64(s.Duration("stall_every")), stallNs: int64(s.Duration("stall_for")),
	}
	if rate := s.Rate("capacity"); rate > 0 {
		t.turnNs = 1e9 / rate
	}
	switch t.kind {
	case "constant":
		t.leastNs = int64(t.timeNs)
	case "bimodal":
		t.leastNs = int64(min(t.timeNs, t.slowNs))
	}
	return t
}

// serviceNs is the service time of the n-th message.
func (t *truth) serviceNs(n int64) int64 {
	switch t.kind {
	case "exponential":
		return int64(-t.timeNs * math.Log(t.uniform(n, 0)))
	case "lognormal":
		// Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
		normal := math.Sqrt(-2*math.Log(t.uniform(n, 0))) * math.Cos(2*math.Pi*t.uniform(n, 1))
		return int64(t.timeNs * math.Exp(t.sigma*normal))
	case "bimodal":
		if t.uniform(n, 0) < t.slowShare {
			return int64(t.slowNs)
		}
	}
	return int64(t.timeNs)
}

// uniform is the k-th random number between 0 and 1 of the n-th message,
// neither end included.
func (t *truth) uniform(n int64, k uint64) float64 {
	return (float64(mix(t.seed^mix(uint64(n)<<1|k))>>11) + 0.5) / (1 << 53)
}

// afterStall returns ns, or the end of the stall that it falls into. Both are
// times since the line began.
func (t *truth) afterStall(ns int64) int64 {
	if t.everyNs <= 0 || t.stallNs <= 0 {
		return ns
	}
	if in := ns % t.everyNs; in >= t.everyNs-t.stallNs {
		return ns - in + t.everyNs
	}
	return ns
}

// mix spreads its argument over 64 bits (the finalizer of SplitMix64, Steele,
// Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fault is what is done to a message on purpose.
type fault uint8

const (
	none fault = iota
	lose
	duplicate
	swap
	fail
	unanswered // delivered, and the producer is told that nobody knows
	faultKinds
)

const million = 1_000_000

// maxNamed bounds the lost messages that are named; the count is whole.
const maxNamed = 10_000

// maxPlanted bounds the faults of one kind in each million, so that all kinds
// find places.
const maxPlanted = 200_000

// plantWithin keeps planted faults away from the end of each million, so that
// a swapped message has a follower within it.
const plantWithin = million * 9 / 10

// faults plants so many of each kind in each million messages, at random.
type faults struct {
	seed    uint64
	per     [faultKinds]int64
	block   int64 // the million that places are of
	places  map[int64]fault
	planted Planted
}

func newFaults(s system.Settings) faults {
	f := faults{seed: uint64(s.Count("seed")), block: -1, places: make(map[int64]fault)}
	f.per[lose] = s.Count("lose_per_million")
	f.per[duplicate] = s.Count("duplicate_per_million")
	f.per[swap] = s.Count("swap_per_million")
	f.per[fail] = s.Count("fail_per_million")
	return f
}

// of returns what is done to the n-th message. n must not go back.
func (f *faults) of(n int64) fault {
	if f.per == [faultKinds]int64{} {
		return none
	}
	if block := n / million; block != f.block {
		f.block = block
		f.plant()
	}
	return f.places[n%million]
}

func (f *faults) plant() {
	clear(f.places)
	draw := mix(f.seed ^ mix(uint64(f.block)))
	for kind := lose; kind < faultKinds; kind++ {
		for range f.per[kind] {
			for {
				draw = mix(draw)
				if place := int64(draw % plantWithin); f.places[place] == none {
					f.places[place] = kind
					break
				}
			}
		}
	}
}
