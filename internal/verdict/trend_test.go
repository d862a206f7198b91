package verdict

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// windowOf returns a run with given figures for each second.
func windowOf(seconds int, second func(i int) (rate, p50, p99 float64)) *result.Saved {
	s := &result.Saved{Run: *good()}
	s.Run.Load.Segments = []result.Segment{{From: 1000, To: 1000}}
	for i := range seconds {
		rate, p50, p99 := second(i)
		s.Intervals = append(s.Intervals, result.Interval{
			Phase: result.PhaseMeasure, StartNs: int64(i) * 1e9, EndNs: int64(
				i+1) * 1e9, Acked: int64(rate),
			Latency: []result.Latency{{Series: result.Publish,
				Percentiles: []result.Percentile{{Percentile: 50, LatencyNs: int64(p50)},
					{Percentile: 99, LatencyNs: int64(p99)}}}},
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
		"steady": {60,
			func(int) (float64, float64, float64) {
				return 1000 * noise(), 1e6 * noise(),
					5e6 * noise()
			}, ""},
		"a tail rises": {60,
			func(i int) (float64, float64, float64) {
				return 1000, 1e6,
					5e6 * (1 + float64(i)/60) * noise()
			}, "publish p99 rose by"},
		"a median falls": {60,
			func(i int) (float64, float64, float64) {
				return 1000,
					2e6 * math.Exp(-float64(i)/60) * noise(), 5e6
			}, "publish p50 fell by"},
		"a rate falls": {30,
			func(i int) (float64, float64, float64) {
				return 1000 - 3*float64(i), 1e6,
					5e6
			}, "the achieved rate fell by 87/s"},
		"too small": {60,
			func(i int) (float64, float64, float64) {
				return 1000 - float64(i)/10, 1e6 +
					500*float64(i), 5e6
			}, ""},
		"too short": {9,
			func(i int) (float64, float64, float64) { return 1000, 1e6, 5e6 * float64(i+1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := trendsOf(windowOf(c.seconds, c.second))
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) ||
				strings.Count(got, "\n") > 0 {
				t.Errorf("warned of %q, want %q", got, c.want)
			}
		})
	}
	rising := windowOf(60,
		func(i int) (float64, float64, float64) { return 1000 * float64(i+1), 1e6, 5e6 })
	rising.Run.Load.Segments[0].To = 60_000
	if got := trendsOf(rising); got != "" {
		t.Errorf("a ramp was asked for, and %q", got)
	}
}

// Steady figures with correlated noise raise few warnings.
func TestSteadyRunsShowNoTrend(t *testing.T) {
	warned := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 9))
		state := 0.0
		s := windowOf(60, func(int) (float64, float64, float64) {
			state = 0.6*state + 0.8*random.NormFloat64()
			return 1000 * (1 +
				0.002*random.NormFloat64()), 1e6 * math.Exp(0.05*state), 5e6 * math.Exp(0.15*state)
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
