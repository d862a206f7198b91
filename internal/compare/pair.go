package compare

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
)

// fewestPairs is the least number of pairs for a paired test. With fewer pairs it needs far larger
// differences than a test by ranks, and a system that starts in one of several states gives two
// or three similar differences too often.
const fewestPairs = 5

// Pairing is the common property of the runs of a pair; empty: no pairs.
type Pairing string

// The ways of pairing runs.
const (
	ByRound Pairing = "round" // they followed one another in time
	BySeed  Pairing = "seed"  // they were offered the same random load
)

// pair returns the runs of b, each at the index of its partner in a. Partners are of the same
// round of the same set of trials, or else, if the load is random, of the same seed. It pairs all
// runs or none.
func pair(a, b []*result.Saved) ([]*result.Saved, Pairing) {
	if out := match(a, b, roundOf); out != nil {
		return out, ByRound
	}
	if out := match(a, b, seedOf); out != nil {
		return out, BySeed
	}
	return nil, ""
}

// roundOf names the round of a trial and its set; empty: the run is no trial.
func roundOf(s *result.Saved) string {
	if s.Run.Trial == nil {
		return ""
	}
	return fmt.Sprintf("%d of %s", s.Run.Trial.Round, s.Run.Trial.Set)
}

// seedOf names the seed of a random load; empty: the load is not random.
func seedOf(s *result.Saved) string {
	if !isRandom(s) {
		return ""
	}
	return fmt.Sprint(s.Run.Seed)
}

// match orders b by the keys of a. It returns nil unless both sides have the same keys, each key
// once.
func match(a, b []*result.Saved, key func(*result.Saved) string) []*result.Saved {
	if len(a) != len(b) {
		return nil
	}
	of := map[string]*result.Saved{}
	for _, s := range b {
		of[key(s)] = s
	}
	var out []*result.Saved
	for _, s := range a {
		k := key(s)
		if k == "" || of[k] == nil {
			return nil
		}
		out = append(out, of[k])
		delete(of, k)
	}
	return out
}

// pairedRatio returns the geometric mean of b divided by a, pair by pair, and its uncertainty as
// sure does: without rounds by Student's distribution on the logarithms ("The Probable Error of a
// Mean", 1908). A signed-rank test of five pairs cannot reach a p below 0.06.
func pairedRatio(a, b []float64, rounds bool) (ratio float64, w Within) {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = b[i] / a[i]
	}
	return sure(ratios, rounds)
}
