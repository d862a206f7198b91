package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The CPU of a message is that of all servers and of plimsoll; servers inside plimsoll share its
// process.
func TestTheCPUOfAMessage(t *testing.T) {
	for name, c := range map[string]struct {
		servers   []string
		processes []result.ProcessUse
		want      float64 // ns; 0: not known
	}{
		"servers and plimsoll": {[]string{"n1", "n2"}, []result.ProcessUse{
			{Name: "n1", CPUSeconds: 3}, {Name: "n2", CPUSeconds: 5},
			{Name: result.Self, CPUSeconds: 2}}, 1e6},
		"another process": {[]string{"n1"}, []result.ProcessUse{
			{Name: "n1", CPUSeconds: 3}, {Name: "other", CPUSeconds: 90}}, 3e5},
		"servers in plimsoll": {[]string{result.Self}, []result.ProcessUse{
			{Name: result.Self, CPUSeconds: 4}}, 4e5},
		"a server was not observed": {[]string{"n1", "n2"}, []result.ProcessUse{
			{Name: "n1", CPUSeconds: 3}}, 0},
	} {
		// 10,000 messages in the observed window.
		r := &result.Run{Summary: result.Summary{AchievedRate: 1000},
			Observation: result.Observation{WindowNs: 10e9, Servers: c.servers,
				Processes: c.processes}}
		got, known := figure.NewCost(r).AllCPU()
		if known != (c.want > 0) || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v ns, known %v, want %v", name, got, known, c.want)
		}
	}
	if _, known := figure.NewCost(&result.Run{Workers: []result.Worker{{}},
		Summary: result.Summary{AchievedRate: 1000}, Observation: result.Observation{
			WindowNs: 10e9, Servers: []string{"n1"}, Processes: []result.ProcessUse{
				{Name: "n1", CPUSeconds: 3}, {Name: result.Self, CPUSeconds: 2}}}}).AllCPU(); known {
		t.Error("the CPU of a fleet's workers is known")
	}
	if _, known := figure.NewCost(&result.Run{
		Observation: result.Observation{WindowNs: 1e9}}).AllCPU(); known {
		t.Error("the CPU of no message is known")
	}
}

// A figure of a class is in no catalogue, and can be primary.
func TestAFigureOfAClassIsCompared(t *testing.T) {
	sides := []Side{sideOf("A", 1, 2, 3, 4, 5), sideOf("B", 16, 17, 18, 19, 20)}
	for _, side := range sides {
		for _, s := range side.Runs {
			publish := s.Run.Summary.Latency[0]
			publish.Series = result.OfClass(result.Publish, "order")
			s.Run.Classes = []result.Class{{Name: "order", Publish: publish}}
		}
	}
	f, err := figure.Find("order.publish.p99")
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(sides[0], sides[1], f)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Figures, func(e Effect) bool {
		return e.Figure.Name == f.Name && e.Tested()
	}) {
		t.Errorf("%+v", c)
	}
}

// A figure that runs of only one side have is not compared, whichever side that is.
func TestAFigureOfOneSideIsNotCompared(t *testing.T) {
	for _, lacks := range []int{0, 1} {
		sides := []Side{sideOf("A", 1, 2, 3, 4, 5), sideOf("B", 6, 7, 8, 9, 10)}
		sides[lacks].Runs[2].Run.Summary.Latency = nil
		c := mustCompare(t, sides[0], sides[1])
		for _, e := range c.Figures {
			if strings.HasPrefix(e.Figure.Name, "publish") {
				t.Errorf("side %d lacks %s: %+v", lacks, e.Figure.Name, e)
			}
		}
		if hints := strings.Join(c.Hints, "\n"); !strings.Contains(hints, "publish.p99 is not known") {
			t.Errorf("side %d lacks publish.p99, and the hints are %q", lacks, hints)
		}
	}
}

// plimsoll's own error hides a difference in either direction, up to three times the error.
func TestTheInstrumentHidesEitherDirection(t *testing.T) {
	at := func(ns float64) Center { return Center{Median: figure.Exactly(ns)} }
	for _, c := range []struct {
		a, b Center
		want bool
	}{
		{at(1000), at(1299), true}, {at(1000), at(1300), false},
		{at(1299), at(1000), true}, {at(1300), at(1000), false},
		{at(1000), at(1000), true},
		{Center{Median: between(1000, 1200)}, at(1400), true}, // at least 200 apart
		{at(1400), Center{Median: between(1000, 1100)}, false},
		{Center{Median: figure.Exactly(math.Inf(1))}, Center{Median: figure.Exactly(math.Inf(1))}, true},
		{at(1000), Center{Median: figure.Exactly(math.Inf(1))}, false},
	} {
		e := Effect{A: c.a, B: c.b, OwnError: 100}
		if got := e.blurred(); got != c.want {
			t.Errorf("%v and %v: hidden %v", c.a.Median, c.b.Median, got)
		}
	}
}

// Each figure has its own scatter within a run: that of a constant rate is small, and that of an
// unsteady received rate is not.
func TestEachRateHasItsOwnScatter(t *testing.T) {
	s := &result.Saved{Run: result.Run{Summary: result.Summary{WindowNs: 20e9, AchievedRate: 1000,
		ReceivedRate: 1000}}}
	for i := range int64(20) {
		s.Intervals = append(s.Intervals, result.Interval{StartNs: i * 1e9, EndNs: (i + 1) * 1e9,
			Phase: result.PhaseMeasure, Acked: 1000, Received: 800 + 400*(i/10)})
	}
	// Parts of the warm-up, and a short rest, are no intervals of the window.
	s.Intervals = append(s.Intervals,
		result.Interval{StartNs: 20e9, EndNs: 20.4e9, Phase: result.PhaseMeasure, Acked: 1},
		result.Interval{StartNs: 21e9, EndNs: 22e9, Phase: result.PhaseDrain, Acked: 1})
	for name, steady := range map[string]bool{"rate": true, "received": false} {
		w, ok := Of(s, figure.Named(name))
		if low, high := w.Interval(1000, 0.025); !ok || (high-low < 50) != steady {
			t.Errorf("%s: from %v to %v, known %v", name, low, high, ok)
		}
	}
	s.Intervals = s.Intervals[:fewestIntervals-1]
	if _, ok := Of(s, figure.Named("rate")); ok {
		t.Errorf("%d intervals tell a run's scatter", len(s.Intervals))
	}
}

// The uncertainty of a difference has that of both runs.
func TestSingleRunsAddTheirScatter(t *testing.T) {
	run := func(name string, scatter int64) Side {
		s := &result.Saved{Run: result.Run{ID: name, Name: name, State: result.Complete,
			Counters: result.Counters{Scheduled: 100, Acked: 100},
			Summary: result.Summary{WindowNs: 30e9, AchievedRate: 1000,
				Instrument: &result.Instrument{}}}}
		for i := range int64(30) {
			s.Intervals = append(s.Intervals, result.Interval{StartNs: i * 1e9,
				EndNs: (i + 1) * 1e9, Phase: result.PhaseMeasure,
				Acked: 1000 + scatter*((i*7)%5-2)})
		}
		return Side{Name: name, Runs: []*result.Saved{s}}
	}
	width := func(a, b Side) float64 {
		c, err := New(a, b, figure.Named("rate"))
		if err != nil {
			t.Fatal(err)
		}
		e := figureOf(t, c, "rate")
		return math.Log(e.High / e.Low)
	}
	calm, wild := run("A", 5), run("B", 100)
	c, err := New(calm, wild, figure.Named("rate"))
	if err != nil {
		t.Fatal(err)
	}
	e, rate := figureOf(t, c, "rate"), figure.Named("rate")
	ofA, _ := Of(calm.Runs[0], rate)
	ofB, _ := Of(wild.Runs[0], rate)
	low, high := join(ofA, ofB).Interval(e.Ratio, 0.025)
	if e.Low != low || e.High != high || e.B.Confidence != 0.95 || e.B.Low >= 1000 ||
		e.B.High <= 1000 || e.A.High-e.A.Low > 0.2*(e.B.High-e.B.Low) {
		t.Errorf("%+v, want %v to %v", e, low, high)
	}
	both, second, first := width(wild, wild), width(calm, wild), width(wild, calm)
	if min(first, second) < 0.5*both || max(first, second) > both {
		t.Errorf("log widths: %v of two wild runs, %v and %v of a calm and a wild one", both, first,
			second)
	}
	if alone := width(calm, calm); alone > 0.2*both {
		t.Errorf("log widths: %v of two wild runs, %v of two calm ones", both, alone)
	}
}

// Neighbours of a long run's intervals are put together, and no message is left out.
func TestIntervalsOfALongRunArePutTogether(t *testing.T) {
	for intervals, want := range map[int]int{1: 1, 240: 240, 241: 121, 480: 240, 481: 161} {
		g := newGroups(intervals)
		for i := range intervals {
			g.add(i, 5, 1)
			g.add(i, int64(100+i%2), 2)
		}
		var few, even, odd int64
		for _, i := range g.all {
			few, even, odd = few+i[5], even+i[100], odd+i[101]
		}
		if len(g.all) != want || few != int64(intervals) || even != 2*int64((intervals+1)/2) ||
			odd != 2*int64(intervals/2) {
			t.Errorf("%d intervals became %d with %d, %d and %d messages, want %d", intervals,
				len(g.all), few, even, odd, want)
		}
	}
}

// Very many different values do not take more memory than a bound: neighbours share a group, and no
// value is lost.
func TestGroupsAreBounded(t *testing.T) {
	const intervals, each = 300, 20_000
	g := newGroups(intervals)
	for i := range intervals {
		for v := range int64(each) {
			g.add(i, v, 1)
		}
	}
	total := int64(0)
	for _, group := range g.all {
		for _, n := range group {
			total += n
		}
	}
	if total != intervals*each || g.entries > mostEntries || len(g.all)*g.each < intervals {
		t.Errorf("%d values in %d groups of %d intervals, %d entries", total, len(g.all), g.each,
			g.entries)
	}
}

// The difference that could have been seen follows from the threshold of the figure's own test.
func TestFiguresHaveTheirShareOfTheLevel(t *testing.T) {
	c := Comparison{Primary: []string{"f0"}}
	for i := range 4 {
		c.Figures = append(c.Figures, Effect{Figure: figure.Figure{Name: "f" + string(rune('0'+i))},
			P: 0.5, Ratio: 2})
	}
	c.decide()
	for i, want := range []float64{level * primaryShare, level * (1 - primaryShare) / 3} {
		for _, e := range c.Figures[i : 1+3*i] {
			if math.Abs(e.alpha-want) > 1e-12 {
				t.Errorf("%s is tested at %v, want %v", e.Figure.Name, e.alpha, want)
			}
		}
	}
	if _, known := (Effect{P: math.NaN(), alpha: 0.05}).Detectable(); known {
		t.Error("a figure that was not tested could show a difference")
	}
	if _, known := (Effect{P: 0.5, scatter: scatter{se: 0.1, dof: 4}}).Detectable(); known {
		t.Error("a figure without a share of the level could show a difference")
	}
}

// A median of several runs is surer than one run, by Welch's method as a mean times the square root
// of half pi.
func TestSeveralRunsOfOneSideAreSurer(t *testing.T) {
	rate := figure.Named("rate")
	var runs []*result.Saved
	for range 4 {
		s := &result.Saved{Run: result.Run{Summary: result.Summary{WindowNs: 20e9,
			AchievedRate: 1000}}}
		for i := range int64(20) {
			s.Intervals = append(s.Intervals, result.Interval{StartNs: i * 1e9,
				EndNs: (i + 1) * 1e9, Phase: result.PhaseMeasure, Acked: 900 + 200*(i/10)})
		}
		runs = append(runs, s)
	}
	one, _ := Of(runs[0], rate)
	for n, want := range map[int]float64{2: one.se / math.Sqrt2,
		4: one.se / 2 * math.Sqrt(math.Pi/2)} {
		w, ok := together(runs[:n], rate)
		if !ok || math.Abs(w.se/want-1) > 1e-9 || w.dof != float64(n)*one.dof ||
			w.least != one.least || w.greatest != one.greatest {
			t.Errorf("%d runs: %+v, want a standard error of %v", n, w, want)
		}
	}
	runs[1].Intervals = nil
	if _, ok := together(runs, rate); ok {
		t.Error("the scatter is known, and that of one run is not")
	}
}

// A run whose refusals came in a burst may have any p99: nothing bounds the ratio on its side, and
// it is never shown to be the faster one.
func TestARunWithoutABoundIsNotShownToBeFaster(t *testing.T) {
	open := func(name string) Side {
		s := fates{refused: 9, slow: 5}.run(name, 1)
		for i := range s.Intervals {
			s.Intervals[i].Failed = 0
		}
		s.Intervals[7].Failed, s.Intervals[8].Failed = 135, 135
		return Side{Name: name, Runs: []*result.Saved{s}}
	}
	slow := func(name string) Side {
		return Side{Name: name, Runs: []*result.Saved{fates{slow: 400}.run(name, 2)}}
	}
	compared := func(a, b Side) Effect {
		c := Comparison{A: a, B: b, Within: true}
		e, _ := c.effect(figure.Named("publish.p99"))
		return e
	}
	if e := compared(slow("A"), open("B")); !math.IsInf(e.High, 1) || e.Low == 0 || e.P < 0.05 {
		t.Errorf("B is open: %v to %v, p %v", e.Low, e.High, e.P)
	}
	if e := compared(open("A"), slow("B")); math.IsInf(e.High, 1) || e.Low != 0 || e.P < 0.05 {
		t.Errorf("A is open: %v to %v, p %v", e.Low, e.High, e.P)
	}
}

// What could have been seen follows from the scatter: for nine in ten comparisons, with many degrees
// of freedom, 1.96 and 1.28 standard errors.
func TestTheDifferenceThatCouldHaveBeenSeen(t *testing.T) {
	e := Effect{P: 0.5, alpha: 0.05, A: Center{Median: figure.Exactly(1000)},
		scatter: scatter{se: 0.01, dof: 1e4}}
	share, known := e.Detectable()
	if want := math.Expm1(0.01 * (1.96 + 1.2816)); !known || math.Abs(share/want-1) > 0.02 {
		t.Errorf("%v, known %v, want %v", share, known, want)
	}
	e.OwnError = 20 // three times that is 6% of the median
	if share, _ := e.Detectable(); math.Abs(share-0.06) > 1e-9 {
		t.Errorf("%v beside plimsoll's own error, want 0.06", share)
	}
	byRanks := Effect{P: 0.5, alpha: 0.05, scatter: scatter{sd: 0.01, a: 6, b: 6}}
	share, known = byRanks.Detectable()
	byRanks.scatter.sd = 0.02
	twice, _ := byRanks.Detectable()
	// Six values against six of a normal distribution: about 2.2 standard deviations.
	if !known || share < 0.018 || share > 0.026 ||
		math.Abs(math.Log1p(twice)/math.Log1p(share)-2) > 1e-9 {
		t.Errorf("%v and, of twice the scatter, %v", share, twice)
	}
	for name, s := range map[string]scatter{"no scatter": {a: 6, b: 6},
		"too few runs": {sd: 0.01, a: 3, b: 3}} {
		e := Effect{P: 0.5, alpha: 0.05, scatter: s}
		if _, known := e.Detectable(); known {
			t.Errorf("%s: a difference could have been seen", name)
		}
	}
	// The scatter is pooled over both sides, and never less than the resolution.
	for _, c := range []struct {
		a, b spans
		want float64
	}{
		{spans{figure.Exactly(1), figure.Exactly(math.E)}, spans{figure.Exactly(5), figure.Exactly(5), figure.Exactly(5)},
			math.Hypot(math.Sqrt(0.5/3), resolution)},
		{spans{figure.Exactly(1)}, spans{figure.Exactly(5), figure.Exactly(5 * math.E)}, math.Hypot(math.Sqrt(0.5),
			resolution)},
		{spans{figure.Exactly(1)}, spans{figure.Exactly(5)}, 0},
		{spans{figure.Exactly(7), figure.Exactly(7)}, spans{figure.Exactly(5)}, resolution},
	} {
		if got := spread(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v and %v scatter by %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Gates with a lower bound fail below it, and not at it.
func TestGatesOfLowerBounds(t *testing.T) {
	rated := func(rates ...float64) Side {
		s := sideOf("B", 1, 2, 3, 4, 5)
		for i, v := range rates {
			s.Runs[i].Run.Summary.WindowNs, s.Runs[i].Run.Summary.AchievedRate = 1e9, v
			s.Runs[i].Run.Ledger.Subscriptions[0].Duplicate = int64(v) / 100
		}
		return s
	}
	for _, c := range []struct {
		b          Side
		gate, want string
	}{
		{rated(800, 801, 802, 803, 804), "rate < 900/s", "fails: rate is 802/s, at most 804/s"},
		{rated(900, 900, 900, 900, 900), "rate < 900/s", "passes: rate is 900/s"},
		{rated(1000, 1001, 1002, 1003, 1004), "rate < 900/s", "passes: rate is 1.002k/s"},
		{rated(850, 880, 890, 910, 950), "rate < 900/s", "scatter too much to be sure"},
		{rated(900, 900, 900, 900, 900), "rate > 900/s", "passes: rate is 900/s"},
		{rated(700, 300, 500, 900, 800), "duplicate < 4", "fails: duplicate is 3 in run B1"},
		{rated(700, 400, 500, 900, 800), "duplicate < 4", "passes: duplicate is 4 in run B1"},
	} {
		got, err := rule(t, sideOf("A", 1, 2, 3, 4, 5), c.b, c.gate)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, %v, want %s", c.gate, got, err, c.want)
		}
	}
}
