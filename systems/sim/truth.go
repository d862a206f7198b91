package sim

import (
	"math"

	"github.com/plimsoll-bench/plimsoll/system"
)

// truth draws each message's service time and planted faults from the settings. Every draw is a
// pure function of the seed and the message's number.
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
	stall     stretch

	slowIs fault // the fault of slow messages; none: they take the slow time

	abortShare, visibleShare, partialShare float64 // of transactions
}

// stretch is the end of each period, since the simulator began.
type stretch struct{ everyNs, lengthNs int64 }

// after returns ns, or the end of the stretch that it falls into.
func (s stretch) after(ns int64) int64 {
	if s.everyNs <= 0 || s.lengthNs <= 0 {
		return ns
	}
	if in := ns % s.everyNs; in >= s.everyNs-s.lengthNs {
		return ns - in + s.everyNs
	}
	return ns
}

func stretchOf(s system.Settings, every, length string) stretch {
	return stretch{everyNs: int64(s.Duration(every)), lengthNs: int64(s.Duration(length))}
}

func newTruth(s system.Settings) truth {
	t := truth{
		seed: uint64(s.Count("seed")), kind: s.Text("service"),
		timeNs: float64(s.Duration("service_time")), sigma: s.Number("service_sigma"),
		slowNs: float64(s.Duration("service_slow")), slowShare: s.Number("service_slow_share"),
		delayNs: int64(s.Duration("delivery_delay")), stall: stretchOf(s, "stall_every",
			"stall_for"),
		slowIs: map[string]fault{"refused": fail, "unanswered": silent,
			"lost": lose}[s.Text("service_slow_outcome")],
		abortShare: s.Number("abort_share"), visibleShare: s.Number("aborted_visible_share"),
		partialShare: s.Number("partial_share"),
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

// firstAnswered is the number of a simulator's first messages without planted faults. A run uses
// them to prove that its partitions are ready, and they are in no account.
const firstAnswered = 64

// serviceNs returns the service time of the n-th message, and its fault if it would be slow.
func (t *truth) serviceNs(n int64) (ns int64, what fault) {
	switch t.kind {
	case "exponential":
		return int64(-t.timeNs * math.Log(t.uniform(n, 0))), none
	case "lognormal":
		// Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
		normal := math.Sqrt(-2*math.Log(t.uniform(n, 0))) * math.Cos(2*math.Pi*t.uniform(n, 1))
		return int64(t.timeNs * math.Exp(t.sigma*normal)), none
	case "bimodal":
		switch slow := t.uniform(n, 0) < t.slowShare; {
		case slow && t.slowIs == none:
			return int64(t.slowNs), none
		case slow && n >= firstAnswered:
			return int64(t.timeNs), t.slowIs
		}
	}
	return int64(t.timeNs), none
}

// uniform returns the k-th random number between 0 and 1 of the n-th message, neither end
// included.
func (t *truth) uniform(n int64, k uint64) float64 {
	return (float64(mix(t.seed^mix(uint64(n)<<1|k))>>11) + 0.5) / (1 << 53)
}

// ofTransaction returns the k-th random number between 0 and 1, k below 4, of a producer's
// transaction.
func (t *truth) ofTransaction(producer int, number uint32, k uint64) float64 {
	const salt = 0x7472616e73616374 // keeps these draws apart from those of messages
	n := uint64(producer)<<34 | uint64(number)<<2 | k
	return (float64(mix(t.seed^salt^mix(n))>>11) + 0.5) / (1 << 53)
}

// afterStall returns ns, or the end of the stall that it falls into. Both are
// times since the simulator began.
func (t *truth) afterStall(ns int64) int64 { return t.stall.after(ns) }

// mix spreads its argument over 64 bits (the finalizer of SplitMix64, Steele,
// Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fault is a planted fault of a message.
type fault uint8

const (
	none fault = iota
	lose
	duplicate
	swap
	fail
	unanswered   // delivered, and reported to the producer as unknown
	silent       // never answered
	misplace     // delivered as if it came from another partition
	aborted      // refused with its transaction, and not delivered
	abortedShown // refused with its transaction, and delivered
	faultKinds
)

const million = 1_000_000

// maxNamed bounds the lost messages that are named; the count includes all.
const maxNamed = 10_000

// plantWithin keeps planted faults away from the end of each million, so that
// a swapped message has a follower within it.
const plantWithin = million * 9 / 10

// faults plants a number of each kind in each million messages, at random.
type faults struct {
	seed    uint64
	per     [faultKinds]int64
	block   int64 // the million to which places belongs
	places  map[int64]fault
	planted Planted
}

func newFaults(s system.Settings) faults {
	f := faults{seed: uint64(s.Count("seed")), block: -1, places: make(map[int64]fault)}
	f.per[lose] = s.Count("lose_per_million")
	f.per[duplicate] = s.Count("duplicate_per_million")
	f.per[swap] = s.Count("swap_per_million")
	f.per[fail], f.per[silent] = s.Count("fail_per_million"), s.Count("unanswered_per_million")
	f.per[misplace] = s.Count("misplace_per_million")
	return f
}

// of returns the fault of the n-th message. n must not go back.
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
				place := int64(draw % plantWithin)
				if f.places[place] == none && (f.block > 0 || place >= firstAnswered) {
					f.places[place] = kind
					break
				}
			}
		}
	}
}
