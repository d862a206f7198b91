package compare

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// drawnSet draws rounds of targets whose true figures are known.
type drawnSet struct {
	random *rand.Rand
	// of is the true publish p99 of each target, in us. End-to-end p99 is twice that.
	of    []float64
	noise float64 // standard deviation of a run's logarithms
	hour  float64 // that of what all targets of a round share
	shape func(*rand.Rand) float64
	runs  []*result.Saved
	goal  Goal
}

func drawSet(seed uint64, noise float64, of ...float64) *drawnSet {
	primary, err := FindPrimary(Primary)
	if err != nil {
		panic(err)
	}
	return &drawnSet{random: seeded(seed), of: of, noise: noise, hour: 0.1,
		shape: (*rand.Rand).NormFloat64,
		goal:  Goal{Share: 0.1, Primary: primary}}
}

// round adds a round, and returns what is known then.
func (p *drawnSet) round() *Known {
	p.add()
	return NewKnown(p.goal, p.runs)
}

// add adds a round.
func (p *drawnSet) add() {
	round := len(p.runs)/len(p.of) + 1
	shared := p.hour * p.random.NormFloat64()
	for i, us := range p.of {
		start := time.Unix(int64(round*len(p.of)+i)*60, 0)
		s := &result.Saved{Run: result.Run{
			ID: fmt.Sprintf("%d-%d", round, i), Name: fmt.Sprintf("t%d", i+1),
			State: result.Complete, StartedAt: start, EndedAt: start.Add(50 * time.Second),
			Trial: &result.Trial{Set: "set", Round: round, Target: i + 1, Targets: len(p.of),
				Until: p.goal.Share, Primary: Primary},
			Counters: result.Counters{Scheduled: 100, Acked: 100},
		}}
		for at, series := range []result.Series{result.Publish, result.EndToEnd} {
			log := shared + p.noise*p.shape(p.random)
			ns := us * 1000 * float64(at+1) * math.Exp(log)
			s.Run.Summary.Latency = append(s.Run.Summary.Latency, result.Latency{Series: series,
				Count: 1e4, Percentiles: []result.Percentile{{Percentile: 99,
					LatencyNs: int64(ns)}}})
		}
		p.runs = append(p.runs, s)
	}
}

// side returns the runs of a target.
func (p *drawnSet) side(target int) Side {
	s := Side{Name: fmt.Sprintf("t%d", target)}
	for _, r := range p.runs {
		if r.Run.Trial.Target == target {
			s.Runs = append(s.Runs, r)
		}
	}
	return s
}

func has(k *Known, r Relation) bool {
	return slices.ContainsFunc(k.Pairs, func(p KnownPair) bool { return p.Relation == r })
}

// In 100 sets of equal targets at most 5 have a pair that is called different, when somebody looks
// after each of 40 rounds and stops at the first such moment, however runs scatter. Tests of a fixed
// number of rounds, looked at as often, would call far more of them different.
func TestEqualTargetsAreSeldomCalledDifferent(t *testing.T) {
	simulates(t)
	const most = 40
	for _, c := range []struct {
		shape         string
		targets, sets int
	}{{"normal", 2, 400}, {"normal", 4, 100}, {"heavy tails", 2, 200}, {"two states", 2, 200},
		{"skewed", 2, 200}} {
		wrong, byFixed := 0, 0
		for set := range c.sets {
			p := drawSet(uint64(set), 0.05, slices.Repeat([]float64{1000}, c.targets)...)
			p.shape = shapes[c.shape]
			differ, fixed := false, false
			for round := 1; round <= most; round++ {
				k := p.round()
				differ = differ || has(k, Apart)
				for _, pair := range k.Pairs {
					w := pair.within
					w.sequential = false
					fixed = fixed || round >= LeastRounds &&
						w.p(pair.Ratio) < pairsLevel/float64(len(k.Pairs))
				}
			}
			if differ {
				wrong++
			}
			if fixed {
				byFixed++
			}
		}
		t.Logf("%d targets, %s: %d of %d sets called different, %d by tests of fixed sets",
			c.targets, c.shape, wrong, c.sets, byFixed)
		if float64(wrong) > 0.05*float64(c.sets) {
			t.Errorf("%d equal targets, %s: %d of %d sets called different", c.targets, c.shape,
				wrong, c.sets)
		}
		if c.shape == "normal" && float64(byFixed) < 0.1*float64(c.sets) {
			t.Errorf("tests of fixed sets are wrong in %d of %d only", byFixed, c.sets)
		}
	}
}

// outcome is how sets end.
type outcome struct{ rounds, apart, alike, precise, missed float64 }

// outcomes measures sets until they end, or for at most 40 rounds.
func outcomes(sets int, noise, times float64) (o outcome) {
	for set := range sets {
		p := drawSet(uint64(set), noise, 1000, 1000*times)
		p.hour = 0 // an interval covers what the rounds share only if it varies between them
		k := p.round()
		for !k.Ends() && k.Rounds < 40 {
			k = p.round()
		}
		count := func(into *float64, is bool) {
			if is {
				*into += 1 / float64(sets)
			}
		}
		o.rounds += float64(k.Rounds) / float64(sets)
		count(&o.apart, k.Decided() && has(k, Apart))
		count(&o.alike, k.Decided() && !has(k, Apart))
		count(&o.precise, k.Precise())
		count(&o.missed, slices.ContainsFunc(k.Figures, func(f KnownFigure) bool {
			truth := p.of[0]
			if f.Target == "t2" {
				truth = p.of[1]
			}
			if f.Figure.Series == result.EndToEnd {
				truth *= 2
			}
			return f.Center.Low > truth*1000 || f.Center.High < truth*1000
		}))
	}
	return o
}

// Sets end soon, and their intervals hold the truth: with four intervals, each wrong in at most 5
// of 100.
func TestSetsEndSoonAndHoldTheTruth(t *testing.T) {
	for _, c := range []struct{ noise, times, most float64 }{
		{0.02, 1, 6}, {0.02, 1.2, 6}, {0.05, 1, 12}, {0.05, 1.2, 9}, {0.2, 2, 11},
	} {
		o := outcomes(200, c.noise, c.times)
		if o.rounds > c.most {
			t.Errorf("noise %v, %v times: %.1f rounds, want %v", c.noise, c.times, o.rounds, c.most)
		}
		if o.missed > 0.2 {
			t.Errorf("noise %v, %v times: an interval is wrong in %v", c.noise, c.times, o.missed)
		}
		if c.times >= 1.2 && o.alike > 0.02 {
			t.Errorf("noise %v, %v times: called equal within 10%% in %v", c.noise, c.times,
				o.alike)
		}
	}
}

var untilTable = flag.Bool("until.table", false, "print how many rounds --until takes")

// Prints the table of docs/design/until.md.
func TestUntilTable(t *testing.T) {
	if !*untilTable {
		t.Skip("prints a table with -until.table")
	}
	fmt.Println("| noise | difference | rounds | differ | equal within 10% | fixed rounds |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, noise := range []float64{0.02, 0.05, 0.1, 0.2} {
		for _, times := range []float64{1, 1.05, 1.1, 1.2, 1.5, 2} {
			rounds, apart, alike := decided(1000, noise, times)
			fixed := "–"
			if apart > 0.5 {
				fixed = fmt.Sprint(fixedRounds(noise, times, apart))
			}
			fmt.Printf("| %.0f%% | %.0f%% | %.1f | %.1f%% | %.1f%% | %s |\n", 100*noise,
				100*(times-1), rounds, 100*apart, 100*alike, fixed)
		}
	}
}

// decided measures until each pair is decided, or for at most 40 rounds.
func decided(sets int, noise, times float64) (rounds, apart, alike float64) {
	for set := range sets {
		p := drawSet(uint64(set), noise, 1000, 1000*times)
		k := p.round()
		for !k.Decided() && k.Rounds < 40 {
			k = p.round()
		}
		rounds += float64(k.Rounds) / float64(sets)
		switch {
		case k.Decided() && has(k, Apart):
			apart += 1 / float64(sets)
		case k.Decided():
			alike += 1 / float64(sets)
		}
	}
	return rounds, apart, alike
}

// fixedRounds returns how many rounds a set of a fixed number needs to show a difference in both
// figures with the same probability.
func fixedRounds(noise, times, power float64) int {
	const sets = 1000
	for n := LeastRounds; n < 200; n++ {
		shown := 0.0
		for set := range sets {
			p := drawSet(uint64(set)+1e6, noise, 1000, 1000*times)
			for range n - 1 {
				p.add()
			}
			both := true
			for _, pair := range p.round().Pairs {
				w := pair.within
				w.sequential = false
				both = both && w.p(pair.Ratio) < pairsLevel/2
			}
			if both {
				shown += 1.0 / sets
			}
		}
		if shown >= power {
			return n
		}
	}
	return 200
}

// What a set lacks is foretold: about so many rounds later it ends.
func TestFurtherRoundsAreForetold(t *testing.T) {
	early, ratio := 0, 0.0
	const sets = 60
	for set := range sets {
		p := drawSet(uint64(set), 0.15, 1000, 1000)
		for range 7 {
			p.add()
		}
		k := p.round()
		if k.RoundNs != int64(2*time.Minute) {
			t.Fatalf("a round takes %v", time.Duration(k.RoundNs))
		}
		told := k.Rounds + k.More()
		for !k.Ends() {
			k = p.round()
		}
		if ratio += float64(k.Rounds) / float64(told) / sets; k.Rounds < told/2 {
			early++
		}
	}
	if ratio < 0.7 || ratio > 1.3 || early > sets/5 {
		t.Errorf("sets end after %.2f times as many rounds as foretold; %d of %d far earlier",
			ratio, early, sets)
	}
}

// Runs that are not ranked give no value, and the set says why.
func TestUnrankedRoundsGiveNoValue(t *testing.T) {
	p := drawSet(1, 0.01, 1000, 1200)
	p.hour = 0
	for range 6 {
		p.add()
	}
	for _, s := range p.side(2).Runs {
		s.Run.Summary.Generator.Limited = true
	}
	k := NewKnown(p.goal, p.runs)
	if len(k.Without) != 2 || !strings.Contains(k.Without[0].Why, "limited by plimsoll") ||
		len(k.Figures) != 2 || len(k.Pairs) != 0 || !k.Ends() {
		t.Errorf("%+v", k)
	}
	p.side(2).Runs[0].Run.Summary.Generator.Limited = false
	if k = NewKnown(p.goal, p.runs); k.Ends() || k.More() != Unforeseen {
		t.Errorf("one value: %d more rounds", k.More())
	}
	for _, s := range p.runs {
		s.Run.State = result.Failed
	}
	if k = NewKnown(p.goal, p.runs); !k.Ends() || len(k.Figures) > 0 {
		t.Errorf("no values: %+v", k)
	}
	// Overload leaves rates.
	p = drawSet(1, 0.01, 1000)
	p.hour = 0
	p.goal.Primary = append(p.goal.Primary, figure.Named("rate"))
	for range 6 {
		p.add()
	}
	for i, s := range p.runs {
		s.Run.Summary.AchievedRate, s.Run.Summary.WindowNs = 1000+float64(i), 1e9
		s.Run.Verdicts = []result.Verdict{{Name: verdict.Rate, Outcome: result.Broken}}
	}
	k = NewKnown(p.goal, p.runs)
	if len(k.Figures) != 1 || k.Figures[0].Figure.Name != "rate" || len(k.Without) != 0 ||
		!k.Ends() {
		t.Errorf("overloaded: %+v", k)
	}
}

// The comparison of a set that ended when it was known says the same as the set, with intervals
// that are wider than those of a fixed number of rounds.
func TestComparisonOfSequentialRounds(t *testing.T) {
	p := drawSet(3, 0.05, 1000, 1200)
	k := p.round()
	for !k.Ends() {
		k = p.round()
	}
	c := mustCompare(t, p.side(1), p.side(2))
	if !c.Sequential || c.Pairing != ByRound || !c.Figures[0].Shown {
		t.Fatalf("%+v", c)
	}
	e := c.Figures[0]
	if math.Abs(e.Ratio-k.Pairs[0].Ratio) > 1e-9 || k.Pairs[0].Relation != Apart ||
		math.Abs(e.A.Median.Least-k.Figures[0].Center.Median.Least) > 1e-6 {
		t.Errorf("%+v, known %+v", e, k.Pairs[0])
	}
	wide := e.High / e.Low
	gate := func() string {
		got, err := rule(t, p.side(1), p.side(2), "publish.p99 > 1.01x")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := gate(); !strings.HasPrefix(got, "fails") {
		t.Error(got)
	}
	// The last round may lack a target.
	p.add()
	short := p.side(2)
	short.Runs = short.Runs[:len(short.Runs)-1]
	c = mustCompare(t, p.side(1), short)
	if c.Pairing != ByRound || len(c.A.Runs) != len(short.Runs) ||
		!strings.Contains(strings.Join(c.Hints, ""), "left out: 1 of") {
		t.Errorf("%d runs against %d, %q", len(c.A.Runs), len(c.B.Runs), c.Hints)
	}
	// Two sets without pairs.
	other := drawSet(4, 0.05, 1500)
	for range 12 {
		other.add()
	}
	for _, s := range other.runs {
		s.Run.Trial.Set = "other"
	}
	c = mustCompare(t, p.side(1), other.side(1))
	if e := c.Figures[0]; c.Pairing != "" || !e.Shown || e.Low < 1.1 || e.High > 2.2 ||
		e.Paired {
		t.Errorf("two sets: %+v", e)
	}
	for _, s := range p.runs {
		s.Run.Trial.Until = 0
	}
	e = mustCompare(t, p.side(1), p.side(2)).Figures[0]
	if e.High/e.Low >= wide {
		t.Errorf("the interval of a fixed set is %v to %v", e.Low, e.High)
	}
}
