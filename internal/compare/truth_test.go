package compare

import "testing"

// alarms compares so many pairs and counts those in which any difference is
// shown, and those in which that of the first primary figure is.
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

// A system compared with itself: at most 5 of 100 comparisons may show any
// difference, in whatever figure.
func TestTruthEqualsRaiseFewAlarms(t *testing.T) {
	simulates(t)
	for _, runs := range []int{4, 5, 8, 20} {
		any, _ := alarms(t, 100, func(pair int) *Comparison {
			s := simulated{random: seeded(uint64(pair*100 + runs)), between: 0.05, seconds: 60}
			return mustCompare(t, s.side("A", runs, 1), s.side("B", runs, 1))
		})
		t.Logf("%d runs against %d: %d of 100", runs, runs, any)
		if any > 5 {
			t.Errorf("%d runs against %d of the same: %d of 100 comparisons show a difference", runs, runs, any)
		}
	}
	// Of many pairs the share is known better.
	any, primary := alarms(t, 2000, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair + 1e6)), between: 0.05, seconds: 60}
		return mustCompare(t, s.side("A", 5, 1), s.side("B", 5, 1))
	})
	t.Logf("5 runs against 5: %d of 2000, %d of the primary figure", any, primary)
	if any > 2000*level || primary == 0 {
		t.Errorf("%d of 2000 comparisons of equals show a difference, %d in the primary figure", any, primary)
	}
}

// A tail that is 10% slower must be found: by five runs on each side where the
// p99 of equal runs scatters by 3%, by ten where it scatters by 5%.
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
			t.Errorf("%d runs against %d: a shift of 10%% was found in %d of 100 comparisons", c.runs, c.runs, primary)
		}
	}
}

// Single runs of a minute are told apart by what varies within them. Between runs of these
// nothing varies, as that is what a single run knows nothing of.
func TestTruthSingleRuns(t *testing.T) {
	simulates(t)
	for _, c := range []struct {
		seconds int
		memory  float64
	}{{15, 0.3}, {30, 0}, {60, 0.6}} {
		any, _ := alarms(t, 100, func(pair int) *Comparison {
			s := simulated{random: seeded(uint64(pair)), within: 0.05, memory: c.memory, seconds: c.seconds, messages: 150}
			return mustCompare(t, s.side("A", 1, 1), s.side("B", 1, 1))
		})
		t.Logf("%d s with memory %v: %d of 100", c.seconds, c.memory, any)
		if any > 5 {
			t.Errorf("single runs of %d s with memory %v: %d of 100 comparisons of equals show a difference", c.seconds, c.memory, any)
		}
	}
	_, primary := alarms(t, 100, func(pair int) *Comparison {
		s := simulated{random: seeded(uint64(pair)), within: 0.05, memory: 0.5, seconds: 60, messages: 400}
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
	if raceDetector {
		t.Skip("thousands of comparisons: runs without the race detector")
	}
}
