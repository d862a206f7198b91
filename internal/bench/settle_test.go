package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// settlesAfter feeds seconds to the rule and returns the second after which the figures have
// settled; 0: not within most.
func settlesAfter(most int, second func(i int) (rate, tailNs float64)) int {
	s := &settling{}
	for i := range most {
		rate, tail := second(i)
		s.add(result.Interval{
			StartNs: int64(i) * 1e9, EndNs: int64(i+1) * 1e9, Acked: int64(rate),
			Latency: []result.Latency{{Series: result.Publish,
				Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: int64(tail)}}}},
		})
		if s.settled() {
			return i + 1
		}
	}
	return 0
}

// A steady system with noise is found to be one, and soon.
func TestSteadyFiguresSettle(t *testing.T) {
	within45 := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		after := settlesAfter(120, func(int) (float64, float64) {
			return 1e4 * (1 + 0.003*random.NormFloat64()), 5e6 * math.Exp(0.15*random.NormFloat64())
		})
		if after == 0 {
			t.Errorf("seed %d: a steady system did not settle within 120 s", seed)
		}
		if after > 0 && after <= 45 {
			within45++
		}
	}
	if within45 < 190 {
		t.Errorf("%d of 200 steady systems settled within 45 s", within45)
	}
}

// Changing figures have not settled. A tail of eleven times its final value that decays with a
// time constant of 30 s, as on a virtual machine that compiles code, is waited for until it is
// within half of its final value.
func TestChangingFiguresAreWaitedFor(t *testing.T) {
	early := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 2))
		after := settlesAfter(300, func(i int) (float64, float64) {
			return 1e4, 5e6 * (1 + 10*math.Exp(-float64(i)/30)) * math.Exp(0.1*random.NormFloat64())
		})
		if after != 0 && after < 90 {
			early++
		}
		if after == 0 {
			t.Errorf("seed %d: it did not settle at all", seed)
		}
	}
	if early > 20 {
		t.Errorf("%d of 200 warm-ups ended while the tail was falling", early)
	}
	for name, second := range map[string]func(int) (float64, float64){
		"a rate that rises": func(i int) (float64, float64) {
			return 1e4 * (1 + 0.01*float64(i)), 5e6
		},
		"a tail that rises": func(i int) (float64, float64) {
			return 1e4, 5e6 * math.Pow(1.05, float64(i))
		},
		"a queue that builds up": func(i int) (float64, float64) {
			return 1e4, 1e8 * float64(i+1) * (1 + 0.1*float64(i%3))
		},
	} {
		if after := settlesAfter(120, second); after != 0 {
			t.Errorf("%s settled after %d s", name, after)
		}
	}
}

// A second without an answer is not part of a steady state.
func TestGapsDoNotSettle(t *testing.T) {
	s := &settling{}
	for i := range 40 {
		interval := result.Interval{StartNs: int64(i) * 1e9, EndNs: int64(i+1) * 1e9, Acked: 100,
			Latency: []result.Latency{{Series: result.Publish,
				Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 1e6}}}}}
		if i%9 == 0 {
			interval.Latency = nil
		}
		if s.add(interval); s.settled() {
			t.Fatalf("settled after %d s with a gap in every nine", i+1)
		}
	}
}

// If only some seconds have enough messages for a p99, one lower percentile is followed
// throughout.
func TestOnePercentileIsFollowed(t *testing.T) {
	s := &settling{}
	for i := range settleSpan {
		l := result.Latency{Series: result.Publish,
			Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: 1e6},
				{Percentile: 95, LatencyNs: 2e6}}}
		if i%2 == 0 {
			l.Percentiles = append(l.Percentiles, result.Percentile{Percentile: 99, LatencyNs: 9e6})
		}
		s.add(result.Interval{EndNs: 1e9, Acked: 1000, Latency: []result.Latency{l}})
	}
	for _, v := range s.tails() {
		if v != 2e6 {
			t.Fatalf("the tails are %v, want p95 of each", s.tails())
		}
	}
	if !s.settled() {
		t.Error("a steady system has not settled")
	}
}
