package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// GrowthBound is the growth of what waits, as a share of the offered rate, that
// must be shown before a rate counts as more than the system carries. It is a
// quarter of the 1% by which the achieved rate may fall short: a queue that
// fills at this pace is within what a bracket of a few per cent can mean.
const GrowthBound = 0.0025

// Figure is one number of a clause's evidence; its unit is in its name.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Clause is one condition of a stable rate, and what it was judged by.
type Clause struct {
	Name     string   `json:"name"`
	Outcome  string   `json:"outcome"` // result.Holds, Broken or Unknown
	Sentence string   `json:"sentence"`
	Figures  []Figure `json:"figures,omitempty"`
	// Series is what an objective is of.
	Series result.Series `json:"series,omitempty"`
	// Passing is set when what broke the clause looks like a passing
	// disturbance, so that a repetition may come out differently.
	Passing bool `json:"passing,omitempty"`
	// Short is set when the window was too short to tell a pulse of what waits
	// from its growth.
	Short bool `json:"short,omitempty"`
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
	// Passing is set when it is not, and nothing but passing disturbances
	// speaks against it.
	Passing bool `json:"passing,omitempty"`
	// Short is set when it is not, and nothing but the window's length speaks
	// against it.
	Short   bool     `json:"short,omitempty"`
	Clauses []Clause `json:"clauses"`

	// SlopeRate is the growth of what was due and has not arrived, and its 95%
	// interval, in messages per second; Sloped is false when it is not known.
	Sloped    bool    `json:"sloped"`
	SlopeRate float64 `json:"slope_msgs_per_s"`
	SlopeLow  float64 `json:"slope_low_msgs_per_s"`
	SlopeHigh float64 `json:"slope_high_msgs_per_s"`
}

// Broken is the first clause that does not hold; false when all do.
func (s Stability) Broken() (Clause, bool) {
	// A clause that is broken says more than one that cannot be judged.
	for _, outcome := range []string{result.Broken, result.Unknown} {
		if i := slices.IndexFunc(s.Clauses,
			func(c Clause) bool { return c.Outcome == outcome }); i >= 0 {
			return s.Clauses[i], true
		}
	}
	return Clause{}, false
}

// Clause is the clause of a name; the zero Clause when there is none.
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
//   - achieved: at least 99% of what was offered was acknowledged, and received
//     by each subscription, within the window. What waits goes up and down, and
//     so does what is missing at the window's end: beside the 1%, as much may
//     wait there as did in the first half of the window;
//   - backlog: what was due and has not arrived (waiting to be handed over, in
//     flight, or acknowledged and not received) does not grow: it is not shown,
//     at 95%, that it grows by more than 0.25% of the offered rate. Where it
//     comes in pulses of more than 1% of what was offered, what is left between
//     them does not grow;
//   - lag: neither does schedule lag, by the same share of the time;
//   - failures: nothing was refused, left unanswered or lost;
//   - generator: plimsoll itself was not the limit;
//   - slo: each objective holds.
//
// A rate is stable when every clause holds: what cannot be judged does not.
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
	bad := slices.DeleteFunc(slices.Clone(v.Clauses),
		func(c Clause) bool { return c.Outcome == result.Holds })
	v.Stable = len(bad) == 0
	v.Short = !v.Stable && !slices.ContainsFunc(bad, func(c Clause) bool { return !c.Short })
	// Where nothing waits longer and longer, a shortfall is one that passes.
	if grew := backlog.Outcome != result.Holds; !v.Stable && !grew {
		v.Passing = !slices.ContainsFunc(bad, func(c Clause) bool { return !c.Passing })
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
	unacked, unread := (sum.OfferedRate-sum.AchievedRate)*window,
		(sum.OfferedRate-sum.ReceivedRate)*window
	share := (1 - achievedBound) * sum.OfferedRate * window
	mayUnacked, mayUnread := share+mayWait(q.unacked()), share+mayWait(q.waiting())
	c.Figures = []Figure{{"offered_msgs_per_s", sum.OfferedRate},
		{"acked_msgs_per_s", sum.AchievedRate}, {"received_msgs_per_s", sum.ReceivedRate},
		{"least_share", achievedBound}, {"unacked_msgs", unacked},
		{"unacked_bound_msgs", mayUnacked}, {"unread_msgs", unread},
		{"unread_bound_msgs", mayUnread}}
	words := fmt.Sprintf(
		"%.1f%% of what was offered was acknowledged within the window, and %.1f%% received",
		sum.AchievedRate/sum.OfferedRate*100, sum.ReceivedRate/sum.OfferedRate*100)
	if unacked > mayUnacked || unread > mayUnread {
		c.Short = judge(q.seconds, q.waiting(), sum.OfferedRate, GrowthBound*sum.OfferedRate).pulses
		return c.say(result.Broken, "%s: at least %.0f%% is asked, give or take what always waits",
			words, achievedBound*100)
	}
	c.Passing = false
	return c.say(result.Holds, "%s", words)
}

// mayWait is how much more may wait at the end of a window than at its start: as
// much as did in its first half.
func mayWait(waits []float64) float64 {
	if len(waits) == 0 {
		return 0
	}
	return slices.Max(waits[:len(waits)/2+1]) - waits[0]
}

// nothingFailed asks that every message was answered well, and arrived.
func nothingFailed(r *result.Run) Clause {
	v := failures(r)
	c := Clause{Name: ClauseFailures,
		Figures: []Figure{{"refused_msgs", float64(r.Counters.Failed)},
			{"unanswered_msgs", float64(r.Counters.Unknown)},
			{"unsent_msgs", float64(r.Counters.Unsent)}}}
	if v.Outcome != result.Holds {
		return c.say(v.Outcome, "%s", v.Sentence)
	}
	if l := loss(r); l.Outcome == result.Broken {
		return c.say(l.Outcome, "%s", l.Sentence)
	}
	return c.say(result.Holds, "%s", v.Sentence)
}

// ownLimit asks whether plimsoll was the limit: of the rate, and where there are objectives
// of latencies too.
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
