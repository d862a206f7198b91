package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func TestPairing(t *testing.T) {
	trial := func(s Side, set string, rounds ...int) {
		for i, r := range s.Runs {
			r.Run.Trial = &result.Trial{Set: set, Round: rounds[i]}
		}
	}
	seeded := func(arrivals string, s Side, seeds ...uint64) {
		for i, r := range s.Runs {
			r.Run.Seed, r.Run.Load.Arrivals = seeds[i], arrivals
		}
	}
	for name, c := range map[string]struct {
		change func(a, b Side)
		want   Pairing
		first  string // that the first run of A is paired with
	}{
		"no trials":              {func(a, b Side) {}, "", ""},
		"the same rounds":        {func(a, b Side) { trial(a, "s", 1, 2, 3, 4); trial(b, "s", 4, 3, 2, 1) }, ByRound, "B3"},
		"another round":          {func(a, b Side) { trial(a, "s", 1, 2, 3, 4); trial(b, "s", 5, 3, 2, 1) }, "", ""},
		"another set":            {func(a, b Side) { trial(a, "s", 1, 2, 3, 4); trial(b, "u", 1, 2, 3, 4) }, "", ""},
		"a round twice":          {func(a, b Side) { trial(a, "s", 1, 2, 3, 3); trial(b, "s", 1, 2, 3, 3) }, "", ""},
		"one not of the set":     {func(a, b Side) { trial(a, "s", 1, 2, 3, 4); trial(b, "s", 1, 2, 3, 4); b.Runs[0].Run.Trial = nil }, "", ""},
		"random loads":           {func(a, b Side) { seeded("poisson", a, 1, 2, 3, 4); seeded("poisson", b, 2, 1, 4, 3) }, BySeed, "B1"},
		"one trace":              {func(a, b Side) { seeded("poisson", a, 1, 1, 1, 1); seeded("poisson", b, 1, 1, 1, 1) }, "", ""},
		"the seed means nothing": {func(a, b Side) { seeded("constant", a, 1, 2, 3, 4); seeded("constant", b, 1, 2, 3, 4) }, "", ""},
	} {
		a, b := sideOf("A", 1, 2, 3, 4), sideOf("B", 5, 6, 7, 8)
		c.change(a, b)
		com := mustCompare(t, a, b)
		if com.Pairing != c.want || com.Figures[0].Paired != (c.want != "") {
			t.Errorf("%s: paired by %q, want %q", name, com.Pairing, c.want)
		}
		if c.first != "" && com.pairs[0].Run.ID != c.first {
			t.Errorf("%s: the first is paired with %s, want %s", name, com.pairs[0].Run.ID, c.first)
		}
	}
	// Three pairs are too few, and four are said to be enough.
	a, b := sideOf("A", 1, 2, 3), sideOf("B", 5, 6, 7)
	trial(a, "s", 1, 2, 3)
	trial(b, "s", 1, 2, 3)
	if c := mustCompare(t, a, b); c.Pairing != "" || !strings.Contains(strings.Join(c.Hints, ""), "take at least 4 of each") {
		t.Errorf("three pairs: %q, %q", c.Pairing, c.Hints)
	}
}

// Known values: of the logarithms of 1.1 to 1.5 the mean is 4.6769 standard errors,
// which Student's distribution with 4 degrees of freedom puts at a p of 0.00947.
func TestKnownPairs(t *testing.T) {
	a, b := sideOf("A", 100, 200, 300, 400, 500), sideOf("B", 110, 240, 390, 560, 750)
	for i := range a.Runs {
		a.Runs[i].Run.Trial, b.Runs[i].Run.Trial = &result.Trial{Set: "s", Round: i}, &result.Trial{Set: "s", Round: i}
	}
	e := mustCompare(t, a, b).Figures[0]
	want := math.Pow(1.1*1.2*1.3*1.4*1.5, 0.2)
	if math.Abs(e.Ratio-want) > 1e-9 || !e.Shown || e.Low > want || e.High < want {
		t.Errorf("%+v, want a ratio of %v", e, want)
	}
	if math.Abs(e.P-0.00947) > 2e-5 {
		t.Errorf("p is %v", e.P)
	}
}

// What is random in the load decides whether other seeds are another load.
func TestSeeds(t *testing.T) {
	for name, c := range map[string]struct {
		load            result.Load
		a, b            []uint64
		objects, hinted bool
	}{
		"the same":                {result.Load{Arrivals: "poisson"}, []uint64{1, 2}, []uint64{2, 1}, false, false},
		"one trace, more runs":    {result.Load{Arrivals: "poisson"}, []uint64{1, 1}, []uint64{1}, false, false},
		"arrivals":                {result.Load{Arrivals: "poisson"}, []uint64{1, 2}, []uint64{1, 3}, true, false},
		"keys":                    {result.Load{Keys: "random"}, []uint64{1}, []uint64{2}, true, false},
		"uneven keys":             {result.Load{Keys: "zipf"}, []uint64{1}, []uint64{2}, true, false},
		"sizes of sends":          {result.Load{Closed: &result.Closed{BatchLeast: 1, BatchMost: 9}}, []uint64{1}, []uint64{2}, true, false},
		"nothing is random":       {result.Load{Arrivals: "constant", Keys: "round_robin"}, []uint64{1}, []uint64{2}, false, true},
		"nothing random, as many": {result.Load{Arrivals: "constant", Keys: "none"}, []uint64{1, 1}, []uint64{1, 2}, false, true},
	} {
		side := func(name string, seeds []uint64) Side {
			s := sideOf(name, []float64{1, 2, 3}[:len(seeds)]...)
			for i, r := range s.Runs {
				r.Run.Seed, r.Run.Load = seeds[i], c.load
			}
			return s
		}
		a, b := side("A", c.a), side("B", c.b)
		const differ = "the seeds of the sides differ"
		objects := strings.Contains(strings.Join(Objections(a, b), "; "), differ)
		hinted := strings.Contains(strings.Join(mustCompare(t, a, b).Hints, "; "), differ)
		if objects != c.objects || hinted != c.hinted {
			t.Errorf("%s: objection %v, hint %v", name, objects, hinted)
		}
	}
}

// A difference below three times the twin's percentile is called none, however sure.
func TestDifferencesBesideTheInstrumentsError(t *testing.T) {
	for name, c := range map[string]struct {
		ofA, ofB float64 // the twin's p99 in us
		shown    bool
	}{
		"far below":         {1, 1, true},
		"just below":        {3.3, 3.3, true},
		"just above":        {3.4, 3.4, false},
		"of one side":       {0.1, 3.4, false},
		"of the other side": {3.4, 0.1, false},
	} {
		a, b := sideOf("A", 100, 100.1, 100.2, 100.3, 100.4), sideOf("B", 110, 110.1, 110.2, 110.3, 110.4)
		for i, s := range []Side{a, b} {
			for at, r := range s.Runs {
				us := []float64{c.ofA, c.ofB}[i]
				if at == 0 {
					us = 1000 // one bad run is not the median
				}
				r.Run.Summary.Instrument = &result.Instrument{Publish: result.Latency{Count: 1000, Percentiles: []result.Percentile{{Percentile: 99, LatencyNs: int64(us * 1000)}}}}
			}
		}
		com := mustCompare(t, a, b)
		e := com.Figures[0]
		if e.Shown != c.shown || e.Blurred == c.shown {
			t.Errorf("%s: shown %v, blurred %v, own error %v", name, e.Shown, e.Blurred, e.OwnError)
		}
		said := strings.Contains(strings.Join(com.Hints, "; "), "less than 3 times plimsoll's own error")
		if said == c.shown {
			t.Errorf("%s: hints %q", name, com.Hints)
		}
		got, err := rule(t, a, b, "publish.p99 > 1.05x")
		if err != nil || strings.HasPrefix(got, "fails") != c.shown {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	older := sideOf("A", 1, 2)
	older.Runs[1].Run.Summary.Instrument = nil
	if got := strings.Join(mustCompare(t, older, sideOf("B", 1, 2)).Hints, "; "); !strings.Contains(got, "1 of these 4 runs do not say what plimsoll's own error was") {
		t.Errorf("a run without a twin: %q", got)
	}
}
