package compare

import (
	"math"
	"strings"
	"testing"

	"github.com/plimsoll-bench/plimsoll/result"
)

func inRounds(s Side, set string, rounds []int) {
	for i, r := range s.Runs {
		r.Run.Trial = &result.Trial{Set: set, Round: rounds[i]}
	}
}

func TestPairing(t *testing.T) {
	trials := func(setA, setB string, ofA, ofB []int) func(a, b Side) {
		return func(a, b Side) {
			inRounds(a, setA, ofA)
			inRounds(b, setB, ofB)
		}
	}
	drawn := func(arrivals string, ofA, ofB []uint64) func(a, b Side) {
		return func(a, b Side) {
			for i := range ofA {
				a.Runs[i].Run.Seed, a.Runs[i].Run.Load.Arrivals = ofA[i], arrivals
				b.Runs[i].Run.Seed, b.Runs[i].Run.Load.Arrivals = ofB[i], arrivals
			}
		}
	}
	rising, falling := []int{1, 2, 3, 4, 5}, []int{5, 4, 3, 2, 1}
	seeds, ones := []uint64{1, 2, 3, 4, 5}, []uint64{1, 1, 1, 1, 1}
	for name, c := range map[string]struct {
		change func(a, b Side)
		want   Pairing
		first  string // that the first run of A is paired with
	}{
		"no trials":       {func(a, b Side) {}, "", ""},
		"the same rounds": {trials("s", "s", rising, falling), ByRound, "B4"},
		"another round":   {trials("s", "s", rising, []int{6, 4, 3, 2, 1}), "", ""},
		"another set":     {trials("s", "u", rising, rising), "", ""},
		"a round twice":   {trials("s", "s", []int{1, 2, 3, 4, 4}, []int{1, 2, 3, 4, 4}), "", ""},
		"one not of the set": {func(a, b Side) {
			trials("s", "s", rising, rising)(a, b)
			b.Runs[0].Run.Trial = nil
		}, "", ""},
		"random loads":           {drawn("poisson", seeds, []uint64{2, 1, 4, 3, 5}), BySeed, "B1"},
		"one trace":              {drawn("poisson", ones, ones), "", ""},
		"the seed means nothing": {drawn("constant", seeds, seeds), "", ""},
	} {
		a, b := sideOf("A", 1, 2, 3, 4, 5), sideOf("B", 6, 7, 8, 9, 10)
		c.change(a, b)
		com := mustCompare(t, a, b)
		if com.Pairing != c.want || com.Figures[0].Paired != (c.want != "") {
			t.Errorf("%s: paired by %q, want %q", name, com.Pairing, c.want)
		}
		if c.first != "" && com.pairs[0].Run.ID != c.first {
			t.Errorf("%s: the first is paired with %s, want %s", name, com.pairs[0].Run.ID, c.first)
		}
	}
	// Three pairs are too few, and so are four, for which a test by ranks can show a difference.
	a, b := sideOf("A", 1, 2, 3), sideOf("B", 5, 6, 7)
	inRounds(a, "s", []int{1, 2, 3})
	inRounds(b, "s", []int{1, 2, 3})
	c := mustCompare(t, a, b)
	if c.Pairing != "" || !strings.Contains(strings.Join(c.Hints, ""), "take at least 4 of each") {
		t.Errorf("three pairs: %q, %q", c.Pairing, c.Hints)
	}
}

// Known values: of the logarithms of 1.1 to 1.5 the mean is 4.6769 standard errors,
// which Student's distribution with 4 degrees of freedom puts at a p of 0.00947.
func TestKnownPairs(t *testing.T) {
	a, b := sideOf("A", 100, 200, 300, 400, 500), sideOf("B", 110, 240, 390, 560, 750)
	inRounds(a, "s", []int{1, 2, 3, 4, 5})
	inRounds(b, "s", []int{1, 2, 3, 4, 5})
	e := mustCompare(t, a, b).Figures[0]
	want := math.Pow(1.1*1.2*1.3*1.4*1.5, 0.2)
	if math.Abs(e.Ratio-want) > 1e-9 || !e.Shown || e.Low > want || e.High < want {
		t.Errorf("%+v, want a ratio of %v", e, want)
	}
	if math.Abs(e.P-0.00947) > 2e-5 {
		t.Errorf("p is %v", e.P)
	}
}

// Different seeds are a different load only if something in the load is random.
func TestSeeds(t *testing.T) {
	poisson := result.Load{Arrivals: "poisson"}
	batches := result.Load{Closed: &result.Closed{BatchLeast: 1, BatchMost: 9}}
	even := result.Load{Arrivals: "constant", Keys: "round_robin"}
	for name, c := range map[string]struct {
		load            result.Load
		a, b            []uint64
		objects, hinted bool
	}{
		"the same":             {poisson, []uint64{1, 2}, []uint64{2, 1}, false, false},
		"one trace, more runs": {poisson, []uint64{1, 1}, []uint64{1}, false, false},
		"arrivals":             {poisson, []uint64{1, 2}, []uint64{1, 3}, true, false},
		"keys": {result.Load{Keys: "random"}, []uint64{1}, []uint64{2}, true,
			false},
		"uneven keys":       {result.Load{Keys: "zipf"}, []uint64{1}, []uint64{2}, true, false},
		"sizes of sends":    {batches, []uint64{1}, []uint64{2}, true, false},
		"nothing is random": {even, []uint64{1}, []uint64{2}, false, true},
		"nothing, as many":  {even, []uint64{1, 1}, []uint64{1, 2}, false, true},
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
		objects := strings.Contains(Objects(a, b).String(), differ)
		hinted := strings.Contains(strings.Join(mustCompare(t, a, b).Hints, "; "), differ)
		if objects != c.objects || hinted != c.hinted {
			t.Errorf("%s: objection %v, hint %v", name, objects, hinted)
		}
	}
}

// A difference below three times the twin's percentile is never shown, however certain.
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
		a, b := sideOf("A", 100, 100.1, 100.2, 100.3, 100.4), sideOf("B", 110, 110.1, 110.2, 110.3,
			110.4)
		for i, s := range []Side{a, b} {
			for at, r := range s.Runs {
				us := []float64{c.ofA, c.ofB}[i]
				if at == 0 {
					us = 1000 // one bad run is not the median
				}
				p99 := result.Percentile{Percentile: 99, LatencyNs: int64(us * 1000)}
				r.Run.Summary.Instrument = &result.Instrument{
					Publish: result.Latency{Count: 1000, Percentiles: []result.Percentile{p99}},
				}
			}
		}
		com := mustCompare(t, a, b)
		e := com.Figures[0]
		if e.Shown != c.shown || e.Blurred == c.shown {
			t.Errorf("%s: shown %v, blurred %v, own error %v", name, e.Shown, e.Blurred, e.OwnError)
		}
		said := strings.Contains(strings.Join(com.Hints, "; "),
			"less than 3 times plimsoll's own error")
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
	got := strings.Join(mustCompare(t, older, sideOf("B", 1, 2)).Hints, "; ")
	if !strings.Contains(got, "plimsoll's own error is not known of 1 of these 4 runs") {
		t.Errorf("a run without a twin: %q", got)
	}
}
