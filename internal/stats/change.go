package stats

import (
	"slices"
)

// Change is a place at which the level of a series changed.
type Change struct {
	At int     // the index of the first value after it
	P  float64 // of the rank test of the values before it against those after it
	// Needed is the p that P had to reach, because many places were tried.
	Needed float64
}

const (
	fewestBeside = 3 // values on each side of a change
	deepest      = 6 // times that a series is divided further
)

// Changes returns the places at which a series in order of time changed its level, by binary
// segmentation (Scott and Knott, "A Cluster Analysis Method for Grouping Means in the Analysis
// of Variance", 1974) with the test of MannWhitney. If there is no change and the values are
// independent of one another, any change is reported with a probability of at most level, over all
// places together. Each division of the series has half of the level that is left. The places of
// one division share it by Tarone ("A Modified Bonferroni Method for Discrete Data", 1990).
func Changes(series []float64, level float64) []Change {
	var out []Change
	segments := []segment{{0, len(series)}}
	for range deepest {
		level /= 2
		needed := tarone(segments, level)
		var next []segment
		for _, s := range segments {
			c, ok := s.change(series, needed)
			if ok {
				out = append(out, c)
				next = append(next, segment{s.from, c.At}, segment{c.At, s.to})
			}
		}
		if segments = next; len(segments) == 0 {
			break
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return a.At - b.At })
	return out
}

// FewestForChange returns the least number of values for which Changes can report a change.
func FewestForChange(level float64) int {
	for n := 2 * fewestBeside; ; n++ {
		if s := (segment{0, n}); s.least() <= tarone([]segment{s}, level/2) {
			return n
		}
	}
}

// segment is a part of a series; to is behind it.
type segment struct{ from, to int }

// places calls each with the numbers of values before and after each place of the segment.
func (s segment) places(each func(before, after int)) {
	for before := fewestBeside; before <= s.to-s.from-fewestBeside; before++ {
		each(before, s.to-s.from-before)
	}
}

// least returns the least p that a place of the segment can have.
func (s segment) least() float64 {
	p := 1.0
	s.places(func(before, after int) { p = min(p, LeastP(before, after)) })
	return p
}

// tarone returns the p that a place must reach, so that the places of all segments together
// reach it with a probability of at most level. Places that cannot reach it, however large
// the change, do not count.
func tarone(segments []segment, level float64) float64 {
	var all []float64
	for _, s := range segments {
		s.places(func(before, after int) { all = append(all, LeastP(before, after)) })
	}
	for share := 1; share <= len(all); share++ {
		needed := level / float64(share)
		able := 0
		for _, p := range all {
			if p <= needed {
				able++
			}
		}
		if able <= share {
			return needed
		}
	}
	return 0
}

// change returns the place of the segment with the least p, and whether that is low enough.
func (s segment) change(series []float64, needed float64) (Change, bool) {
	best := Change{P: 2, Needed: needed}
	s.places(func(before, after int) {
		if LeastP(before, after) > needed {
			return
		}
		at := s.from + before
		if p := MannWhitney(series[s.from:at], series[at:s.to]); p < best.P {
			best.At, best.P = at, p
		}
	})
	return best, best.P <= needed
}
