package verdict

import (
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
				q.lagEnd, q.lagNs = append(q.lagEnd, float64(i.EndNs)/1e9), append(q.lagNs, l.MeanNs)
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

// backlog asks whether what waits grows.
func (q queues) backlog(offeredRate float64) (Clause, growth, bool) {
	c := Clause{Name: ClauseBacklog}
	t, ok := growthOf(q.seconds, q.waiting())
	if !ok || offeredRate <= 0 {
		return c.say(result.Unknown, "the window has %d intervals: too few to tell whether the backlog grows", t.points), t, false
	}
	bound := GrowthBound * offeredRate
	c.Figures = []Figure{{"slope_msgs_per_s", t.slope}, {"slope_low_msgs_per_s", t.low}, {"slope_high_msgs_per_s", t.high},
		{"bound_msgs_per_s", bound}, {"points", float64(t.points)}}
	if t.low > bound {
		return c.say(result.Broken, "what is due and has not arrived grows by %s (95%%: %s to %s), by more than the bound of %s",
			quantity.Rate(t.slope), quantity.Rate(t.low), quantity.Rate(t.high), quantity.Rate(bound)), t, true
	}
	return c.say(result.Holds, "what is due and has not arrived is not shown to grow: %s (95%%: %s to %s), the bound is %s",
		quantity.Rate(t.slope), quantity.Rate(t.low), quantity.Rate(t.high), quantity.Rate(bound)), t, true
}

// lag asks whether messages are handed over later and later.
func (q queues) lag() Clause {
	c := Clause{Name: ClauseLag}
	t, ok := growthOf(q.lagEnd, q.lagNs)
	if !ok {
		return c.say(result.Unknown, "in %d intervals something was handed over: too few to tell whether schedule lag grows", t.points)
	}
	const bound = GrowthBound * 1e9 // ns a second
	c.Figures = []Figure{{"slope_ns_per_s", t.slope}, {"slope_low_ns_per_s", t.low}, {"slope_high_ns_per_s", t.high}, {"bound_ns_per_s", bound}}
	if t.low > bound {
		return c.say(result.Broken, "schedule lag grows by %s a second (95%%: %s to %s), by more than the bound of %s",
			duration(t.slope), duration(t.low), duration(t.high), duration(bound))
	}
	return c.say(result.Holds, "schedule lag is not shown to grow: %s a second (95%%: %s to %s), the bound is %s",
		duration(t.slope), duration(t.low), duration(t.high), duration(bound))
}

func duration(ns float64) string {
	if !finite(ns) || ns > 1e18 || ns < -1e18 {
		return "an unknown time"
	}
	return quantity.Duration(int64(ns))
}
