package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/result"
)

// A straight line has its own slope, and nothing around it.
func TestSlopeOfALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 60).Draw(t, "n")
		rise := rapid.Float64Range(-1e3, 1e3).Draw(t, "slope")
		var x, y []float64
		for i := range n {
			x, y = append(x, float64(i)), append(y, 5+rise*float64(i))
		}
		// One wild value in many changes little.
		if n >= 20 {
			y[n/2] += 1e9
		}
		median, low, high := slope(x, y)
		near := func(v float64) bool { return math.Abs(v-rise) <= 1e-6*math.Max(1, math.Abs(rise)) }
		if !near(median) || low > median || high < median {
			t.Fatalf("slope %v in %v to %v, want %v", median, low, high, rise)
		}
	})
}

// The interval must hold the slope in 95 of 100 series, whether or not
// neighbours resemble one another.
func TestSlopeIntervalKeepsItsWord(t *testing.T) {
	for _, c := range []struct {
		n      int
		memory float64
	}{{15, 0}, {30, 0.5}, {60, 0.5}, {120, 0.8}} {
		missed := 0
		const tries = 1000
		for seed := range uint64(tries) {
			random := rand.New(rand.NewPCG(seed, uint64(c.n)))
			var x, y []float64
			state := random.NormFloat64()
			for i := range c.n {
				state = c.memory*state + math.Sqrt(1-c.memory*c.memory)*random.NormFloat64()
				x, y = append(x, float64(i)), append(y, 0.3*float64(i)+state)
			}
			if _, low, high := slope(x, y); low > 0.3 || high < 0.3 {
				missed++
			}
		}
		t.Logf("%d points with memory %v: missed in %d of %d", c.n, c.memory, missed, tries)
		if missed > tries*7/100 {
			t.Errorf("%d points with memory %v: the interval misses the slope in %d of %d", c.n, c.memory, missed, tries)
		}
	}
}

// window is a run whose figures go as they are told, by the second.
func windowOf(seconds int, second func(i int) (rate, p50, p99 float64)) *result.Saved {
	s := &result.Saved{Run: *good()}
	s.Run.Load.Segments = []result.Segment{{From: 1000, To: 1000}}
	for i := range seconds {
		rate, p50, p99 := second(i)
		s.Intervals = append(s.Intervals, result.Interval{
			Phase: result.PhaseMeasure, StartNs: int64(i) * 1e9, EndNs: int64(i+1) * 1e9, Acked: int64(rate),
			Latency: []result.Latency{{Series: result.Publish, Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: int64(p50)}, {Percentile: 99, LatencyNs: int64(p99)}}}},
		})
	}
	return s
}

func trendsOf(s *result.Saved) string {
	JudgeSaved(s)
	var out []string
	for _, w := range s.Run.Warnings {
		if w.Code == "trend" {
			out = append(out, w.Sentence)
		}
	}
	return strings.Join(out, "\n")
}

func TestTrendsAreWarnedOf(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	noise := func() float64 { return math.Exp(0.05 * random.NormFloat64()) }
	for name, c := range map[string]struct {
		seconds int
		second  func(i int) (rate, p50, p99 float64)
		want    string
	}{
		"steady":         {60, func(int) (float64, float64, float64) { return 1000 * noise(), 1e6 * noise(), 5e6 * noise() }, ""},
		"a tail rises":   {60, func(i int) (float64, float64, float64) { return 1000, 1e6, 5e6 * (1 + float64(i)/60) * noise() }, "publish p99 rose by"},
		"a median falls": {60, func(i int) (float64, float64, float64) { return 1000, 2e6 * math.Exp(-float64(i)/60) * noise(), 5e6 }, "publish p50 fell by"},
		"a rate falls":   {30, func(i int) (float64, float64, float64) { return 1000 - 3*float64(i), 1e6, 5e6 }, "the achieved rate fell by 87/s"},
		"too small":      {60, func(i int) (float64, float64, float64) { return 1000 - float64(i)/10, 1e6 + 500*float64(i), 5e6 }, ""},
		"too short":      {9, func(i int) (float64, float64, float64) { return 1000, 1e6, 5e6 * float64(i+1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := trendsOf(windowOf(c.seconds, c.second))
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("warned of %q, want %q", got, c.want)
			}
		})
	}
	rising := windowOf(60, func(i int) (float64, float64, float64) { return 1000 * float64(i+1), 1e6, 5e6 })
	rising.Run.Load.Segments[0].To = 60_000
	if got := trendsOf(rising); got != "" {
		t.Errorf("a ramp was asked for, and %q", got)
	}
}

// Steady figures with noise that remembers raise few warnings.
func TestSteadyRunsShowNoTrend(t *testing.T) {
	warned := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		state := 0.0
		s := windowOf(60, func(int) (float64, float64, float64) {
			state = 0.6*state + 0.8*random.NormFloat64()
			return 1000 * (1 + 0.002*random.NormFloat64()), 1e6 * math.Exp(0.05*state), 5e6 * math.Exp(0.15*state)
		})
		if trendsOf(s) != "" {
			warned++
		}
	}
	t.Logf("%d of 200", warned)
	if warned > 10 {
		t.Errorf("%d of 200 steady runs are warned of", warned)
	}
}

func TestNeverSettledIsWarnedOf(t *testing.T) {
	r := good()
	r.Settling = &result.Settling{MostNs: 120e9}
	if got := codes(r); got != "never_settled" {
		t.Errorf("warnings %q", got)
	}
	r.Settling.Settled = true
	if got := codes(r); got != "" {
		t.Errorf("warnings %q", got)
	}
}
