package verdict

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// queues is what waited at the ends of a window's intervals, in messages; the
// first is at the window's start, where it is known.
type queues struct {
	seconds  []float64 // since the first
	unsent   []float64 // due and not handed over
	inFlight []float64 // handed over and not answered
	unread   []float64 // acknowledged and not received, for each subscription
	lagEnd   []float64 // seconds of the run, for each interval of the window
	lagNs    []float64 // its mean schedule lag
}

// queuesOf reads what waited from a run's intervals.
func queuesOf(s *result.Saved) queues {
	var q queues
	var unsent int64
	subscriptions := float64(max(s.Run.Load.Subscriptions, 1))
	for _, i := range s.Intervals {
		unsent += i.Scheduled - i.Sent
		if i.Phase != result.PhaseWarmup && i.Phase != result.PhaseMeasure {
			continue
		}
		if i.Phase == result.PhaseWarmup {
			q = queues{} // only the last of them is the window's start
		}
		q.seconds = append(q.seconds, float64(i.EndNs)/1e9)
		q.unsent = append(q.unsent, float64(max(unsent, 0)))
		q.inFlight = append(q.inFlight, float64(i.InFlight))
		q.unread = append(q.unread, float64(i.Backlog)/subscriptions)
		if i.Phase != result.PhaseMeasure {
			continue
		}
		for _, l := range i.Latency {
			if l.Series == result.Lag && l.Count > 0 {
				q.lagEnd, q.lagNs = append(q.lagEnd, float64(i.EndNs)/1e9), append(q.lagNs,
					l.MeanNs)
			}
		}
	}
	return q
}

// unacked is all that was due and not acknowledged.
func (q queues) unacked() []float64 {
	all := slices.Clone(q.unsent)
	for i := range all {
		all[i] += q.inFlight[i]
	}
	return all
}

// waiting is all that was due and had not arrived.
func (q queues) waiting() []float64 {
	all := q.unacked()
	for i := range all {
		all[i] += q.unread[i]
	}
	return all
}

// judged is whether a series grows by more than a bound.
type judged struct {
	growth
	pulse
	known  bool
	pulses bool // it comes in pulses that matter
	grows  bool
	rate   float64 // of the growth that is shown, or is not
}

// judge asks whether a series grows by more than bound a second; rate is what of
// it comes in a second. It grows when its trend is shown to, at 95%. Where it
// comes in pulses, what is left between them decides.
func judge(xs, ys []float64, rate, bound float64) judged {
	t, ok := growthOf(xs, ys)
	j := judged{growth: t, known: ok, rate: t.slope}
	if !ok {
		return j
	}
	j.grows = t.low > bound
	if j.pulse, j.pulses = pulseOf(xs, ys, t, rate, bound); j.pulses {
		j.grows, j.rate = j.pulse.grows, j.pulse.growth
	}
	return j
}

// sentence says how what grows, or is not shown to; print prints a growth.
func (j judged) sentence(what string, bound float64, print func(float64) string) string {
	if j.pulses {
		seen := fmt.Sprintf("%s comes in pulses, and the least between them", what)
		switch {
		case j.short:
			return fmt.Sprintf("%s rose by %s: a window with %d whole pulses does not tell "+
				"whether that goes on, a longer one would", seen, print(j.rate), j.pulse.pulses)
		case j.grows:
			return fmt.Sprintf("%s grows by %s, by more than the bound of %s",
				seen, print(j.rate), print(bound))
		}
		return fmt.Sprintf("%s is not shown to grow: %s, the bound is %s",
			seen, print(j.rate), print(bound))
	}
	interval := fmt.Sprintf("%s (95%%: %s to %s)", print(j.slope), print(j.low), print(j.high))
	if j.grows {
		return fmt.Sprintf("%s grows by %s, by more than the bound of %s",
			what, interval, print(bound))
	}
	return fmt.Sprintf("%s is not shown to grow: %s, the bound is %s", what, interval, print(bound))
}

// clause is the outcome of a judgement in words.
func (j judged) clause(c Clause, sentence string) Clause {
	if j.grows {
		c.Short = j.short
		return c.say(result.Broken, "%s", sentence)
	}
	return c.say(result.Holds, "%s", sentence)
}

// backlog asks whether what waits grows.
func (q queues) backlog(offeredRate float64) (Clause, growth, bool) {
	c := Clause{Name: ClauseBacklog}
	bound := GrowthBound * offeredRate
	j := judge(q.seconds, q.waiting(), offeredRate, bound)
	if !j.known || offeredRate <= 0 {
		return c.say(result.Unknown, "the window has %d intervals: too few to tell whether "+
			"the backlog grows", j.points), j.growth, false
	}
	c.Figures = []Figure{{"slope_msgs_per_s", j.slope},
		{"slope_low_msgs_per_s", j.low}, {"slope_high_msgs_per_s", j.high},
		{"bound_msgs_per_s", bound}, {"points", float64(j.points)}, {"swing_msgs", j.swing}}
	if j.pulses {
		c.Figures = append(c.Figures, Figure{"pulses", float64(j.pulse.pulses)},
			Figure{"trough_slope_msgs_per_s", j.rate})
	}
	sentence := j.sentence("what is due and has not arrived", bound, quantity.Rate)
	return j.clause(c, sentence), j.growth, true
}

// lag asks whether messages are handed over later and later.
func (q queues) lag() Clause {
	c := Clause{Name: ClauseLag}
	const bound = GrowthBound * 1e9 // ns a second
	j := judge(q.lagEnd, q.lagNs, 1e9, bound)
	if !j.known {
		return c.say(result.Unknown, "in %d intervals something was handed over: too few to tell "+
			"whether schedule lag grows", j.points)
	}
	c.Figures = []Figure{{"slope_ns_per_s", j.slope}, {"slope_low_ns_per_s", j.low},
		{"slope_high_ns_per_s", j.high}, {"bound_ns_per_s", bound}}
	perSecond := func(ns float64) string { return duration(ns) + " a second" }
	return j.clause(c, j.sentence("schedule lag", bound, perSecond))
}

func duration(ns float64) string {
	if !finite(ns) || ns > 1e18 || ns < -1e18 {
		return "an unknown time"
	}
	return quantity.Duration(int64(ns))
}
