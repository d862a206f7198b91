package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// sideOf returns a set of runs with these publish p99s, in microseconds.
func sideOf(name string, p99s ...float64) Side {
	s := Side{Name: name}
	for i, v := range p99s {
		s.Runs = append(s.Runs, &result.Saved{Run: result.Run{
			ID: name + string(rune('0'+i)), Name: name, State: result.Complete,
			Counters: result.Counters{Scheduled: 100, Acked: 100},
			Ledger: result.Ledger{Accounted: true,
				Subscriptions: []result.SubscriptionLedger{{Acked: 100, Received: 100}}},
			Summary: result.Summary{Instrument: &result.Instrument{},
				Latency: []result.Latency{{Series: result.Publish, Count: 1000,
					Percentiles: []result.Percentile{
						{Percentile: 99, LatencyNs: int64(v * 1000)}}}}},
		}})
	}
	return s
}

func drawn(t *rapid.T, name string) []float64 {
	return rapid.SliceOfNDistinct(rapid.Float64Range(1, 1000), 4, 9,
		func(v float64) int64 { return int64(v * 1000) }).Draw(t, name)
}

// Exchanging A and B inverts the result; and the interval excludes 1 exactly when the test rejects
// equality.
func TestComparisonsAreSymmetricAndAgreeWithTheTest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := drawn(rt, "a"), drawn(rt, "b")
		if slices.ContainsFunc(a, func(v float64) bool {
			return slices.ContainsFunc(b,
				func(u float64) bool { return int64(u*1000) == int64(v*1000) })
		}) {
			rt.Skip("ties are approximate")
		}
		ab, ba := mustCompare(t, sideOf("A", a...), sideOf("B", b...)).Figures[0], mustCompare(t,
			sideOf("B", b...), sideOf("A", a...)).Figures[0]
		if math.Abs(ab.Ratio*ba.Ratio-1) > 1e-9 || math.Abs(ab.P-ba.P) > 1e-12 ||
			ab.Shown != ba.Shown || math.Abs(ab.Low*ba.High-1) > 1e-9 {
			rt.Fatalf("A to B %+v\nB to A %+v", ab, ba)
		}
		if out := ab.Low > 1 || ab.High < 1; out != (ab.P <= 0.05) {
			rt.Fatalf("the interval is %v to %v and p %v", ab.Low, ab.High, ab.P)
		}
		if ab.Low > ab.Ratio || ab.Ratio > ab.High ||
			ab.A.Low > ab.A.Median.Least || ab.A.Median.Most > ab.A.High {
			rt.Fatalf("an estimate outside its interval: %+v", ab)
		}
	})
}

// Known values: Mann-Whitney of 5 against 5 without overlap has p = 2/252.
func TestKnownComparison(t *testing.T) {
	e := mustCompare(t, sideOf("A", 100, 101, 102, 103, 104),
		sideOf("B", 110, 111, 112, 113, 114)).Figures[0]
	if math.Abs(e.P-2.0/252) > 1e-12 || !e.Shown ||
		e.A.Median != figure.Exactly(102_000) || e.B.Median != figure.Exactly(112_000) {
		t.Errorf("%+v", e)
	}
	if math.Abs(e.Ratio-112.0/102) > 1e-3 || math.Abs(e.A.Confidence-0.9375) > 1e-9 {
		t.Errorf("%+v", e)
	}
}

func TestTooFewRunsAreSaidToBe(t *testing.T) {
	alone := func(t *testing.T, name string, runs int) Side {
		return sideOf(name, []float64{100, 101, 102, 103, 104, 105, 106, 107}[:runs]...)
	}
	all := func(t *testing.T, name string, runs int) Side {
		s := simulated{random: seeded(1), between: 0.05, seconds: 60}
		return s.side(name, runs, 1)
	}
	for _, c := range []struct {
		a, b int
		side func(t *testing.T, name string, runs int) Side
		want string
	}{
		{3, 3, alone,
			"3 runs against 3 are too few to show any difference: their least possible p is 0.1, " +
				"and 0.05 is needed: take at least 4 of each"},
		{2, 5, alone, "too few to show any difference"},
		{4, 4, alone, ""},
		{1, 5, alone, "a side has a single run"},
		{1, 1, alone, "the runs are also too short for intervals within a run"},
		{4, 4, all, "4 runs against 4 are too few to show any difference: their least possible p " +
			"is 0.029, and 0.02 is needed: take at least 5 of each"},
		{5, 5, all, "5 runs against 5 can show differences of other figures only if publish.p99 " +
			"and e2e.p99 differ: take at least 7 of each to show them by themselves"},
		{7, 7, all, ""},
	} {
		got := strings.Join(mustCompare(t, c.side(t, "A", c.a), c.side(t, "B", c.b)).Hints, "\n")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d against %d: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestWhoMayShowADifference(t *testing.T) {
	for name, c := range map[string]struct {
		primary int
		p       []float64 // the primary ones' first
		want    string    // 1: shown
	}{
		"nothing":                         {1, []float64{0.5, 0.5, 0.5}, "000"},
		"the primary":                     {1, []float64{0.04, 0.5, 0.5}, "100"},
		"just not":                        {1, []float64{0.041, 0.5, 0.5}, "000"},
		"the primary passes its share on": {1, []float64{0.03, 0.025, 0.05}, "111"},
		"Holm stops at the first":         {1, []float64{0.03, 0.026, 0.026}, "100"},
		"another without the primary":     {1, []float64{0.5, 0.005, 0.5}, "010"},
		"another, just not":               {1, []float64{0.5, 0.0051, 0.5}, "000"},
		"all others pass theirs back":     {1, []float64{0.05, 0.005, 0.01}, "111"},

		"the second primary by itself":         {2, []float64{0.5, 0.02, 0.5, 0.5}, "0100"},
		"the second, just not":                 {2, []float64{0.5, 0.021, 0.5, 0.5}, "0000"},
		"the one passes its half to the other": {2, []float64{0.04, 0.02, 0.5, 0.5}, "1100"},
		"one alone passes nothing to others":   {2, []float64{0.5, 0.001, 0.006, 0.5}, "0100"},
		"both pass all of it on":               {2, []float64{0.04, 0.02, 0.025, 0.05}, "1111"},
		"others pass all of theirs to both":    {2, []float64{0.05, 0.025, 0.005, 0.01}, "1111"},
		"no primary was tested": {2, []float64{math.NaN(), math.NaN(), 0.025, 0.05},
			"0011"},
		"one primary was not tested": {2, []float64{math.NaN(), 0.04, 0.5, 0.5}, "0100"},
		"no others":                  {2, []float64{0.05, 0.025}, "11"},
	} {
		t.Run(name, func(t *testing.T) {
			com := Comparison{}
			for i, p := range c.p {
				f := figure.Figure{Name: "f" + string(rune('0'+i))}
				com.Figures = append(com.Figures, Effect{Figure: f, P: p, Ratio: 2})
				if i < c.primary {
					com.Primary = append(com.Primary, f.Name)
				}
			}
			com.decide()
			got := ""
			for _, e := range com.Figures {
				got += map[bool]string{true: "1", false: "0"}[e.Shown]
			}
			if got != c.want {
				t.Errorf("shown %s, want %s", got, c.want)
			}
		})
	}
}

// A difference below the figures' resolution is never shown, however certain.
func TestNothingBelowTheResolutionIsShown(t *testing.T) {
	a := sideOf("A", 10_000.1, 10_000.2, 10_000.3, 10_000.4, 10_000.5)
	b := sideOf("B", 10_001.1, 10_001.2, 10_001.3, 10_001.4, 10_001.5)
	if e := mustCompare(t, a, b).Figures[0]; e.Shown || e.P > 0.04 {
		t.Errorf("%+v", e)
	}
}

func TestObjections(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result.Run)
		want   string
	}{
		"nothing":    {func(*result.Run) {}, ""},
		"durability": {func(r *result.Run) { r.Durability.Level = 2 }, "durability differs"},
		"model":      {func(r *result.Run) { r.Load.Model = "closed" }, "model"},
		"rate":       {func(r *result.Run) { r.Load.TargetRate = 5 }, "rate"},
		"generator": {func(r *result.Run) { r.Summary.Generator.Limited = true },
			"of these 4 runs 1 were limited by plimsoll itself"},
	} {
		a, b := sideOf("A", 1, 2), sideOf("B", 1, 2)
		c.change(&b.Runs[1].Run)
		got := Objects(a, b).String()
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The same runs give the same answer, also with random resampling.
func TestComparisonsRepeat(t *testing.T) {
	sides := func() (Side, Side) {
		s := simulated{random: seeded(3), within: 0.05, memory: 0.5, seconds: 20, messages: 150}
		return s.side("A", 1, 1), s.side("B", 1, 1.05)
	}
	compared := func() *Comparison {
		a, b := sides()
		return mustCompare(t, a, b)
	}
	first, second := compared(), compared()
	for i := range first.Figures {
		if f, s := first.Figures[i], second.Figures[i]; f.Low != s.Low || f.High != s.High ||
			f.P != s.P {
			t.Errorf("%s: %+v, then %+v", f.Figure.Name, f, s)
		}
	}
}

// The interval of repeated figures is Student's on the logarithms: with Welch's degrees of freedom
// of two samples of equal scatter, 4, it reaches 2.776 standard errors to each side. At the first of
// several looks, with an error of 2.5 in 100, it reaches 3.495, and at the second, with one of 0.83
// in 100, 4.851.
func TestRepeatedFigures(t *testing.T) {
	e := math.Exp
	a := []float64{100 * e(-0.1), 100, 100 * e(0.1)}
	b := []float64{200 * e(-0.1), 200, 200 * e(0.1)}
	for look, errors := range []float64{2.776, 3.495, 4.851} {
		r := Repeated(a, b, look, stats.Scatter{})
		wide := errors * math.Sqrt(2*0.1*0.1/3)
		for _, v := range []struct{ got, want float64 }{{r.Ratio, 2}, {r.Low, 2 * e(-wide)},
			{r.High, 2 * e(wide)}} {
			if math.Abs(v.got/v.want-1) > 1e-3 {
				t.Errorf("look %d: %g, want %g", look, v.got, v.want)
			}
		}
	}
	if r := Repeated(a[:1], b, 0, stats.Scatter{}); math.Abs(r.Ratio-2*e(0.1)) > 1e-9 ||
		r.Low != 0 || r.High != 0 || r.Further(1) != 0 {
		t.Errorf("%+v", r)
	}
}

// Two samples of three values, of a standard deviation of 0.1, are known to within 0.1 after six
// more of each: nine reach 2.120 times 0.1*sqrt(2/9), and eight 2.145 times 0.1*sqrt(2/8). If each
// is looked at, it takes more. Ratios have half of the degrees of freedom.
func TestFurtherRounds(t *testing.T) {
	sample := []float64{math.Exp(-0.1), 1, math.Exp(0.1)}
	once := Repeated(sample, sample, 0, stats.Scatter{})
	looked := Repeated(sample, sample, 1, stats.Scatter{})
	ratios := RepeatedRatios(sample, 0, stats.Scatter{})
	for _, c := range []struct {
		name  string
		r     RoundRatio
		reach float64
		want  int
	}{
		{"near", once, 0.1, 6}, {"nearer", once, 0.2, 1}, {"far", once, 0.0001, MostFurther},
		{"at the value", once, 0, MostFurther}, {"looked at", looked, 0.1, 38},
		{"ratios", ratios, 0.1, 4},
	} {
		if got := c.r.Further(c.reach); got != c.want {
			t.Errorf("%s: %d further rounds, want %d", c.name, got, c.want)
		}
	}
}

// A run with known messages per core of every second has an interval around the figure.
func TestMessagesPerCoreWithinARun(t *testing.T) {
	s := &result.Saved{Run: result.Run{Observation: result.Observation{
		Servers: []string{"n1", "n2"}, MsgsPerCoreSecond: 1_000}}}
	for i := range int64(20) {
		start, phase := i*1e9, result.PhaseMeasure
		s.Intervals = append(s.Intervals, result.Interval{StartNs: start, EndNs: start + 1e9,
			Phase: phase, Acked: 500 + 10*(i%5)})
		s.Resources = append(s.Resources, result.Resources{StartNs: start + 1e6,
			EndNs: start + 1e9 + 1e6, Phase: phase, Processes: []result.ProcessUse{
				{Name: "n1", CPUSeconds: 0.3}, {Name: "n2", CPUSeconds: 0.2},
				{Name: result.Self, CPUSeconds: 0.4}}})
	}
	f := figure.Named(figure.PerCore)
	w, ok := Of(s, f)
	low, high := w.Interval(1_040, (1-confidence)/2)
	if !ok || low < 1_000 || low >= 1_040 || high <= 1_040 || high > 1_080 {
		t.Error(ok, low, high)
	}
	s.Resources = s.Resources[1:]
	if _, ok := Of(s, f); ok {
		t.Error("a second without resources has no figure")
	}
}

// overload makes every run of a side acknowledge less than was offered.
func overload(s Side) Side {
	for _, r := range s.Runs {
		r.Run.Summary.WindowNs, r.Run.Summary.OfferedRate = 1e10, 2700
		r.Run.Summary.AchievedRate = 2300
		r.Run.Verdicts = append(r.Run.Verdicts, result.Verdict{Name: verdict.Rate,
			Outcome: result.Broken, Sentence: "2.7k/s was offered and 2.3k/s acknowledged in time"})
	}
	return s
}

// Of overloaded runs the rates are compared, and the latencies are not.
func TestOverloadedRunsAreComparedByTheirRatesOnly(t *testing.T) {
	a, b := overload(sideOf("A", 100, 101, 102, 103, 104)), overload(sideOf("B", 118, 119, 120,
		121, 122))
	objections := Objects(a, b)
	latency, rate := figure.Named("publish.p99"), figure.Named("rate")
	if got := objections.To([]figure.Figure{latency, rate}).String(); !strings.Contains(got,
		"of these 10 runs 10 were overloaded (2.7k/s was offered and 2.3k/s acknowledged") {
		t.Errorf("latencies: %q", got)
	}
	if got := objections.To([]figure.Figure{rate}); len(got) > 0 {
		t.Errorf("rates: %q", got)
	}
	c, err := NewRates(a, b, latency)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Figures) == 0 || c.Figures[0].Figure.Name != "rate" || c.Primary[0] != "rate" {
		t.Errorf("%v, %+v", c.Primary, c.Figures)
	}
	for _, e := range c.Figures {
		if e.Figure.IsLatency() {
			t.Errorf("%s is compared", e.Figure.Name)
		}
	}
}

// Trials come in the order of plimsoll run, also when a round began with another target.
func TestRunsAreGroupedByTarget(t *testing.T) {
	run := func(name string, target int) *result.Saved {
		return &result.Saved{Run: result.Run{Name: name, Trial: &result.Trial{Target: target}}}
	}
	got := ByTarget([]*result.Saved{run("b", 1), run("a", 0), run("a", 0), run("b", 1)})
	if len(got) != 2 || got[0].Name != "a" || got[1].Name != "b" || len(got[0].Runs) != 2 {
		t.Errorf("%+v", got)
	}
}
