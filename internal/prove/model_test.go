package prove

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// Each model is checked separately, because a wrong model proves nothing.
func TestModelsAgreeWithTheirDefinitions(t *testing.T) {
	w := Load{Rate: 1_000, For: 10 * time.Second}.workload("model")
	for name, test := range map[string]struct {
		model model
		share float64
		want  time.Duration
	}{
		"constant": {always(time.Millisecond), 0.99, time.Millisecond},
		"fast": {
			twoTimes(time.Millisecond, time.Second, 0.1), 0.9, time.Millisecond,
		},
		"slow":                 {twoTimes(time.Millisecond, time.Second, 0.1), 0.91, time.Second},
		"lognormal median":     {lognormal(time.Millisecond, 0.5), 0.5, time.Millisecond},
		"lognormal, one sigma": {lognormal(time.Millisecond, 0.5), 0.841344746, 1_648_721},
		"exponential p99":      {exponential(time.Millisecond), 0.99, 4_605_170},
		"half of a stall": {
			held(time.Second, 200*time.Millisecond, 0), 0.9, 100 * time.Millisecond,
		},
		"outside of a stall": {
			held(time.Second, 200*time.Millisecond, time.Millisecond), 0.5, time.Millisecond,
		},
		"half capacity":            {queue(2_000), 0.99, 500 * time.Microsecond},
		"half of the offered load": {queue(500), 0.5, 5*time.Second + 2*time.Millisecond},
		"transactions' median": {
			evenly(50*time.Millisecond, 0), 0.5, 25 * time.Millisecond,
		},
		"an added delay": {
			always(time.Millisecond).plus(time.Millisecond), 0.5, 2 * time.Millisecond,
		},
	} {
		got := test.model(w).at(test.share)
		if math.Abs(got-float64(test.want)) > float64(test.want)/1e3 {
			t.Errorf("%s: %v, want %v", name, time.Duration(got), test.want)
		}
	}
}

// pollaczekKhinchine returns the mean sojourn time, in ns, of a queue with Poisson arrivals
// and a constant service time (Pollaczek 1930, Khinchine 1932). It also returns the standard
// deviation of the mean of n successive messages, whose latencies are correlated. It
// estimates that deviation from independent simulated queues.
func pollaczekKhinchine(rate, perSecond float64, n int) (mean, deviation float64) {
	const queues = 100
	serviceNs, busy := 1e9/perSecond, rate/perSecond
	mean = serviceNs + busy*serviceNs/(2*(1-busy))
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	dueNs, squares := make([]float64, n), 0.0
	for range queues {
		at := 0.0
		for i := range dueNs {
			at += random.ExpFloat64() * 1e9 / rate
			dueNs[i] = at
		}
		sum := 0.0
		for _, latency := range sojourns(dueNs, serviceNs) {
			sum += latency
		}
		off := sum/float64(n) - mean
		squares += off * off
	}
	return mean, math.Sqrt(squares / queues)
}

func TestPollaczekAndKhinchineAgreeWithTheQueue(t *testing.T) {
	mean, deviation := pollaczekKhinchine(900, 1_000, 100_000)
	if math.Abs(mean-5.5e6) > 1 {
		t.Errorf("mean %v, want 1 ms + 0.9 ms / (2 x 0.1)", mean)
	}
	w := Load{Rate: 900, For: 100 * time.Second, Poisson: true}.workload("model")
	sum, latencies := 0.0, sojourns(dueTimes(w), 1e6)
	for _, ns := range latencies {
		sum += ns
	}
	off := math.Abs(sum/float64(len(latencies)) - mean)
	if off > sigmas*deviation || deviation > mean/5 {
		t.Errorf("the queue's mean is off by %v, the deviation is %v", off, deviation)
	}
}

func TestRankErrorIsThatOfTheBinomial(t *testing.T) {
	d := exponential(time.Millisecond)(&workload.Workload{})
	low, high := d.between(0.5, 10_000)
	// 4 sigma of half of 10,000 are 200 ranks, plus one rank for rounding.
	wantLow, wantHigh := -1e6*math.Log(1-0.4799), -1e6*math.Log(1-0.5201)
	if math.Abs(low-wantLow) > 1 || math.Abs(high-wantHigh) > 1 {
		t.Errorf("%v to %v, want %v to %v", low, high, wantLow, wantHigh)
	}
}
