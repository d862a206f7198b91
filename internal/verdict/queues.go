package verdict

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// queues holds the numbers of waiting messages at the end of each interval of a window; the first
// is at the window's start, if known.
type queues struct {
	seconds  []float64 // since the first
	unsent   []float64 // due and not handed over
	inFlight []float64 // handed over and not answered
	unread   []float64 // acknowledged and not received, for each subscription
	lagEnd   []float64 // seconds of the run at the end of each interval that has a lag
	lagNs    []float64 // the interval's mean schedule lag
}

// queuesOf reads the numbers of waiting messages from a run's intervals.
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
			q = queues{} // only the last warm-up interval is the window's start
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
				q.lagEnd = append(q.lagEnd, float64(i.EndNs)/1e9)
				q.lagNs = append(q.lagNs, l.MeanNs)
			}
		}
	}
	return q
}

// unacked returns the numbers of messages due and not acknowledged.
func (q queues) unacked() []float64 {
	all := slices.Clone(q.unsent)
	for i := range all {
		all[i] += q.inFlight[i]
	}
	return all
}

// waiting returns the numbers of messages due and not yet arrived.
func (q queues) waiting() []float64 {
	all := q.unacked()
	for i := range all {
		all[i] += q.unread[i]
	}
	return all
}

// judged says whether a series grows by more than a bound.
type judged struct {
	growth
	pulse
	known  bool
	pulses bool // the series has pulses that matter
	grows  bool
	rate   float64 // of the growth, per second, whether it is shown or not
}

// judge judges whether a series grows by more than bound per second; rate is the units
// offered per second. A series grows when its trend grows with 95% confidence. Where it has
// pulses, the troughs between them decide.
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

// sentence says how the series called name grows, or that growth is not shown; print prints
// a growth.
func (j judged) sentence(name string, bound float64, print func(float64) string) string {
	subject, grown := name, fmt.Sprintf("%s (95%%: %s to %s)", print(j.slope), print(j.low),
		print(j.high))
	if j.pulses {
		subject, grown = name+" comes in pulses: its minimum between pulses", print(j.rate)
	}
	switch {
	case j.pulses && j.short:
		return fmt.Sprintf("%s rose by %s, and %d whole pulses are too few to judge whether the "+
			"rise continues: measure for longer", subject, grown, j.pulse.pulses)
	case j.grows:
		return fmt.Sprintf("%s grows by %s, more than the bound of %s", subject, grown,
			print(bound))
	}
	return fmt.Sprintf("%s did not measurably grow: %s, the bound is %s",
		subject, grown, print(bound))
}

// clause fills in the outcome of a judgement.
func (j judged) clause(c Clause, sentence string) Clause {
	if j.grows {
		c.Short = j.short
		return c.say(result.Broken, "%s", sentence)
	}
	return c.say(result.Holds, "%s", sentence)
}

// backlog judges whether the number of messages due and not yet arrived grows.
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
	sentence := j.sentence("the number of messages due and not yet arrived", bound, quantity.Rate)
	return j.clause(c, sentence), j.growth, true
}

// lag judges whether schedule lag grows.
func (q queues) lag() Clause {
	c := Clause{Name: ClauseLag}
	const bound = GrowthBound * 1e9 // ns a second
	j := judge(q.lagEnd, q.lagNs, 1e9, bound)
	if !j.known {
		return c.say(result.Unknown, "messages were handed over in %d intervals: too few to tell "+
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
