package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// isRandom reports whether the load is drawn by its seed: when messages are due,
// which keys and sizes they have, how many a send contains, or how consumers handle them: in
// different times, or failing some of them.
func isRandom(s *result.Saved) bool {
	l, h := s.Run.Load, s.Run.Load.Handling
	return l.Arrivals == string(workload.ArrivalsPoisson) ||
		l.Keys == string(workload.KeysRandom) || l.Keys == string(workload.KeysZipf) ||
		l.Keys == string(workload.KeysShares) || l.MessageSizes != "" ||
		h != nil && (h.Fails > 0 || strings.Contains(h.Time, " ")) ||
		l.Closed != nil && l.Closed.BatchLeast != l.Closed.BatchMost
}

// seedsDiffer says that two sets of runs had different seeds, and whether that is a reason not to
// compare them. A random load differs with the seed, and enough runs would show a difference even
// between equal systems. Without randomness in the load, the seed decides only the bytes of the
// payloads and the random moments of faults: the reader must know it, but the load is the same.
func seedsDiffer(a, b Side) (sentence string, objection bool) {
	ofA, ofB := seeds(a), seeds(b)
	if slices.Equal(ofA, ofB) {
		return "", false
	}
	differ := fmt.Sprintf("the seeds of the sides differ (A: %s; B: %s)", listed(ofA), listed(ofB))
	if slices.ContainsFunc(slices.Concat(a.Runs, b.Runs), isRandom) {
		return differ +
			", so they were offered different random loads: measure both with the same seeds", true
	}
	return differ + ": nothing in the load is random, so it decides only the payloads' bytes and " +
		"when faults strike", false
}

// seeds returns the distinct seeds of a side's runs, sorted.
func seeds(s Side) []uint64 {
	var out []uint64
	for _, r := range s.Runs {
		out = append(out, r.Run.Seed)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mostListed bounds the seeds that a sentence lists.
const mostListed = 10

// listed returns seeds in words.
func listed(seeds []uint64) string {
	var words []string
	for _, s := range seeds[:min(len(seeds), mostListed)] {
		words = append(words, fmt.Sprint(s))
	}
	if len(seeds) > mostListed {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
