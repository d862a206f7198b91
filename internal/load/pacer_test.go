package load

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The usual latency is the median, whatever the tail, and soon is again after a stall.
func TestUsualLatencyIsTheMedian(t *testing.T) {
	const median = 4_000_000
	random := rand.New(rand.NewPCG(1, 1))
	usual := follow(0, 100*median) // the first message finds no connection
	after := func(messages int, latency func() float64) {
		for range messages {
			usual = follow(usual, int64(latency()))
		}
	}
	near := func(when string) {
		if usual < median*9/10 || usual > median*11/10 {
			t.Errorf("%s: the usual latency is %d ns, the median %d", when, usual, median)
		}
	}
	lognormal := func() float64 { return median * math.Exp(random.NormFloat64()) }
	after(10_000, lognormal)
	near("lognormal")
	after(10_000, func() float64 { return median * (0.5 + random.Float64()) })
	near("uniform")
	after(1_000, func() float64 { return 1e9 })
	after(5_000, lognormal)
	near("after a stall")
}

// A wait for a quantum adds at most a fiftieth to the median, or 50 us.
func TestQuantumFollowsTheUsualLatency(t *testing.T) {
	for usual, want := range map[int64]int64{
		0: 100_000, 1_000_000: 100_000, 5_000_000: 200_000, 1_000_000_000: 1_000_000,
	} {
		var to producer
		to.usualNs.Store(usual)
		if got := quantumNs(&to); got != want {
			t.Errorf("usual latency %d ns: quantum %d ns, want %d", usual, got, want)
		}
	}
}
