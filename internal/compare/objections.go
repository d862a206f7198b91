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
	// ByB is set where B alone gives the reason, by doing worse than A under the same load.
	ByB bool
}

// Objections are reasons not to compare two sets of runs.
type Objections []Objection

// Objects returns the reasons why two sets must not be compared: different requests, different
// random loads, different guarantees, or runs that plimsoll itself limited or whose servers were
// still changing; and of latencies only,
// different shares of messages without a latency, or overloaded runs.
func Objects(a, b Side) (out Objections) {
	var runs []*result.Run
	limited, unsteady, words := 0, 0, ""
	for _, s := range slices.Concat(a.Runs, b.Runs) {
		runs = append(runs, &s.Run)
		if s.Run.Summary.Generator.Limited {
			limited++
		} else if _, why := verdict.RankingOf(&s.Run); why.Code == verdict.Steady {
			unsteady, words = unsteady+1, cmp.Or(words, why.Sentence)
		}
	}
	object := func(sentence string) { out = append(out, Objection{Sentence: sentence}) }
	for _, w := range verdict.Comparable(runs) {
		object(w.Sentence)
	}
	if sentence, objection := seedsDiffer(a, b); objection {
		object(sentence)
	}
	if limited > 0 {
		object(fmt.Sprintf("of these %d runs %d were limited by plimsoll itself: their "+
			"figures are not the system's", len(runs), limited))
	}
	if unsteady > 0 {
		object(fmt.Sprintf("of these %d runs %d were not steady (%s): their servers were "+
			"still changing in the window", len(runs), unsteady, words))
	}
	unequal, _ := shares(a, b)
	out = append(out, unequal...)
	inA, howA := overloads(a)
	inB, howB := overloads(b)
	if inA+inB > 0 {
		out = append(out, Objection{LatencyOnly: true, ByB: inA == 0,
			Sentence: fmt.Sprintf("of these %d runs %d were overloaded (%s): their queues grew "+
				"for as long as they were measured, so their latencies are a measure of that "+
				"length and only their rates may be compared", len(runs), inA+inB,
				cmp.Or(howA, howB))})
	}
	return out
}

// overloads counts the overloaded runs of a side that plimsoll did not limit, and says how the
// first was.
func overloads(side Side) (n int, how string) {
	for _, s := range side.Runs {
		v, is := verdict.Overloaded(&s.Run)
		if is && !s.Run.Summary.Generator.Limited {
			n, how = n+1, cmp.Or(how, v.Sentence)
		}
	}
	return n, how
}

// FailB returns the failed rulings of a gate on sets that must not be compared because B alone did
// worse. Another objection leaves nothing to rule on: then there are none.
func (o Objections) FailB() (out []Ruling) {
	for _, one := range o {
		if !one.ByB {
			return nil
		}
		out = append(out, Gate{Text: "latencies of B"}.fails(one.Sentence))
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
