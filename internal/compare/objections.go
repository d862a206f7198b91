package compare

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Objections returns the reasons why two sets must not be compared, a sentence each: different
// requests, different random loads, different guarantees, different shares of messages without a
// latency, or runs that plimsoll itself limited.
func Objections(a, b Side) []string {
	var out []string
	var runs []*result.Run
	limited := 0
	for _, s := range slices.Concat(a.Runs, b.Runs) {
		runs = append(runs, &s.Run)
		if s.Run.Summary.Generator.Limited {
			limited++
		}
	}
	for _, w := range verdict.Comparable(runs) {
		out = append(out, w.Sentence)
	}
	if sentence, objection := seedsDiffer(a, b); objection {
		out = append(out, sentence)
	}
	unequal, _ := shares(a, b)
	out = append(out, unequal...)
	if limited > 0 {
		out = append(out, fmt.Sprintf("of these %d runs %d were limited by plimsoll itself: their "+
			"figures are not the system's", len(runs), limited))
	}
	return out
}
