package verdict

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// receivingOtherwise returns the verdict when the growth of the backlog does not show whether the
// consumers kept up, because the run cannot show it, or because they left on purpose; is is false
// when growth decides.
func receivingOtherwise(r *result.Run) (v result.Verdict, is bool) {
	lost := lostWorker(r)
	switch {
	case lost != "":
		return say(Receiving, result.Unknown, "%s", lost), true
	case r.Backlog != nil && r.Backlog.Then == "drain":
		return say(Receiving, result.Unknown,
			"consumers began to read late on purpose: see the verdict "+CatchUp), true
	case r.ProducersAlone():
		return say(Receiving, result.Unknown,
			"the load has no subscription: nothing was to be received"), true
	case r.Summary.AchievedRate <= 0:
		return say(Receiving, result.Unknown,
			"nothing was acknowledged in the measured window: cannot judge"), true
	case left(r):
		return receivingAfterAbsence(r), true
	}
	return v, false
}

// receivingByRates judges by the rates alone whether the consumers kept up.
func receivingByRates(r *result.Run) result.Verdict {
	if v, is := receivingOtherwise(r); is {
		return v
	}
	s := r.Summary
	waits := float64(s.EndBacklog) / float64(max(r.Load.Subscriptions, 1))
	// Without intervals, the number of messages that waited when the window began is unknown.
	if s.ReceivedRate < achievedBound*s.AchievedRate &&
		waits > (1-achievedBound)*float64(r.Counters.Acked) {
		return say(Receiving, result.Broken,
			"consumers did not keep up: %s was acknowledged and %s received, and %s messages "+
				"waited at the end of the window",
			quantity.Rate(s.AchievedRate), quantity.Rate(s.ReceivedRate), quantity.Count(
				int64(waits)))
	}
	return say(Receiving, result.Holds, "%s was acknowledged and %s received",
		quantity.Rate(s.AchievedRate), quantity.Rate(s.ReceivedRate))
}

// receiving judges whether each subscription received the acknowledged messages, within the
// window and without a growing backlog. Messages that are known to be lost do not count against the
// consumers; others that did not arrive do.
func receiving(s *result.Saved) result.Verdict {
	r := &s.Run
	if r.Imported != nil {
		return importedReceiving(s)
	}
	if v, is := receivingOtherwise(r); is {
		return v
	}
	q := queuesOf(s)
	sum, window := r.Summary, float64(r.Summary.WindowNs)/1e9
	bound := GrowthBound * sum.AchievedRate
	j := judge(q.seconds, q.unread, sum.AchievedRate, bound)
	lost, least := lostRate(r), leastReceived(sum)
	rates := fmt.Sprintf("%s was acknowledged and %s received", quantity.Rate(sum.AchievedRate),
		quantity.Rate(least))
	if r.Load.Subscriptions > 1 {
		rates += " by the slowest of the subscriptions"
	}
	switch {
	case !j.known:
		return receivingByRates(r)
	case j.grows && !j.short && j.rate-lost > bound:
		return say(Receiving, result.Broken, "consumers did not keep up: %s, and %s", rates,
			j.sentence(waitingMessages, bound, quantity.Rate))
	case (sum.AchievedRate-least-lost)*window >
		(1-achievedBound)*sum.AchievedRate*window+mayWait(q.unread):
		return say(Receiving, result.Broken,
			"consumers fell behind during the window: %s", rates)
	case j.grows && j.short:
		return say(Receiving, result.Unknown, "%s; %s", rates,
			j.sentence(waitingMessages, bound, quantity.Rate))
	}
	return say(Receiving, result.Holds, "%s, and %s did not measurably grow",
		rates, waitingMessages)
}

// waitingMessages names the number of acknowledged and unread messages in a sentence.
const waitingMessages = "the number of messages waiting for consumers"

// leastReceived returns the received rate of the slowest subscription, or of all where the slowest
// is not on record.
func leastReceived(s result.Summary) float64 {
	if s.LeastReceivedRate > 0 {
		return s.LeastReceivedRate
	}
	return s.ReceivedRate
}

// lostRate returns the messages of the window per second that a subscription lost.
func lostRate(r *result.Run) float64 {
	seconds := float64(r.Summary.WindowNs) / 1e9
	if seconds <= 0 || !r.Ledger.Accounted {
		return 0
	}
	lost := int64(0)
	for _, l := range r.Ledger.Subscriptions {
		lost = max(lost, l.Lost-l.LostWarmup)
	}
	return float64(lost) / seconds
}
