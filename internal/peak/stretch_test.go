package peak

import "testing"

// While no rate was stable, a rate that is not decided in a window twice as long counts as
// unstable: a longer one may take all of a search's time at a rate that is far too high. It is
// doubtful, and no end of the bracket if it is stable later.
func TestSearchGoesDownBeforeItStretchesFar(t *testing.T) {
	s := NewSearch(planOf(16_000, 0.05, 0))
	for i := 0; ; i++ {
		step, end := s.Next()
		if end != Unfinished {
			if b := s.Bracket(); b.StableRate < 17_000 || b.UnstableRate > 21_000 {
				t.Errorf("%s: %+v", end, b)
			}
			break
		}
		o := Outcome{Stable: step.Rate <= 18_000, AchievedRate: min(step.Rate, 18_000)}
		if len(s.stable) == 0 && step.Rate > 10_000 { // it has not recovered from the load before
			o = Outcome{AchievedRate: step.Rate * 0.95, Short: true}
		}
		s.Take(o)
		if i == 1 && (step.Kind != Stretch || step.Stretch != 2) {
			t.Errorf("the second trial: %+v", step)
		}
		if i == 2 && (step.Rate >= 16_000 || step.Stretch != 2) {
			t.Errorf("the third trial: %+v", step)
		}
	}
}

// Windows grow until they distinguish a pulse from growth, keep that length for the rest of the
// search, and never exceed MostStretch.
func TestSearchStretchesShortWindows(t *testing.T) {
	s := NewSearch(planOf(10_000, 0.03, 1))
	stretch := 1
	for {
		step, end := s.Next()
		if end != Unfinished {
			b := s.Bracket()
			holds := b.StableRate <= 20_000 && b.UnstableRate >= 20_000
			if !holds || end != Found || stretch != 4 {
				t.Errorf("%s, windows of %d: %+v", end, stretch, b)
			}
			break
		}
		if step.Stretch < stretch {
			t.Fatalf("%+v after windows of %d", step, stretch)
		}
		stretch = step.Stretch
		o := Outcome{Stable: step.Rate <= 20_000, AchievedRate: min(step.Rate, 20_000)}
		if step.Rate > 15_000 && step.Stretch < 4 {
			o.Stable, o.Short = false, true
		}
		s.Take(o)
	}
	s = NewSearch(planOf(10_000, 0.03, 1))
	for end := Unfinished; end == Unfinished; {
		var step Step
		if step, end = s.Next(); step.Stretch > MostStretch {
			t.Fatalf("%+v", step)
		}
		s.Take(Outcome{Short: true, AchievedRate: 1})
	}
}

// A trial that was to be made again, for which there is no time, counts as unstable in doubt: the
// search goes on below it, in windows of the earlier length, and forgets it if it is stable later.
func TestSearchSettlesWhatItCannotRepeat(t *testing.T) {
	for _, first := range []Outcome{{AchievedRate: 14_000, Short: true},
		{AchievedRate: 14_000, Passing: true}} {
		s := NewSearch(planOf(10_000, 0.1, 0))
		s.Next()
		s.Take(Outcome{Stable: true, AchievedRate: 10_000})
		if s.Settle() {
			t.Error("a trial that is over was counted again")
		}
		s.Next()
		s.Take(first)
		again, _ := s.Next()
		if again.Rate != 20_000 || !s.Settle() {
			t.Fatalf("%+v", again)
		}
		below, end := s.Next()
		if b := s.Bracket(); below.Rate <= 10_000 || below.Rate >= 20_000 || below.Stretch != 1 ||
			end != Unfinished || b.UnstableRate != 20_000 || !s.top().doubtful {
			t.Errorf("%s, %+v: %+v", end, below, b)
		}
		for ; end == Unfinished && below.Rate <= 20_000; below, end = s.Next() {
			s.Take(Outcome{Stable: true, AchievedRate: below.Rate})
		}
		if b := s.Bracket(); b.StableRate != 20_000 || b.MixedRate != 0 {
			t.Errorf("it was stable in the end: %+v", b)
		}
	}
}

// The last trial that is allowed is not one to be made again.
func TestSearchCountsItsLastTrial(t *testing.T) {
	p := planOf(10_000, 0.1, 0)
	p.MaxTrials = 2
	s := NewSearch(p)
	s.Next()
	s.Take(Outcome{Stable: true, AchievedRate: 10_000})
	s.Next()
	s.Take(Outcome{AchievedRate: 14_000, Short: true})
	if _, end := s.Next(); end != UsedUp || s.Bracket().UnstableRate != 20_000 {
		t.Errorf("%s: %+v", end, s.Bracket())
	}
}
