package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// GrowthBound is the greatest growth of the number of waiting messages, as a share of the
// offered rate, at which a rate is still stable. It is a quarter of the 1% by which the
// achieved rate may fall short, and far less than the width of a search's bracket, which is
// a few per cent.
const GrowthBound = 0.0025

// Figure is one number of a clause's evidence; its unit is in its name.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Clause is one condition of a stable rate, and the figures by which it was judged.
type Clause struct {
	Name     string   `json:"name"`
	Outcome  string   `json:"outcome"` // result.Holds, Broken or Unknown
	Sentence string   `json:"sentence"`
	Figures  []Figure `json:"figures,omitempty"`
	// Series is the series of an objective.
	Series result.Series `json:"series,omitempty"`
	// Passing is set when a passing disturbance seems to have broken the clause, so that a
	// repetition may have another outcome.
	Passing bool `json:"passing,omitempty"`
	// Short is set when the window was too short to tell a pulse of waiting messages from
	// growth.
	Short bool `json:"short,omitempty"`
	// Undecided is set when an objective is neither kept nor missed beyond the run's own
	// variation.
	Undecided bool `json:"undecided,omitempty"`
}

func (c Clause) say(outcome, format string, args ...any) Clause {
	c.Outcome, c.Sentence = outcome, fmt.Sprintf(format, args...)
	return c
}

// The names of the clauses.
const (
	ClauseWhole     = "whole"
	ClauseAchieved  = "achieved"
	ClauseBacklog   = "backlog"
	ClauseLag       = "lag"
	ClauseFailures  = "failures"
	ClauseGenerator = "generator"
	ClauseSLO       = "slo"
)

// Stability says whether a system carried what a run offered it.
type Stability struct {
	Stable bool `json:"stable"`
	// Passing is set when the rate is unstable because of passing disturbances only.
	Passing bool `json:"passing,omitempty"`
	// Short is set when the rate is unstable because of the window's length only.
	Short bool `json:"short,omitempty"`
	// Undecided is set when the rate is neither stable nor unstable, because of undecided
	// objectives only.
	Undecided bool     `json:"undecided,omitempty"`
	Clauses   []Clause `json:"clauses"`

	// SlopeRate is the growth of the number of messages due and not yet arrived, SlopeLow
	// and SlopeHigh its 95% interval, in messages per second; Sloped is false when they are
	// unknown.
	Sloped    bool    `json:"sloped"`
	SlopeRate float64 `json:"slope_msgs_per_s"`
	SlopeLow  float64 `json:"slope_low_msgs_per_s"`
	SlopeHigh float64 `json:"slope_high_msgs_per_s"`
}

// Broken is the first broken clause, or else the first unknown one; false when all hold.
func (s Stability) Broken() (Clause, bool) {
	for _, outcome := range []string{result.Broken, result.Unknown} {
		if i := slices.IndexFunc(s.Clauses,
			func(c Clause) bool { return c.Outcome == outcome }); i >= 0 {
			return s.Clauses[i], true
		}
	}
	return Clause{}, false
}

// OwnLimit reports whether plimsoll itself was the limit, and nothing was refused, left unanswered
// or lost: the rate is then no finding about the system.
func (s Stability) OwnLimit() bool {
	return s.Clause(ClauseGenerator).Outcome == result.Broken &&
		s.Clause(ClauseFailures).Outcome != result.Broken
}

// Clause returns the clause with a name, or the zero Clause.
func (s Stability) Clause(name string) Clause {
	for _, c := range s.Clauses {
		if c.Name == name {
			return c
		}
	}
	return Clause{}
}

// Stable judges whether the offered rate was stable over the measured window:
//
//   - whole: the run measured all of its window;
//   - achieved: at least 99% of the offered messages were acknowledged, and
//     received by each subscription, within the window. The number of waiting
//     messages varies: in addition to the 1%, as many may wait at the window's
//     end as waited in its first half;
//   - backlog: the number of messages due and not yet arrived (waiting to be
//     handed over, in flight, or acknowledged and not received) is not shown to
//     grow by more than 0.25% of the offered rate, at 95% confidence. Where it
//     comes in pulses of more than 1% of the offered messages, its minimum
//     between pulses does not grow;
//   - lag: schedule lag does not grow by more than the same share of the time;
//   - failures: no message was refused, left unanswered or lost;
//   - generator: plimsoll itself was not the limit;
//   - slo: each objective holds, beyond the variation within the run.
//
// A rate is stable when every clause holds; an unknown clause does not hold.
func Stable(s *result.Saved, objectives []Objective) Stability {
	q := queuesOf(s)
	v := Stability{Clauses: []Clause{whole(&s.Run), achieved(&s.Run, q)}}
	backlog, t, sloped := q.backlog(s.Run.Summary.OfferedRate)
	v.Sloped, v.SlopeRate, v.SlopeLow, v.SlopeHigh = sloped, t.slope, t.low, t.high
	v.Clauses = append(v.Clauses, backlog, q.lag(), nothingFailed(&s.Run),
		ownLimit(&s.Run, len(objectives) > 0))
	for _, o := range objectives {
		v.Clauses = append(v.Clauses, o.judge(s))
	}
	failing := slices.DeleteFunc(slices.Clone(v.Clauses),
		func(c Clause) bool { return c.Outcome == result.Holds })
	v.Stable = len(failing) == 0
	v.Short = !v.Stable && !slices.ContainsFunc(failing, func(c Clause) bool { return !c.Short })
	v.Undecided = !v.Stable &&
		!slices.ContainsFunc(failing, func(c Clause) bool { return !c.Undecided })
	// A shortfall passes when the number of waiting messages does not grow.
	if grew := backlog.Outcome != result.Holds; !v.Stable && !grew {
		v.Passing = !slices.ContainsFunc(failing, func(c Clause) bool { return !c.Passing })
	}
	return v
}

func whole(r *result.Run) Clause {
	c := Clause{Name: ClauseWhole}
	if r.State != result.Complete {
		return c.say(result.Unknown, "the run is %s: %s", r.State,
			cmp.Or(r.StateReason, "it did not measure all of its window"))
	}
	return c.say(result.Holds, "the whole window was measured: %s",
		quantity.Duration(r.Summary.WindowNs))
}

func achieved(r *result.Run, q queues) Clause {
	sum := r.Summary
	c := Clause{Name: ClauseAchieved, Passing: true}
	if sum.OfferedRate <= 0 || !finite(sum.OfferedRate, sum.AchievedRate, sum.ReceivedRate) {
		c.Passing = false
		return c.say(result.Unknown, "nothing was offered in the measured window")
	}
	window := float64(sum.WindowNs) / 1e9
	received := leastReceived(sum)
	unacked, unread := (sum.OfferedRate-sum.AchievedRate)*window, (sum.OfferedRate-received)*window
	share := (1 - achievedBound) * sum.OfferedRate * window
	mayUnacked, mayUnread := share+mayWait(q.unacked()), share+mayWait(q.waiting())
	c.Figures = []Figure{{"offered_msgs_per_s", sum.OfferedRate},
		{"acked_msgs_per_s", sum.AchievedRate}, {"received_msgs_per_s", received},
		{"least_share", achievedBound}, {"unacked_msgs", unacked},
		{"unacked_bound_msgs", mayUnacked}, {"unread_msgs", unread},
		{"unread_bound_msgs", mayUnread}}
	words := fmt.Sprintf(
		"%s of the offered messages were acknowledged within the window, and %s received",
		quantity.PercentBeside(sum.AchievedRate/sum.OfferedRate, achievedBound),
		quantity.PercentBeside(received/sum.OfferedRate, achievedBound))
	if r.Load.Subscriptions > 1 {
		words += " by the slowest of the subscriptions"
	}
	if r.ProducersAlone() {
		unread, words = 0, fmt.Sprintf(
			"%s of the offered messages were acknowledged within the window, and none was to be "+
				"received",
			quantity.PercentBeside(sum.AchievedRate/sum.OfferedRate, achievedBound))
	}
	if unacked > mayUnacked || unread > mayUnread {
		c.Short = judge(q.seconds, q.waiting(), sum.OfferedRate, GrowthBound*sum.OfferedRate).pulses
		return c.say(result.Broken, "%s: at least %.0f%% is required, besides the usual in-flight "+
			"messages", words, achievedBound*100)
	}
	c.Passing = false
	return c.say(result.Holds, "%s", words)
}

// mayWait is how many more messages may wait at the end of a window than at its start: as
// many as waited in its first half.
func mayWait(waits []float64) float64 {
	if len(waits) == 0 {
		return 0
	}
	return slices.Max(waits[:len(waits)/2+1]) - waits[0]
}

// nothingFailed judges whether every message was acknowledged and arrived.
func nothingFailed(r *result.Run) Clause {
	v := failures(r)
	c := Clause{Name: ClauseFailures,
		Figures: []Figure{{"refused_msgs", float64(r.Counters.Failed)},
			{"unanswered_msgs", float64(r.Counters.Unknown)},
			{"unsent_msgs", float64(r.Counters.Unsent)}}}
	l := accounted(Loss, r, loss)
	if l.Outcome == result.Broken || v.Outcome == result.Holds && waitedFor(r) > 0 {
		return c.say(l.Outcome, "%s", l.Sentence)
	}
	return c.say(v.Outcome, "%s", v.Sentence)
}

// ownLimit judges whether plimsoll limited the rate, and, where objectives bound latencies,
// the latencies.
func ownLimit(r *result.Run, latencies bool) Clause {
	v := carried(r)
	if latencies {
		v = generator(r)
	}
	g := r.Summary.Generator
	c := Clause{Name: ClauseGenerator, Passing: v.Outcome == result.Broken,
		Figures: []Figure{{"own_lag_p99_ns", float64(g.OwnLagP99Ns)}, {"cpu_share", g.CPUShare}}}
	return c.say(v.Outcome, "%s", v.Sentence)
}
