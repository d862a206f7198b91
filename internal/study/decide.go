package study

import (
	"cmp"
	"fmt"
	"math"

	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// The factors by which a ratio must pass its bound if rounds do not show how it scatters. In five
// rounds on two cores the brackets of peaks ended at up to 1.6 times their lower ends, and the
// greatest publish p99 was up to 6 times the least (docs/results/EQUAL-FOOTING.md, 2026-11-30), and
// up to 18 times four days before.
const (
	ScatterOfRates     = 3.0
	ScatterOfLatencies = 20.0
)

// decide answers by the claim's bounds, if there is no doubt.
func (q *question) decide(r *Reply) {
	low, high, c := r.Low, r.High, q.claim
	doubt := Doubt{Why: "the interval contains the bound"}
	if r.Rounds < 2 || low <= 0 {
		factor := ScatterOfRates
		if q.figure.IsLatency() {
			factor = ScatterOfLatencies
		}
		if low <= 0 {
			low, high = r.Ours, r.Ours
		}
		low, high = min(low, r.Ours*r.least/factor), max(high, r.Ours*r.most*factor)
		doubt.Why = fmt.Sprintf("too few rounds to show how they scatter: it must pass the "+
			"bound by %s", Times(factor))
	}
	holds := c.holds(r.Ours)
	alone := r.Rounds == 1 && r.tried > 1
	if alone {
		doubt.Why = fmt.Sprintf("a side has the figure in only one of %d rounds", r.tried)
	}
	if alone || c.holds(low) != holds || c.holds(high) != holds || c.spans(low, high) {
		more, instead := q.needed(r)
		doubt.Decides = cmp.Or(instead, moreRounds(more))
		if r.scatters = len(r.Doubts) == 0 && instead == ""; r.scatters {
			r.More = more
		}
		r.doubt(doubt)
	}
	switch {
	case len(r.Doubts) > 0:
	case holds:
		r.Answer = Agrees
	default:
		r.Answer = Differs
	}
}

// needed returns about how many further rounds of each side would decide a claim whose interval
// contains a bound; 0: it is not known. Where more rounds would not, it says what would instead.
func (q *question) needed(r *Reply) (rounds int, instead string) {
	if r.Rounds < 2 || r.Low <= 0 {
		return 0, ""
	}
	ours, room := r.known.Ratio, math.Inf(1) // to the nearest bound, as a logarithm
	for _, bound := range []float64{q.claim.AtLeast, q.claim.AtMost} {
		switch {
		case bound <= 0:
		case bound < ours:
			room = min(room, math.Log(ours*r.least/bound))
		default:
			room = min(room, math.Log(bound/(ours*r.most)))
		}
	}
	switch {
	case room <= 0 && (r.least < 1 || r.most > 1):
		return 0, "more cores for the load, so that plimsoll's own error is smaller"
	case room <= r.bracket && r.bracket > 0:
		return 0, "longer searches"
	}
	return r.known.Further(math.Sqrt(room*room - r.bracket*r.bracket)), ""
}

// moreRounds says that so many further rounds would decide a claim; 0: it is not known how many.
func moreRounds(n int) string {
	switch {
	case n == 0:
		return "more rounds"
	case n == 1:
		return "about one more round"
	case n < compare.MostFurther:
		return fmt.Sprintf("about %d more rounds", n)
	}
	return fmt.Sprintf("more than %s more rounds", quantity.Count(compare.MostFurther))
}
