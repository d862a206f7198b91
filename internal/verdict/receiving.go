package verdict

import (
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// receivedBound is the share of the acknowledged rate that each subscription must
// receive within the window.
const receivedBound = 0.995

// receivingUnknown says why it cannot be told whether consumers kept up; is is false
// where it can.
func receivingUnknown(r *result.Run) (v result.Verdict, is bool) {
	switch {
	case r.Backlog != nil && r.Backlog.Then == "drain":
		return say(Receiving, result.Unknown, "consumers began to read late on purpose: see whether they caught up"), true
	case r.Summary.AchievedRate <= 0:
		return say(Receiving, result.Unknown, "nothing was acknowledged in the measured window, so nothing could be received"), true
	}
	return v, false
}

// receivingByRates asks by the rates alone whether the consumers kept up.
func receivingByRates(r *result.Run) result.Verdict {
	if v, is := receivingUnknown(r); is {
		return v
	}
	s := r.Summary
	waits := float64(s.EndBacklog) / float64(max(r.Load.Subscriptions, 1))
	// Without its intervals it is not known how much waited when the window began.
	if s.ReceivedRate < achievedBound*s.AchievedRate && waits > (1-achievedBound)*float64(r.Counters.Acked) {
		return say(Receiving, result.Broken, "consumers did not keep up: %s was acknowledged and %s received, and %s messages waited at the end of the window",
			quantity.Rate(s.AchievedRate), quantity.Rate(s.ReceivedRate), quantity.Count(int64(waits)))
	}
	return say(Receiving, result.Holds, "%s was acknowledged and %s received by each subscription",
		quantity.Rate(s.AchievedRate), quantity.Rate(s.ReceivedRate))
}

// receiving asks whether each subscription received what was acknowledged, within the
// window and without a growing backlog.
func receiving(s *result.Saved) result.Verdict {
	r := &s.Run
	if v, is := receivingUnknown(r); is {
		return v
	}
	q := queuesOf(s)
	g, known := growthOf(q.seconds, q.unread)
	sum := r.Summary
	switch {
	case !known:
		return receivingByRates(r)
	case g.low > GrowthBound*sum.AchievedRate && sum.ReceivedRate < receivedBound*sum.AchievedRate:
		return say(Receiving, result.Broken,
			"consumers did not keep up: %s was acknowledged and %s received, and what waits for them grows by %s (95%%: %s to %s)",
			quantity.Rate(sum.AchievedRate), quantity.Rate(sum.ReceivedRate), quantity.Rate(g.slope), quantity.Rate(g.low), quantity.Rate(g.high))
	}
	return say(Receiving, result.Holds, "%s was acknowledged and %s received by each subscription, and what waits for them is not shown to grow",
		quantity.Rate(sum.AchievedRate), quantity.Rate(sum.ReceivedRate))
}
