package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Objection is a reason not to compare two sets of runs.
type Objection struct {
	Sentence string
	// LatencyOnly is set where the sets' rates and counts may be compared nevertheless.
	LatencyOnly bool
}

// Objections are reasons not to compare two sets of runs.
type Objections []Objection

// Objects returns the reasons why two sets must not be compared: different requests, different
// random loads, different guarantees, or runs that plimsoll itself limited or whose servers were
// still changing; and of latencies only,
// different shares of messages without a latency, or overloaded runs.
func Objects(a, b Side) (out Objections) {
	var runs []*result.Run
	limited, overloaded, how := 0, 0, ""
	unsteady, words := 0, ""
	for _, s := range slices.Concat(a.Runs, b.Runs) {
		runs = append(runs, &s.Run)
		if s.Run.Summary.Generator.Limited {
			limited++
		} else if v, is := verdict.Overloaded(&s.Run); is {
			overloaded, how = overloaded+1, cmp.Or(how, v.Sentence)
		} else if _, why := verdict.RankingOf(&s.Run); why.Code == verdict.Steady {
			unsteady, words = unsteady+1, cmp.Or(words, why.Sentence)
		}
	}
	object := func(latencyOnly bool, sentences ...string) {
		for _, s := range sentences {
			out = append(out, Objection{s, latencyOnly})
		}
	}
	for _, w := range verdict.Comparable(runs) {
		object(false, w.Sentence)
	}
	if sentence, objection := seedsDiffer(a, b); objection {
		object(false, sentence)
	}
	if limited > 0 {
		object(false, fmt.Sprintf("of these %d runs %d were limited by plimsoll itself: their "+
			"figures are not the system's", len(runs), limited))
	}
	if unsteady > 0 {
		object(false, fmt.Sprintf("of these %d runs %d were not steady (%s): their servers were "+
			"still changing in the window", len(runs), unsteady, words))
	}
	unequal, _ := shares(a, b)
	object(true, unequal...)
	if overloaded > 0 {
		object(true, fmt.Sprintf("of these %d runs %d were overloaded (%s): their queues grew for "+
			"as long as they were measured, so their latencies are a measure of that length and "+
			"only their rates may be compared", len(runs), overloaded, how))
	}
	return out
}

// To returns the objections that matter to a comparison of some figures.
func (o Objections) To(figures []figure.Figure) (out Objections) {
	latencies := slices.ContainsFunc(figures, figure.Figure.IsLatency)
	for _, one := range o {
		if latencies || !one.LatencyOnly {
			out = append(out, one)
		}
	}
	return out
}

// Sentences returns the objections in words.
func (o Objections) Sentences() (out []string) {
	for _, one := range o {
		out = append(out, one.Sentence)
	}
	return out
}

// String joins the objections to one sentence.
func (o Objections) String() string { return strings.Join(o.Sentences(), "; ") }
