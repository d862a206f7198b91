package peak

import (
	"math"
	"slices"
)

// Bracket is where the peak lies, as far as the search has come.
type Bracket struct {
	StableRate float64 `json:"stable_msgs_per_s"` // the highest that was stable; 0: none was
	Confirmed  int     `json:"confirmed"`         // longer runs that it passed, of those asked for
	// UnstableRate is the lowest that was not, and at or above which none was for
	// long; 0: none was seen.
	UnstableRate float64 `json:"unstable_msgs_per_s"`
	UnstableRuns int     `json:"unstable_runs,omitempty"` // runs at it that were not stable
	// MixedRate is the lowest that was stable in one run and not in another, or
	// that was not while a higher one was; 0: none. Where it is set, the width of
	// the bracket is that of the system's own unsteadiness.
	MixedRate float64 `json:"mixed_msgs_per_s,omitempty"`
}

// Width is how far apart the ends are, as a share of the lower; infinite while
// one of them is missing.
func (b Bracket) Width() float64 {
	if b.StableRate <= 0 || b.UnstableRate <= 0 {
		return math.Inf(1)
	}
	return b.UnstableRate/b.StableRate - 1
}

// Bracket is what is known now.
func (s *Search) Bracket() Bracket {
	low, high := s.stableEnd(), s.unstableEnd()
	b := Bracket{StableRate: low, UnstableRate: high}
	b.Confirmed = min(s.passed[low], s.plan.Confirmations)
	if high > 0 {
		b.UnstableRuns = s.missed[high]
	}
	if least := s.leastMixed(); least < high || least == high && slices.Contains(s.stable, high) {
		b.MixedRate = least
	}
	return b
}

// most is the highest rate that was ever stable.
func (s *Search) most() float64 { return slices.Max(append([]float64{0}, s.stable...)) }

// leastMixed is the lowest rate that was not stable while it, or a higher one,
// was in another run; infinite when there is none.
func (s *Search) leastMixed() float64 {
	least := slices.Min(append([]float64{math.Inf(1)}, s.mixed...))
	if top := s.top().rate; top > 0 && top <= s.most() {
		least = min(least, top)
	}
	return least
}

// stableEnd is the highest stable rate below every other outcome.
func (s *Search) stableEnd() float64 {
	below := s.leastMixed()
	if top := s.top().rate; top > 0 {
		below = min(below, top)
	}
	var low float64
	for _, r := range s.stable {
		if r < below {
			low = max(low, r)
		}
	}
	return low
}

// unstableEnd is the lowest unstable rate above every stable one. Where that is
// far away, a rate that was stable once and unstable once is the end.
func (s *Search) unstableEnd() float64 {
	most := s.most()
	at := slices.IndexFunc(s.above, func(l limit) bool { return l.rate > most })
	once := slices.ContainsFunc(s.above, func(l limit) bool { return l.rate == most })
	switch {
	case once && (at < 0 || s.far(s.above[at].rate)):
		return most
	case at < 0:
		return s.top().rate
	}
	return s.above[at].rate
}

// far reports whether an unstable rate is too far above the highest stable one to
// be an end beside it.
func (s *Search) far(rate float64) bool { return rate > s.most()*(1+2*s.plan.Tolerance) }

// needed is how many more runs at the ends are wanted.
func (s *Search) needed() int {
	n := max(s.plan.Confirmations-s.passed[s.stableEnd()], 0)
	if s.doubted() {
		n += s.enough() - s.missed[s.unstableEnd()]
	}
	return n
}

// doubted reports whether the unstable end has not yet failed often enough.
func (s *Search) doubted() bool {
	end := s.unstableEnd()
	return end > s.most() && s.missed[end] < s.enough()
}

// enough is how many runs at the unstable end must not have been stable: it is
// tried again as often as the stable end, and once at least.
func (s *Search) enough() int { return 1 + max(s.plan.Confirmations, 1) }

// open reports whether the highest stable rate was unstable too, or a lower one
// was, and no unstable one is near above it.
func (s *Search) open() bool {
	most := s.most()
	if most >= s.plan.MostRate || s.leastMixed() > most {
		return false
	}
	near := func(l limit) bool { return l.rate > most && !s.far(l.rate) }
	return !slices.ContainsFunc(s.above, near)
}
