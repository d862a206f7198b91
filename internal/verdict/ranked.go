package verdict

import (
	"cmp"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Ranking says which figures of a run may be ranked against another run's.
type Ranking int

// The rankings, the least restricted first.
const (
	// Ranked: all figures.
	Ranked Ranking = iota
	// RatesRanked: no latency. The run was overloaded, so its queues grew for as long as it was
	// measured, and its latencies are a measure of that length.
	RatesRanked
	// Unranked: no figure.
	Unranked
)

// Allows reports whether a figure, which may be a latency, may be ranked.
func (of Ranking) Allows(latency bool) bool {
	return of == Ranked || of == RatesRanked && !latency
}

// Promise is the code of the reason not to rank a run in which the system broke a promise.
const Promise = "promise"

// ByAnother is the reason not to rank a run that another tool measured.
const ByAnother = "measured by another tool"

// RankingOf returns which figures of a judged run may be ranked, and why others may not, in a few
// words. Runs that plimsoll limited, or that did not finish, show too little of the system; a
// system that loses messages or servers has less to do; servers that were still changing would show
// other figures later; other tools measure in another way.
func RankingOf(r *result.Run) (of Ranking, why result.Warning) {
	of, why = RankingByMeasurement(r)
	for _, broken := range BrokenPromises(r) {
		// The figures of a backlog say how far its readers came.
		if r.Imported == nil && r.State == result.Complete && broken.Name != CatchUp {
			return Unranked, result.Warning{Code: Promise,
				Sentence: "broke a promise: " + broken.Sentence}
		}
	}
	return of, why
}

// RankingByMeasurement is RankingOf as if the system had kept its promises: which figures are those
// of a steady system that plimsoll did not limit.
func RankingByMeasurement(r *result.Run) (of Ranking, why result.Warning) {
	switch {
	case r.Imported != nil:
		return Unranked, result.Warning{Code: codeImported, Sentence: ByAnother}
	case r.Summary.Generator.Limited:
		return Unranked, result.Warning{Code: Generator, Sentence: "limited by plimsoll itself"}
	case r.State != result.Complete:
		state := cmp.Or(string(r.State), result.Unknown)
		return Unranked, result.Warning{Code: state, Sentence: state}
	}
	v, is := Overloaded(r)
	_, compile := compiling(r) // which an overload does not explain, as it does latencies that rise
	if word := unsteady(r); word != "" && (!is || compile) {
		return Unranked, result.Warning{Code: Steady, Sentence: word}
	}
	why = result.Warning{Code: v.Name, Sentence: "the offered rate was not reached"}
	switch {
	case !is:
		return Ranked, result.Warning{}
	case v.Name == Receiving:
		why.Sentence = "its consumers fell behind"
	case r.Summary.OfferedRate > 0:
		why.Sentence = "it acknowledged " + quantity.PercentBeside(
			r.Summary.AchievedRate/r.Summary.OfferedRate, achievedBound) + " of the offered rate"
	}
	why.Sentence = "overloaded (" + why.Sentence + "), except for its rates"
	return RatesRanked, why
}

// Overloaded reports whether more was offered than the system or its consumers carried, and the
// verdict of a judged run that shows it.
func Overloaded(r *result.Run) (v result.Verdict, is bool) {
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken && (v.Name == Rate || v.Name == Receiving) {
			return v, true
		}
	}
	return v, false
}
