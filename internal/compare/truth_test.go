package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/raced"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
)

// alarms compares a number of pairs, and counts those with any shown difference, and those with
// one in the first primary figure.
func alarms(t *testing.T, pairs int, compare func(pair int) *Comparison) (any, primary int) {
	t.Helper()
	for i := range pairs {
		c := compare(i)
		shown := false
		for _, e := range c.Figures {
			shown = shown || e.Shown
			if e.Shown && e.Figure.Name == c.Primary[0] {
				primary++
			}
		}
		if shown {
			any++
		}
	}
	return any, primary
}

func mustCompare(t *testing.T, a, b Side) *Comparison {
	t.Helper()
	primary, err := FindPrimary(Primary)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(a, b, primary...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A system compared with itself: at most 5 of 100 comparisons may show a difference in any figure.
func TestTruthEqualsRaiseFewAlarms(t *testing.T) {
	simulates(t)
	for _, runs := range []int{4, 5, 8, 20} {
		any, _ := alarms(t, 100, func(pair int) *Comparison {
			s := simulated{random: seeded(uint64(pair*100 + runs)), between: 0.05, seconds: 60}
			return mustCompare(t, s.side("A", runs, 1), s.side("B", runs, 1))
		})
		t.Logf("%d runs against %d: %d of 100", runs, runs, any)
		if any > 5 {
			t.Errorf("%d runs against %d of the same: %d of 100 comparisons show a difference",
				runs, runs, any)
		}
	}
	// With many pairs the share is known better.
	any, primary := alarms(t, 2000, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair + 1e6)), between: 0.05, seconds: 60}
		return mustCompare(t, s.side("A", 5, 1), s.side("B", 5, 1))
	})
	t.Logf("5 runs against 5: %d of 2000, %d of the primary figure", any, primary)
	if any > 2000*level || primary == 0 {
		t.Errorf("%d of 2000 comparisons of equals show a difference, %d in the primary figure",
			any, primary)
	}
}

// A tail that is 10% slower must be found: with five runs on each side if the p99 of equal runs
// scatters by 3%, with ten if it scatters by 5%.
func TestTruthAPlantedShiftIsFound(t *testing.T) {
	simulates(t)
	for _, c := range []struct {
		runs    int
		between float64 // the p99 of the runs scatters by 1.29 times as much
	}{{5, 0.023}, {10, 0.04}} {
		_, primary := alarms(t, 100, func(pair int) *Comparison {
			s := simulated{random: seeded(uint64(pair)), between: c.between, seconds: 60}
			return mustCompare(t, s.side("A", c.runs, 1), s.side("B", c.runs, 1.1))
		})
		t.Logf("%d runs against %d: found in %d of 100", c.runs, c.runs, primary)
		if primary < 90 {
			t.Errorf("%d runs against %d: a shift of 10%% was found in %d of 100 comparisons",
				c.runs, c.runs, primary)
		}
	}
}

// shapes are distributions of runs.
var shapes = map[string]func(*rand.Rand) float64{
	"normal": (*rand.Rand).NormFloat64,
	"heavy tails": func(r *rand.Rand) float64 { // Student's with 3 degrees of freedom
		return r.NormFloat64() / math.Sqrt(
			(math.Pow(r.NormFloat64(), 2)+math.Pow(r.NormFloat64(),
				2)+math.Pow(r.NormFloat64(), 2))/3)
	},
	"two states": func(r *rand.Rand) float64 {
		return 10*float64(r.IntN(2)) + 0.1*r.NormFloat64()
	},
	"skewed": (*rand.Rand).ExpFloat64,
}

// Whoever compares two samples after three rounds, and again after each further one, and stops at
// the worst moment, is wrong in at most the promised share, whatever the shape of the scatter. Who
// looks as often as if each look were the only one is wrong far more often.
func TestTruthLooksHoldTogether(t *testing.T) {
	simulates(t)
	const all, planned, most = 3000, 3, 12
	for name, shape := range shapes {
		random, missed, byOne := seeded(7), 0, 0
		for range all {
			var a, b []float64
			wrong, wrongByOne := false, false
			for len(a) < most {
				a = append(a, math.Exp(0.2*shape(random)))
				b = append(b, math.Exp(0.2*shape(random)))
				if len(a) < planned {
					continue
				}
				r := Repeated(a, b, len(a)-planned+1, stats.Scatter{})
				wrong = wrong || r.Low > 1 || r.High < 1
				r = Repeated(a, b, 0, stats.Scatter{})
				wrongByOne = wrongByOne || r.Low > 1 || r.High < 1
			}
			if wrong {
				missed++
			}
			if wrongByOne {
				byOne++
			}
		}
		t.Logf("%s: wrong in %d of %d, by single looks %d", name, missed, all, byOne)
		if float64(missed) > 0.05*all || float64(byOne) < 0.08*all {
			t.Errorf("%s: wrong in %d of %d, by single looks %d", name, missed, all, byOne)
		}
	}
}

// Of the pairs of a study, each of two or three rounds a side, at most 5 in 100 have an interval
// without the true ratio when the scatter of all pairs moderates that of each, also where some
// scatter five times as much as others. Of two rounds it is narrower, at the median, than by the
// rounds of one pair alone.
func TestTruthScatterOfAStudy(t *testing.T) {
	simulates(t)
	const studies, pairs = 300, 20
	for name, shape := range shapes {
		if name == "two states" {
			continue // rounds that are alike, or ten times apart, are no scatter
		}
		for rounds := 2; rounds <= 3; rounds++ {
			random, missed, narrower := seeded(uint64(rounds)), 0, []float64{}
			for range studies {
				samples := make([][]float64, 2*pairs)
				for i := range samples {
					wide := 0.08 * math.Pow(5, random.Float64())
					for range rounds {
						samples[i] = append(samples[i], math.Exp(wide*shape(random)))
					}
				}
				others := ScatterOf(samples)
				for i := 0; i < len(samples); i += 2 {
					r := Repeated(samples[i], samples[i+1], 0, others)
					if r.Low > 1 || r.High < 1 {
						missed++
					}
					alone := Repeated(samples[i], samples[i+1], 0, stats.Scatter{})
					narrower = append(narrower,
						math.Log(r.High/r.Low)/math.Log(alone.High/alone.Low))
				}
			}
			slices.Sort(narrower)
			t.Logf("%s, %d rounds: wrong in %d of %d, the median width %.2f of that alone", name,
				rounds, missed, studies*pairs, narrower[len(narrower)/2])
			if most := map[int]float64{2: 0.85, 3: 1.1}[rounds]; float64(missed) > 0.05*studies*pairs ||
				narrower[len(narrower)/2] > most {
				t.Errorf("%s, %d rounds: too often wrong, or too wide", name, rounds)
			}
		}
	}
}

// For systems that vary together from round to round, pairs raise at most 5 alarms in 100 too,
// however the runs scatter within a round.
func TestTruthEqualPairsRaiseFewAlarms(t *testing.T) {
	simulates(t)
	for name, shape := range shapes {
		for _, runs := range []int{5, 8, 12} {
			const pairs = 2000
			any, _ := alarms(t, pairs, func(pair int) *Comparison {
				s := simulated{random: seeded(uint64(pair*100 + runs)), between: 0.05, rounds: 0.3,
					shape: shape, seconds: 60}
				c := mustCompare(t, s.side("A", runs, 1), s.side("B", runs, 1))
				if c.Pairing != ByRound {
					t.Fatal("not paired")
				}
				return c
			})
			t.Logf("%s, %d pairs: %d of %d", name, runs, any, pairs)
			if any > pairs*level {
				t.Errorf("%s, %d pairs of the same: %d of %d comparisons show a "+
					"difference", name, runs, any, pairs)
			}
		}
	}
}

// If rounds differ by more than the planted shift, only pairs find it: with pairs nearly all
// comparisons do, without pairs few.
func TestTruthPairsFindAShiftBehindRounds(t *testing.T) {
	simulates(t)
	_, found := alarms(t, 200, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair)), between: 0.015, rounds: 0.3, seconds: 60}
		return mustCompare(t, s.side("A", 5, 1), s.side("B", 5, 1.1))
	})
	_, blind := alarms(t, 200, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair)), between: 0.015, rounds: 0.3, seconds: 60}
		a, b := s.side("A", 5, 1), s.side("B", 5, 1.1)
		b.Runs[0].Run.Trial = nil
		return mustCompare(t, a, b)
	})
	t.Logf("found in %d of 200, without pairs in %d", found, blind)
	if found < 180 || blind > 20 {
		t.Errorf("a shift of 10%% was found in %d of 200 comparisons, without pairs in %d", found,
			blind)
	}
}

// With the recommended five trials, runs without overlap show a difference, in publish and in
// end-to-end latency, in pairs or not.
func TestTruthFiveTrialsShowWhatIsSeparate(t *testing.T) {
	simulates(t)
	for _, rounds := range []float64{0, 0.1} {
		missed := 0
		for i := range 500 {
			s := simulated{random: seeded(uint64(i)), between: 0.05, rounds: rounds, seconds: 60}
			a, b := s.side("A", 5, 1), s.side("B", 5, 1)
			for _, r := range b.Runs { // only the end-to-end tail is slower
				p := r.Run.Summary.Latency[1].Percentiles
				p[1].LatencyNs = p[1].LatencyNs * 5 / 2
			}
			for _, e := range mustCompare(t, a, b).Figures {
				if e.Figure.Name == "e2e.p99" && !e.Shown {
					missed++
				}
			}
		}
		if missed > 0 {
			t.Errorf("rounds of %v: a p99 2.5 times as high was missed in %d of 500", rounds,
				missed)
		}
	}
}

// The difference that 9 of 10 comparisons should show, by their own statement, is shown by 9 of
// 10.
func TestTruthDetectable(t *testing.T) {
	simulates(t)
	primary, err := FindPrimary("publish.p99")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		runs            int
		between, rounds float64
	}{{5, 0.05, 0}, {8, 0.02, 0}, {12, 0.1, 0}, {5, 0.05, 0.3}, {8, 0.02, 0.3}} {
		shown, tried := 0, 0
		for i := range 1000 {
			s := simulated{random: seeded(uint64(i)), between: c.between, rounds: c.rounds,
				seconds: 60}
			compare := func(times float64) Effect {
				s.levels = nil
				com, err := New(s.side("A", c.runs, 1), s.side("B", c.runs, times), primary...)
				if err != nil {
					t.Fatal(err)
				}
				return com.Figures[0]
			}
			share, ok := compare(1).Detectable()
			if !ok {
				t.Fatal("nothing can be shown")
			}
			if tried++; compare(1 + share).Shown {
				shown++
			}
		}
		t.Logf("%d runs that scatter by %v, rounds by %v: shown in %d "+
			"of %d", c.runs, c.between, c.rounds, shown, tried)
		if part := float64(shown) / float64(tried); part < Power-0.03 || part > Power+0.03 {
			t.Errorf("%d runs that scatter by %v, rounds by %v: what is said to be shown in 900 "+
				"of 1000 "+
				"comparisons is in %d",
				c.runs, c.between, c.rounds, shown)
		}
	}
}

// Single runs of a minute are compared by their internal variation. The simulated runs do not vary
// between each other, because a single run cannot know that variation.
func TestTruthSingleRuns(t *testing.T) {
	simulates(t)
	for _, c := range []struct {
		seconds int
		memory  float64
	}{{15, 0.3}, {30, 0}, {60, 0.6}} {
		any, _ := alarms(t, 100, func(pair int) *Comparison {
			s := simulated{random: seeded(uint64(pair)), within: 0.05, memory: c.memory,
				seconds: c.seconds, messages: 150}
			return mustCompare(t, s.side("A", 1, 1), s.side("B", 1, 1))
		})
		t.Logf("%d s with memory %v: %d of 100", c.seconds, c.memory, any)
		if any > 5 {
			t.Errorf("single runs of %d s with memory %v: %d of 100 comparisons of equals show a "+
				"difference", c.seconds, c.memory, any)
		}
	}
	_, primary := alarms(t, 100, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair)), within: 0.05, memory: 0.5, seconds: 60,
			messages: 400}
		return mustCompare(t, s.side("A", 1, 1), s.side("B", 1, 1.1))
	})
	t.Logf("found in %d of 100", primary)
	if primary < 90 {
		t.Errorf("a shift of 10%% was found in %d of 100 pairs of single runs", primary)
	}
}

// simulates skips a test of thousands of comparisons under the race detector;
// `make test` runs it without.
func simulates(t *testing.T) {
	t.Helper()
	if raced.Detector {
		t.Skip("thousands of comparisons: runs without the race detector")
	}
}
