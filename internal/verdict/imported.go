package verdict

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// imported returns the verdicts about a run that another tool measured. There is no schedule, no
// account and no reading of the cluster, so most verdicts are unknown.
func imported(r *result.Run, receiving result.Verdict) []result.Verdict {
	tool := r.Imported.Tool
	return []result.Verdict{
		say(Generator, result.Unknown, "%s did not record its own lag", tool),
		say(Rate, result.Unknown, "%s did not record the rate to be offered; %s was acknowledged",
			tool, quantity.Rate(r.Summary.AchievedRate)),
		receiving,
		say(Loss, result.Unknown, "%s does not account for messages", tool),
		say(Order, result.Unknown, "%s does not check the order of messages", tool),
		importedFailures(r),
		say(Durability, result.Unknown, "%s did not record the durability of an acknowledgement",
			tool),
	}
}

func importedFailures(r *result.Run) result.Verdict {
	tool, refused, polls := r.Imported.Tool, r.Counters.Failed, r.Imported.PollErrors
	switch {
	case refused > 0:
		return say(Failures, result.Broken,
			"about %s messages were refused, according to the rate that %s recorded",
			quantity.Count(refused), tool)
	case polls > 0:
		return say(Failures, result.Broken, "consumers failed to read %s times, as %s recorded",
			quantity.Count(polls), tool)
	case len(r.Imported.Recorded) > 0 && !r.Imported.Knows(result.RecordedRefused):
		return say(Failures, result.Unknown, "%s did not record whether messages were refused",
			tool)
	}
	return say(Failures, result.Unknown,
		"%s recorded no failed message, and it does not count messages without an answer", tool)
}

// importedReceiving judges by the figures of another tool whether the consumers kept up. The
// number of subscriptions is not on record: the backlog is that of all of them, and growth is
// compared with all that was to be received.
func importedReceiving(s *result.Saved) result.Verdict {
	r, sum := &s.Run, s.Run.Summary
	tool := r.Imported.Tool
	rates := fmt.Sprintf("%s was acknowledged and %s received", quantity.Rate(sum.AchievedRate),
		quantity.Rate(sum.ReceivedRate))
	backlog := r.Imported.Knows(result.RecordedBacklog) || sum.MaxBacklog > 0
	short := sum.ReceivedRate < achievedBound*sum.AchievedRate
	switch {
	case !r.Imported.Knows(result.RecordedReceived) && sum.ReceivedRate == 0:
		return say(Receiving, result.Unknown, "%s did not record what consumers received", tool)
	case sum.AchievedRate <= 0:
		return say(Receiving, result.Unknown, "%s: nothing was acknowledged: cannot judge", rates)
	case sum.ReceivedRate == 0 && backlog && sum.MaxBacklog == 0:
		return say(Receiving, result.Unknown, "%s, and no backlog: nothing subscribed", rates)
	case !backlog && !short:
		return say(Receiving, result.Unknown, "%s, and %s recorded neither the subscriptions nor "+
			"the backlog", rates, tool)
	case !backlog:
		return say(Receiving, result.Broken, "consumers did not keep up: %s", rates)
	}
	return importedBacklog(s, rates, short)
}

// importedBacklog judges a backlog that another tool recorded; short: less was received than
// acknowledged.
func importedBacklog(s *result.Saved, rates string, short bool) result.Verdict {
	q, sum := queuesOf(s), s.Run.Summary
	sum.AchievedRate = max(sum.AchievedRate, sum.ReceivedRate)
	bound := GrowthBound * sum.AchievedRate
	j := judge(q.seconds, q.unread, sum.AchievedRate, bound)
	switch {
	case j.known && j.grows && !j.short:
		return say(Receiving, result.Broken, "consumers did not keep up: %s, and %s", rates,
			j.sentence(waitingMessages, bound, quantity.Rate))
	case fellBehind(q.unread, sum), short:
		return say(Receiving, result.Broken, "consumers did not keep up: %s, and the backlog was "+
			"%s messages at the end", rates, quantity.Count(sum.EndBacklog))
	case !j.known || j.grows:
		return say(Receiving, result.Unknown, "%s; the %d periods are too few to tell whether the "+
			"backlog grows", rates, len(q.unread))
	}
	return say(Receiving, result.Holds, "%s, and %s did not measurably grow",
		rates, waitingMessages)
}

// fellBehind reports whether more messages wait at the window's end than ever in its first
// half, by more than the share of the window's messages that may be missing.
func fellBehind(unread []float64, s result.Summary) bool {
	if len(unread) < 2 {
		return false
	}
	most := slices.Max(unread[:len(unread)/2+1])
	return unread[len(unread)-1]-most > (1-achievedBound)*s.AchievedRate*float64(s.WindowNs)/1e9
}

// importWarnings warns of the other tool's way of measuring.
func importWarnings(r *result.Run) []result.Warning {
	all := list{}
	for _, note := range r.Imported.Notes {
		all.warn(codeImported, "%s", note)
	}
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken {
			all.warn(v.Name, "%s", v.Sentence)
		}
	}
	return all
}
