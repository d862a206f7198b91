package peak

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/workload"
)

func planOf(start, tolerance float64, confirmations int) Plan {
	return Plan{
		StartRate: start, Tolerance: tolerance, Confirmations: confirmations,
		MaxTrials: MostTrials, LeastRate: 1, MostRate: 1e8,
	}
}

// model is a system of a known capacity.
type model struct {
	capacity float64
	achieves func(rate float64) float64
	doubtful bool // every unstable trial
}

// carries is a system that keeps its capacity under overload.
func carries(capacity float64) model {
	return model{capacity: capacity,
		achieves: func(rate float64) float64 { return min(rate, capacity) }}
}

// answer holds the bracket that a search finds, and every step that it made.
func answer(p Plan, m model) (Bracket, End, []Step) {
	s := NewSearch(p)
	var steps []Step
	for {
		step, end := s.Next()
		if end != Unfinished {
			return s.Bracket(), end, steps
		}
		steps = append(steps, step)
		s.Take(Outcome{Stable: step.Rate <= m.capacity, AchievedRate: m.achieves(step.Rate),
			Doubtful: m.doubtful})
		if len(steps) > 100 {
			return s.Bracket(), end, steps
		}
	}
}

// For any capacity, start and behaviour under overload, the bracket contains the capacity, with at
// most MostTrials trials, none out of bounds.
func TestSearchBracketHoldsTheCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := math.Pow(10, rapid.Float64Range(0.1, 7.9).Draw(t, "log capacity"))
		start := math.Pow(10, rapid.Float64Range(0, 8).Draw(t, "log start"))
		tolerance := rapid.Float64Range(0.01, 0.2).Draw(t, "tolerance")
		confirmations := rapid.IntRange(0, 3).Draw(t, "confirmations")
		collapse := rapid.Float64Range(0.01, 1).Draw(t, "collapse")
		near := rapid.Bool().Draw(t, "near")
		m := model{capacity, rapid.SampledFrom([]func(float64) float64{
			func(rate float64) float64 { return min(rate, capacity) },
			func(rate float64) float64 { return rate }, // limited by latency
			func(rate float64) float64 { // overload reduces the capacity
				if rate > capacity {
					return capacity * collapse
				}
				return rate
			},
			func(float64) float64 { return 0 },
			func(float64) float64 { return math.NaN() },
		}).Draw(t, "under overload"), rapid.Bool().Draw(t, "doubtful")}
		plan := planOf(start, tolerance, confirmations)
		plan.Near = near
		b, end, steps := answer(plan, m)
		if len(steps) > MostTrials {
			t.Fatalf("%d trials: %+v", len(steps), steps)
		}
		for _, s := range steps {
			if !(s.Rate >= 1 && s.Rate <= 1e8) {
				t.Fatalf("a trial at %v: %+v", s.Rate, steps)
			}
		}
		if b.StableRate > capacity || b.UnstableRate != 0 && b.UnstableRate <= capacity {
			t.Fatalf("bracket %+v of a capacity of %v", b, capacity)
		}
		if end == Found && (b.Width() > tolerance+1e-6 || b.Confirmed < confirmations) {
			t.Fatalf("found %+v", b)
		}
		if end == Unfinished {
			t.Fatal("the search did not end")
		}
	})
}

// The capacity of a system that keeps it under overload is found from any start.
func TestSearchFindsACapacityFromAnywhere(t *testing.T) {
	for _, capacity := range []float64{3, 777, 20_000, 1e6, 2e7} {
		for _, start := range []float64{1, 100, 5_000, 1e5, 1e8} {
			if capacity/start > 1e6 {
				continue // one trial short: a bracket without confirmation
			}
			b, end, steps := answer(planOf(start, 0.03, 2), carries(capacity))
			if end != Found || math.Abs(b.StableRate/capacity-1) > 0.03 {
				t.Errorf("from %v to %v: %s, %+v, %d trials: %+v", start, capacity, end, b,
					len(steps), steps)
			}
		}
	}
}

// If overload shows no capacity, as under an objective of latency, a start within a factor of 8 is
// enough for MostTrials trials.
func TestSearchBisectsWhereOverloadTellsNothing(t *testing.T) {
	for _, factor := range []float64{0.13, 0.3, 0.9, 1.1, 2.5, 7.9} {
		const start = 10_000
		m := model{capacity: start * factor, achieves: func(rate float64) float64 { return rate }}
		b, end, steps := answer(planOf(start, 0.03, 1), m)
		if end != Found {
			t.Errorf("factor %v: %s, %+v, %d trials: %+v", factor, end, b, len(steps), steps)
		}
	}
}

// A rate is stable only for a short time: the search goes down until a longer run is stable.
func TestSearchGoesDownWhereAConfirmationFails(t *testing.T) {
	s := NewSearch(planOf(10_000, 0.03, 2))
	for n := 0; ; n++ {
		step, end := s.Next()
		if end != Unfinished {
			b := s.Bracket()
			if end != Found || b.StableRate > 19_000 || b.StableRate < 18_400 ||
				b.UnstableRate <= 20_000 || b.MixedRate <= 19_000 || b.MixedRate > 20_000 ||
				b.Confirmed != 2 {
				t.Errorf("%s after %d trials: %+v", end, n, b)
			}
			return
		}
		capacity := 20_000.0
		if step.Long {
			capacity = 19_000
		}
		s.Take(Outcome{Stable: step.Rate <= capacity, AchievedRate: min(step.Rate, capacity)})
	}
}

// A trial that a passing disturbance may have failed is repeated once, and only once.
func TestSearchRepeatsWhatMayHavePassed(t *testing.T) {
	s := NewSearch(planOf(10_000, 0.03, 1))
	first, _ := s.Next()
	s.Take(Outcome{Passing: true, AchievedRate: 9_000})
	if b := s.Bracket(); b.UnstableRate != 0 {
		t.Errorf("it counts already: %+v", b)
	}
	again, _ := s.Next()
	if again.Kind != Repeat || again.Rate != first.Rate {
		t.Errorf("%+v after %+v", again, first)
	}
	s.Take(Outcome{Passing: true, AchievedRate: 9_000})
	if b := s.Bracket(); b.UnstableRate != first.Rate {
		t.Errorf("it does not count: %+v", b)
	}
	if next, _ := s.Next(); next.Kind == Repeat {
		t.Errorf("again: %+v", next)
	}
}

// A limit that the machine caused is tried again and forgotten.
func TestSearchForgetsAFalseLimit(t *testing.T) {
	s := NewSearch(planOf(1_000, 0.03, 1))
	rechecked := 0
	for n := 0; ; n++ {
		step, end := s.Next()
		if end != Unfinished {
			if b := s.Bracket(); end != Found || b.MixedRate != 0 || b.StableRate < 19_400 ||
				b.StableRate > 20_000 || rechecked != 1 {
				t.Errorf("%s after %d trials, %d rechecked: %+v", end, n, rechecked, b)
			}
			return
		}
		if step.Kind == Recheck && step.Rate == 2_000 {
			rechecked++
		}
		o := Outcome{Stable: step.Rate <= 20_000, AchievedRate: min(step.Rate, 20_000)}
		if n == 1 {
			o = Outcome{Doubtful: true, AchievedRate: 1_500}
		}
		s.Take(o)
	}
}

// A true limit is tried again at most once.
func TestSearchRechecksALimitOnce(t *testing.T) {
	s := NewSearch(planOf(1_000, 0.03, 2))
	rechecked := 0
	for n := 0; ; n++ {
		step, end := s.Next()
		if end != Unfinished {
			if b := s.Bracket(); end != Found || b.Width() > 0.0301 || b.StableRate > 20_000 ||
				b.UnstableRate <= 20_000 {
				t.Errorf("%s after %d trials, %d rechecked: %+v", end, n, rechecked, b)
			}
			return
		}
		if step.Kind == Recheck {
			rechecked++
		}
		s.Take(Outcome{Stable: step.Rate <= 20_000, AchievedRate: min(step.Rate, 20_000),
			Doubtful: true})
	}
}

// A search that cannot try higher rates confirms its stable end.
func TestSearchCapped(t *testing.T) {
	s := NewSearch(planOf(1_000, 0.03, 1))
	for n := 0; n < 20; n++ {
		step, end := s.Next()
		if end != Unfinished {
			if b := s.Bracket(); end != NoLimit || b.StableRate != 5_000 || b.Confirmed != 1 ||
				b.UnstableRate != 0 {
				t.Errorf("%s: %+v", end, b)
			}
			return
		}
		if step.Rate > 5_000 {
			s.Cap(5_000)
			continue
		}
		s.Take(Outcome{Stable: true, AchievedRate: step.Rate})
	}
	t.Error("no end")
}

// The capacity of the system varies by 10%: brackets of different searches usually overlap,
// because each covers all its observations, and most are confirmed.
func TestSearchBracketsOfAnUnsteadySystemOverlap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const searches = 2000
	overlap, confirmed, width := 0, 0, 0.0
	var before Bracket
	for i := range searches {
		s := NewSearch(planOf(5_000, 0.03, 2))
		for {
			step, end := s.Next()
			if end != Unfinished {
				break
			}
			capacity := 20_000 * (0.95 + 0.1*random.Float64()) // of this trial
			s.Take(Outcome{Stable: step.Rate <= capacity, AchievedRate: min(step.Rate, capacity)})
		}
		b := s.Bracket()
		if b.Confirmed == 2 {
			confirmed++
		}
		if i > 0 && b.StableRate <= before.UnstableRate && before.StableRate <= b.UnstableRate {
			overlap++
		}
		before, width = b, width+b.Width()
	}
	t.Logf("%.1f%% overlap, %.1f%% confirmed as asked, mean width %.1f%%",
		float64(overlap)/(searches-1)*100, float64(confirmed)/searches*100, width/searches*100)
	if overlap < searches*80/100 || confirmed < searches*90/100 {
		t.Errorf("only %d of %d overlap, %d are confirmed", overlap, searches-1, confirmed)
	}
}

// Trials err by chance, by 0.3% or 1% of the rate (standard deviation). Nevertheless 19 of 20
// brackets contain the truth, and the others miss it evenly on both sides.
func TestSearchBracketsHoldTheTruthOfANoisySystem(t *testing.T) {
	for _, noise := range []float64{0.003, 0.01} {
		for name, achieved := range map[string]func(rate, capacity float64) float64{
			"capacity": math.Min, "latency": func(rate, _ float64) float64 { return rate },
		} {
			random := rand.New(rand.NewPCG(1, 2))
			const searches, truth = 2000, 20_000
			low, high, width := 0, 0, 0.0
			for range searches {
				s := NewSearch(planOf(2_000*math.Pow(40, random.Float64()), 0.03, 2))
				for step, end := s.Next(); end == Unfinished; step, end = s.Next() {
					deviation := noise
					if step.Long {
						deviation /= math.Sqrt2
					}
					capacity := truth * (1 + deviation*random.NormFloat64())
					s.Take(Outcome{
						Stable: step.Rate <= capacity, AchievedRate: achieved(step.Rate, capacity),
					})
				}
				b := s.Bracket()
				width += b.Width()
				if b.UnstableRate < truth {
					low++
				}
				if b.StableRate > truth {
					high++
				}
			}
			t.Logf("%s, %.1f%%: %d too low, %d too high, %.1f%% wide",
				name, noise*100, low, high, width/searches*100)
			if (low+high)*20 > searches || max(low, high)*40 > searches {
				t.Errorf("%s, %.1f%%: %d of %d brackets are too low, %d too high",
					name, noise*100, low, searches, high)
			}
		}
	}
}

// A search that begins near the peak of a system that carries less under overload is shorter, and
// overloads the system less.
func TestSearchFromNearThePeakIsShort(t *testing.T) {
	trials, beyond := map[bool]int{}, map[bool]float64{}
	for _, near := range []bool{false, true} {
		for capacity := 8_000.0; capacity < 13_000; capacity += 100 {
			plan := planOf(9_000, 0.1, 0)
			plan.Near = near
			b, end, steps := answer(plan, model{capacity, func(rate float64) float64 {
				return min(rate, capacity*max(0.3, 1.5-rate/capacity/2))
			}, false})
			if end != Found || b.StableRate > capacity || b.UnstableRate < capacity {
				t.Fatalf("near: %t, %v: %s, %+v", near, capacity, end, b)
			}
			trials[near] += len(steps)
			for _, s := range steps {
				beyond[near] = max(beyond[near], s.Rate/capacity)
			}
		}
	}
	t.Logf("%d trials, up to %.2f of the peak; from near %d, up to %.2f", trials[false],
		beyond[false], trials[true], beyond[true])
	if 5*trials[true] > 4*trials[false] || beyond[true] > 1.3 {
		t.Errorf("%d trials from near, %d otherwise; up to %v of the peak", trials[true],
			trials[false], beyond[true])
	}
}

// Both ends are tried again later, not immediately, and a rate that was stable once and unstable
// once lies within the bracket.
func TestSearchTriesBothEndsAgain(t *testing.T) {
	s := NewSearch(planOf(10_000, 0.03, 2))
	var steps []Step
	for step, end := s.Next(); end == Unfinished; step, end = s.Next() {
		steps = append(steps, step)
		capacity := 20_000.0
		if step.Kind == Recheck {
			capacity = 22_000
		}
		s.Take(Outcome{Stable: step.Rate <= capacity, AchievedRate: min(step.Rate, capacity)})
	}
	b := s.Bracket()
	low := b.StableRate >= 19_000 && b.StableRate <= 20_000 && b.Confirmed == 2
	mixed := b.MixedRate > 20_000 && b.MixedRate < 20_700
	if !low || !mixed || b.UnstableRate < 22_000 || b.UnstableRuns < 2 {
		t.Errorf("%+v: %+v", b, steps)
	}
	for i, step := range steps {
		if step.Kind == Recheck && steps[i-1].Rate == step.Rate && steps[i-1].Kind == Guess {
			t.Errorf("trial %d is made again at once: %+v", i, steps)
		}
	}
}

// The last trial of a short search is not spent on an end far above, where the system was
// overwhelmed: between the ends it tells more, also where the machine or plimsoll itself may have
// made the end unstable. An end at which the system achieved nearly the offered rate is tried
// again. A longer search tries both of its ends again.
func TestSearchNarrowsRatherThanRechecksAFarEnd(t *testing.T) {
	p := planOf(25_000, 0.1, 0)
	p.MaxTrials = 5 // 25k, 50k, 100k and 200k, then below what that one achieved
	for _, doubtful := range []bool{false, true} {
		m := carries(140_000)
		m.doubtful = doubtful
		b, _, steps := answer(p, m)
		if last := steps[len(steps)-1]; len(steps) != 5 || last.Kind == Recheck ||
			b.StableRate < 135_000 {
			t.Errorf("in doubt: %t, %+v: %+v", doubtful, b, steps)
		}
		m.achieves = func(rate float64) float64 { return min(rate, 350_000) }
		if _, _, steps := answer(p, m); steps[len(steps)-1].Kind != Recheck {
			t.Errorf("in doubt: %t, %+v", doubtful, steps)
		}
	}
	p.MaxTrials = MostTrials
	if b, end, _ := answer(p, carries(140_000)); end != Found || b.UnstableRuns < 2 {
		t.Errorf("%v: %+v", end, b)
	}
}

// A start a few times too low is not answered with a rate that overwhelms the system.
func TestSearchClimbsInSmallStepsAtFirst(t *testing.T) {
	for near, most := range map[bool]float64{false: 16, true: 9} {
		for times := 1.0; times < most; times += 0.1 {
			p := planOf(10_000, 0.1, 0)
			p.Near = near
			_, _, steps := answer(p, carries(10_000*times))
			for _, s := range steps {
				if s.Rate > 2*10_000*times {
					t.Errorf("near: %t, a trial at %.0f of a capacity of %.0f", near, s.Rate,
						10_000*times)
				}
			}
		}
	}
}

// disproved returns a search in which 40k/s was unstable in doubt, and is about to be tried again.
func disproved(t *testing.T) *Search {
	t.Helper()
	s := NewSearch(planOf(10_000, 0.1, 0))
	for {
		step, end := s.Next()
		switch {
		case end != Unfinished:
			t.Fatalf("%s: %+v", end, s.Bracket())
		case step.Kind == Recheck:
			return s
		case step.Rate == 40_000:
			s.Take(Outcome{AchievedRate: 34_000, Doubtful: true})
		default:
			s.Take(Outcome{Stable: true, AchievedRate: step.Rate})
		}
	}
}

// When the limit is disproved the true one is looked for in small steps again, also if there was
// only time for the ends.
func TestSearchClimbsSlowlyFromADisprovedLimit(t *testing.T) {
	for _, hurried := range []bool{false, true} {
		s := disproved(t)
		if hurried {
			s.ConfirmOnly()
		}
		if step, _ := s.Next(); step.Rate != 40_000 {
			t.Fatalf("%+v", step)
		}
		s.Take(Outcome{Stable: true, AchievedRate: 40_000})
		if step, end := s.Next(); end != Unfinished || step.Rate <= 40_000 || step.Rate > 80_000 {
			t.Errorf("hurried: %t, %s, %+v", hurried, end, step)
		}
	}
}

// The time for the ends of a bracket is that of their trials, which are short without
// confirmations, and a trial at an end is one of them.
func TestTimeIsKeptForTheEndsAlone(t *testing.T) {
	s := disproved(t)
	f := &finder{Options: Options{Job: &bench.Job{Workload: &workload.Workload{}}, Plan: s.plan,
		Trial: 3 * time.Second, Confirm: 6 * time.Second, MaxTime: 10 * time.Second}, search: s,
		saved: &Saved{End: Unfinished, Trials: make([]Trial, 1)}}
	step, end := s.Next()
	if f.hurry(step, end) { // a recheck, and a trial above if that is stable
		t.Errorf("%s are too few for %+v", f.MaxTime, step)
	}
	f.MaxTime = 2*f.takes(false) - 1
	if !f.hurry(step, end) {
		t.Errorf("%s are enough for %+v", f.MaxTime, step)
	}
	if next, err := f.Next(); next != nil || err != nil || f.saved.End != OutOfTime {
		t.Errorf("%v, %v, %s", next, err, f.saved.End)
	}
	s.stretch = 2
	for _, long := range []bool{false, true} {
		if want := f.takes(long); long && f.needs(Step{Kind: Stretch, Long: true}) != want ||
			!long && f.needs(Step{Kind: Stretch}) != afterStretch*want {
			t.Errorf("a repetition in a longer window needs another time; long: %t", long)
		}
	}
}

// Once the bracket is narrow, an end that is far above because rates are mixed is in doubt until it
// has failed as often as planned.
func TestSearchDoubtsAFarEndOfANarrowBracket(t *testing.T) {
	s := NewSearch(planOf(25_000, 0.1, 0))
	s.stable = []float64{48_000, 100_000}
	s.above = []limit{{rate: 50_000, achieved: 49_000}, {rate: 200_000, achieved: 120_000}}
	s.missed = map[float64]int{50_000: 1, 200_000: 1}
	if !s.narrow() || !s.far(s.unstableEnd()) || !s.doubted() {
		t.Errorf("narrow: %t, far end at %v, in doubt: %t", s.narrow(), s.unstableEnd(), s.doubted())
	}
}
