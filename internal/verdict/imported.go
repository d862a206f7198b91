package verdict

import (
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// imported returns the verdicts about a run that another tool measured. There is no schedule, no
// account and no reading of the cluster, so most verdicts are unknown.
func imported(r *result.Run) []result.Verdict {
	tool := r.Imported.Tool
	out := []result.Verdict{
		say(Generator, result.Unknown, "%s did not record its own lag", tool),
		say(Rate, result.Unknown, "%s did not record the rate to be offered; %s was acknowledged",
			tool, quantity.Rate(r.Summary.AchievedRate)),
		say(Receiving, result.Unknown,
			"%s did not record whether consumers kept up; %s was received",
			tool, quantity.Rate(r.Summary.ReceivedRate)),
		say(Loss, result.Unknown, "%s does not account for messages", tool),
		say(Order, result.Unknown, "%s does not check the order of messages", tool),
		say(Failures, result.Unknown,
			"%s recorded no failed message, and it does not count messages without an answer",
			tool),
		say(Durability, result.Unknown, "%s did not record the durability of an acknowledgement",
			tool),
	}
	if n := r.Counters.Failed; n > 0 {
		out[5] = say(Failures, result.Broken,
			"about %s messages were refused, according to the rate that %s recorded",
			quantity.Count(n), tool)
	}
	return out
}

// importWarnings warns of the other tool's way of measuring.
func importWarnings(r *result.Run) []result.Warning {
	all := list{}
	for _, note := range r.Imported.Notes {
		all.warn("imported", "%s", note)
	}
	for _, v := range r.Verdicts {
		if v.Outcome == result.Broken {
			all.warn(v.Name, "%s", v.Sentence)
		}
	}
	return all
}
