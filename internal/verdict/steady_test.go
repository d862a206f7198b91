package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

// moving returns a run whose latencies and CPU time per message are multiplied, in each second, by a
// factor that depends on the share of the window before it. One second resembles the next.
func moving(seed uint64, seconds int, factor func(at float64) float64) *result.Saved {
	s := &result.Saved{Run: *good()}
	s.Run.Load.Segments = []result.Segment{{From: 1000, To: 1000}}
	s.Run.Observation.Servers = []string{"n1", "n2"}
	random := rand.New(rand.NewPCG(seed, 3))
	publish, receive, cpu := newWander(random, 0.2), newWander(random, 0.2), newWander(random, 0.2)
	for i := range seconds {
		from, to := int64(i)*1e9, int64(i+1)*1e9
		at := factor((float64(i) + 0.5) / float64(seconds))
		tail := 0.0
		if random.Float64() < 0.05 { // a collection of garbage
			tail = 2 * random.Float64()
		}
		latency := func(s result.Series, ns float64, w *wander) result.Latency {
			return result.Latency{Series: s, Percentiles: []result.Percentile{
				{Percentile: 50, LatencyNs: int64(ns * at * math.Exp(0.03*w.next()))},
				{Percentile: 99, LatencyNs: int64(4 * ns * at * math.Exp(0.08*w.next()+tail))}}}
		}
		s.Intervals = append(s.Intervals, result.Interval{Phase: result.PhaseMeasure, StartNs: from,
			EndNs: to, Acked: 1000, Latency: []result.Latency{
				latency(result.Publish, 1e6, publish), latency(result.EndToEnd, 2e6, receive)}})
		used := 0.1 * at * math.Exp(0.03*cpu.next())
		s.Resources = append(s.Resources, result.Resources{Phase: result.PhaseMeasure,
			StartNs: from, EndNs: to, Processes: []result.ProcessUse{
				{Name: "n1", CPUSeconds: used}, {Name: "n2", CPUSeconds: 2 * used},
				{Name: result.Self, CPUSeconds: 0.5}}})
	}
	return s
}

func steadyOf(s *result.Saved) result.Verdict {
	JudgeSaved(s)
	for _, v := range s.Run.Verdicts {
		if v.Name == Steady {
			return v
		}
	}
	return result.Verdict{}
}

// Of 20 runs that move by a fifth or more, however they do it, at least 19 are broken and are not
// ranked.
func TestWindowsThatMoveAreNotSteady(t *testing.T) {
	for name, c := range map[string]struct {
		factor func(at float64) float64
		word   string
	}{
		"exponential":   {func(at float64) float64 { return 1 + 2*math.Exp(-8*at) }, Cold},
		"the beginning": {func(at float64) float64 { return 1 + 19*math.Exp(-40*at) }, Cold},
		"slope down":    {func(at float64) float64 { return 1.22 - 0.22*at }, Cold},
		"slope up":      {func(at float64) float64 { return 1 + 0.25*at }, drifting},
		"steps": {func(at float64) float64 {
			return 1.5 - 0.25*math.Floor(2.99*at)
		}, Cold},
		"a step near the end": {func(at float64) float64 {
			if at < 0.8 {
				return 1
			}
			return 1.3
		}, drifting},
		"falls, and rises again": {func(at float64) float64 {
			return 1 + 0.4*math.Abs(2*at-0.8)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			broken := 0
			for seed := range uint64(seeds) {
				s := moving(seed, 60, c.factor)
				v := steadyOf(s)
				if v.Outcome != result.Broken {
					t.Logf("seed %d: %+v", seed, v)
					continue
				}
				broken++
				of, why := RankingOf(&s.Run)
				if of != Unranked || why.Code != Steady || c.word != "" && why.Sentence != c.word {
					t.Errorf("ranked %v, %+v: %s", of, why, v.Sentence)
				}
			}
			if broken < seeds-1 {
				t.Errorf("%d of %d are broken", broken, seeds)
			}
		})
	}
}

// Runs that stay where they are, are called unsteady in at most 5 of 100, all figures together.
func TestWindowsThatStayAreSteady(t *testing.T) {
	const runs = 300
	for _, seconds := range []int{10, 20, 30, 60, 200} {
		broken := 0
		for seed := range uint64(runs) {
			v := steadyOf(moving(1000+seed, seconds, func(float64) float64 { return 1 }))
			if v.Outcome == result.Broken {
				broken++
			} else if v.Outcome != result.Holds || strings.Count(v.Sentence, ",") != 4 {
				t.Fatalf("%+v", v)
			}
		}
		t.Logf("%d seconds: %d of %d are broken", seconds, broken, runs)
		if broken > runs*5/100 {
			t.Errorf("%d seconds: %d of %d are broken", seconds, broken, runs)
		}
	}
}

// Each figure alone makes a run unsteady.
func TestEachFigureIsWatched(t *testing.T) {
	falls := func(s *result.Saved, change func(i int, factor float64)) *result.Saved {
		for i := range s.Intervals {
			change(i, 1+math.Exp(-float64(i)/5))
		}
		return s
	}
	for want, change := range map[string]func(s *result.Saved, i int, factor float64){
		"publish p50 fell from": func(s *result.Saved, i int, factor float64) {
			scale(&s.Intervals[i].Latency[0].Percentiles[0].LatencyNs, factor)
		},
		"publish p99 fell from": func(s *result.Saved, i int, factor float64) {
			scale(&s.Intervals[i].Latency[0].Percentiles[1].LatencyNs, factor)
		},
		"end-to-end p50 fell from": func(s *result.Saved, i int, factor float64) {
			scale(&s.Intervals[i].Latency[1].Percentiles[0].LatencyNs, factor)
		},
		"end-to-end p99 fell from": func(s *result.Saved, i int, factor float64) {
			scale(&s.Intervals[i].Latency[1].Percentiles[1].LatencyNs, factor)
		},
		"the servers' CPU time per message fell from": func(s *result.Saved, i int, factor float64) {
			s.Resources[i].Processes[1].CPUSeconds *= factor
		},
	} {
		s := moving(5, 40, func(float64) float64 { return 1 })
		v := steadyOf(falls(s, func(i int, factor float64) { change(s, i, factor) }))
		if v.Outcome != result.Broken || !strings.HasPrefix(v.Sentence, "cold: "+want) ||
			strings.Contains(v.Sentence, ";") {
			t.Errorf("%s: %+v", want, v)
		}
	}
}

// A pause of the system, in which nothing is answered, hides no change of the others.
func TestAnIntervalWithoutAnAnswerIsLeftOut(t *testing.T) {
	s := moving(5, 60, func(at float64) float64 { return 1 + 0.5*at })
	gap := &s.Intervals[30]
	gap.Acked = 0
	for i := range gap.Latency {
		gap.Latency[i].Percentiles = nil
	}
	v := steadyOf(s)
	for _, want := range []string{"publish p50 rose", "end-to-end p50 rose",
		"CPU time per message rose"} {
		if v.Outcome != result.Broken || !strings.Contains(v.Sentence, want) {
			t.Errorf("%q is not in %+v", want, v)
		}
	}
}

// Where a second has too few messages for p99, the next lower percentile that each second supports
// is watched in its place.
func TestTheTailOfFewMessagesIsWatched(t *testing.T) {
	for _, p := range []float64{95, 75} {
		s := moving(5, 40, func(float64) float64 { return 1 })
		for i := range s.Intervals {
			for k := range s.Intervals[i].Latency {
				tail := &s.Intervals[i].Latency[k].Percentiles[1]
				if k == 0 {
					scale(&tail.LatencyNs, 1+math.Exp(-float64(i)/5))
				}
				if i%2 == 0 { // the others have p99 too
					tail.Percentile = p
					continue
				}
				s.Intervals[i].Latency[k].Percentiles = append(s.Intervals[i].Latency[k].Percentiles,
					result.Percentile{Percentile: p, LatencyNs: tail.LatencyNs})
			}
		}
		v := steadyOf(s)
		if want := fmt.Sprintf("cold: publish p%.0f fell from", p); v.Outcome != result.Broken ||
			!strings.HasPrefix(v.Sentence, want) || strings.Contains(v.Sentence, ";") {
			t.Errorf("want %q: %+v", want, v)
		}
	}
}

func scale(ns *int64, factor float64) { *ns = int64(float64(*ns) * factor) }

// What changes on purpose, or cannot be seen, is not judged.
func TestSteadyIsUnknown(t *testing.T) {
	for name, change := range map[string]func(s *result.Saved){
		"faults":   func(s *result.Saved) { s.Run.Faults = []result.Fault{{}} },
		"a curve":  func(s *result.Saved) { s.Run.Load.Segments[0].To = 5000 },
		"steps":    func(s *result.Saved) { s.Run.Load.Segments = []result.Segment{{From: 1, To: 1}, {From: 2, To: 2}} },
		"backlog":  func(s *result.Saved) { s.Run.Backlog = &result.Backlog{} },
		"scaling":  func(s *result.Saved) { s.Run.Scaling = []result.ScaleStep{{Consumers: 1}, {Consumers: 2}} },
		"too few":  func(s *result.Saved) { s.Intervals, s.Resources = s.Intervals[:7], s.Resources[:7] },
		"imported": func(s *result.Saved) { s.Run.Imported = new(result.Import) },
	} {
		s := moving(1, 30, func(at float64) float64 { return 2 - at })
		change(s)
		if v := steadyOf(s); v.Outcome == result.Broken || v.Outcome == result.Holds {
			t.Errorf("%s: %+v", name, v)
		}
		if of, why := RankingOf(&s.Run); of == Unranked && why.Code == Steady {
			t.Errorf("%s is not ranked: %+v", name, why)
		}
	}
}

// Servers that spend much of their time on compiling their code are cold, also where nothing moves
// within the window.
func TestServersThatCompileAreCold(t *testing.T) {
	for name, c := range map[string]struct {
		share, cores float64
		cold         bool
	}{
		"much":            {0.4, 1, true},
		"little":          {0.2, 1, false},
		"servers at rest": {0.4, 0.1, false},
	} {
		s := moving(1, 30, func(float64) float64 { return 1 })
		const window = 30e9
		ns := int64(c.share * c.cores * window)
		s.Run.Observation.WindowNs = window
		s.Run.Observation.Processes = []result.ProcessUse{
			{Name: "n1", CPUSeconds: c.cores * window / 1e9 / 2, CompileNs: &ns},
			{Name: "n2", CPUSeconds: c.cores * window / 1e9 / 2},
			{Name: result.Self, CPUSeconds: 30}}
		v := steadyOf(s)
		if (v.Outcome == result.Broken) != c.cold {
			t.Errorf("%s: %+v", name, v)
		}
		if of, why := RankingOf(&s.Run); c.cold && (of != Unranked || why.Sentence != Cold) {
			t.Errorf("%s: %v, %+v", name, of, why)
		}
	}
}

// A run that was overloaded moves because its queues grow: its rates are ranked, unless its servers
// spent the window on compiling their code.
func TestOverloadIsNotCalledCold(t *testing.T) {
	s := moving(1, 30, func(at float64) float64 { return 1 + 20*at })
	s.Run.Summary.OfferedRate, s.Run.Summary.AchievedRate = 1000, 700
	JudgeSaved(s)
	if of, why := RankingOf(&s.Run); of != RatesRanked {
		t.Errorf("%v, %+v", of, why)
	}
	ns := int64(12e9)
	s.Run.Observation.WindowNs, s.Run.Observation.Servers = 30e9, []string{"n1"}
	s.Run.Observation.Processes = []result.ProcessUse{{Name: "n1", CPUSeconds: 30, CompileNs: &ns}}
	JudgeSaved(s)
	if of, why := RankingOf(&s.Run); of != Unranked || why.Sentence != Cold {
		t.Errorf("compiling: %v, %+v", of, why)
	}
}
