package peak

import (
	"math"
	"slices"
)

// Bracket is the interval that contains the peak, at the current state of the search.
type Bracket struct {
	StableRate float64 `json:"stable_msgs_per_s"` // the highest stable rate; 0: none
	// Confirmed counts the longer runs in which StableRate was stable, up to the planned number.
	Confirmed int `json:"confirmed"`
	// UnstableRate is the lowest unstable rate above every confirmed one; 0: none was seen.
	UnstableRate float64 `json:"unstable_msgs_per_s"`
	UnstableRuns int     `json:"unstable_runs,omitempty"` // unstable runs at that rate
	// MixedRate is the lowest rate that was stable in one run and unstable in another, that was
	// unstable while a higher rate was stable, or whose objective could not be decided; 0: none. If
	// it is set, the bracket is as wide as the system's own variation.
	MixedRate float64 `json:"mixed_msgs_per_s,omitempty"`
}

// Width returns the distance between the ends as a share of the lower end: 0.03 is 3%. It is
// infinite while an end is missing.
func (b Bracket) Width() float64 {
	if b.StableRate <= 0 || b.UnstableRate <= 0 {
		return math.Inf(1)
	}
	return b.UnstableRate/b.StableRate - 1
}

// Bracket returns the bracket after the trials so far.
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

// narrow reports whether the highest stable rate is near enough to the lowest unstable rate.
func (s *Search) narrow() bool {
	low, high := s.low(), s.top().rate
	return low > 0 && high > 0 && high/low <= 1+s.plan.Tolerance+1e-9
}

// low returns the highest stable rate below every unstable rate.
func (s *Search) low() float64 {
	var low float64
	for _, r := range s.stable {
		if high := s.top().rate; high == 0 || r < high {
			low = max(low, r)
		}
	}
	return low
}

// most returns the highest rate that was stable in any trial.
func (s *Search) most() float64 { return slices.Max(append([]float64{0}, s.stable...)) }

// leastMixed returns the lowest rate that was unstable in one trial while the same or a higher
// rate was stable in another; infinite when there is none.
func (s *Search) leastMixed() float64 {
	least := slices.Min(append([]float64{math.Inf(1)}, s.mixed...))
	if top := s.top().rate; top > 0 && top <= s.most() {
		least = min(least, top)
	}
	return least
}

// stableEnd returns the highest stable rate below every unstable and mixed rate.
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

// unstableEnd returns the lowest unstable rate above every stable one. If that rate is far away,
// the end is the highest rate that was both stable and unstable.
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

// far reports whether an unstable rate is too far above the highest stable rate to be the
// other end of the bracket.
func (s *Search) far(rate float64) bool { return rate > s.most()*(1+2*s.plan.Tolerance) }

// needed returns how many more trials the ends of the bracket need.
func (s *Search) needed() int {
	n := max(s.plan.Confirmations-s.passed[s.stableEnd()], 0)
	if s.doubted() {
		n += s.enough() - s.missed[s.unstableEnd()]
	}
	return n
}

// doubted reports whether the unstable end has not yet failed often enough. While it is far away,
// one trial in which the system was overwhelmed is enough, whatever else disturbed it: a trial in
// between tells more.
func (s *Search) doubted() bool {
	end := s.unstableEnd()
	overwhelmed := func(l limit) bool {
		return l.rate == end && l.achieved < overwhelmedShare*l.rate
	}
	if !s.narrow() && s.far(end) && slices.ContainsFunc(s.above, overwhelmed) {
		return false
	}
	return end > s.most() && s.missed[end] < s.enough()
}

// overwhelmedShare is a share of the offered rate: a system that achieved less was overwhelmed.
const overwhelmedShare = 0.75

// enough returns how many trials at the unstable end must be unstable. It is tried again as often
// as the stable end, and at least once.
func (s *Search) enough() int { return 1 + max(s.plan.Confirmations, 1) }

// open reports whether the bracket has no upper end yet although a rate is mixed: the highest
// stable rate or a lower one was also unstable, and no unstable rate lies near above it.
func (s *Search) open() bool {
	most := s.most()
	if most >= s.plan.MostRate || s.leastMixed() > most {
		return false
	}
	near := func(l limit) bool { return l.rate > most && !s.far(l.rate) }
	return !slices.ContainsFunc(s.above, near)
}
