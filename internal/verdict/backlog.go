package verdict

import (
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// CatchUp is the name of the verdict about a backlog; runs without a backlog lack it.
const CatchUp = "catch_up"

// catchUp asks whether the readers of a backlog caught up.
func catchUp(b *result.Backlog) result.Verdict {
	read, published := quantity.Rate(b.ReadRate), quantity.Rate(b.PublishedRate)
	switch b.End {
	case result.BacklogCaughtUp:
		return say(CatchUp, result.Holds,
			"the readers caught up with %s messages (%s) in %s: they read %s while %s were "+
				"published",
			quantity.Count(b.Messages), quantity.Bytes(b.Bytes), quantity.Duration(
				b.CatchUpNs()), read, published)
	case result.BacklogNever:
		return say(CatchUp, result.Broken,
			"the readers never catch up at this rate: they read %s and %s are published, and the "+
				"backlog of %s messages does not shrink",
			read, published, quantity.Count(b.Messages))
	case result.BacklogTooLong:
		return say(CatchUp, result.Broken,
			"the readers did not catch up within the limit: they read %s while %s were "+
				"published, and %s messages were left",
			read, published, quantity.Count(b.LeftMessages))
	case result.BacklogNotBuilt:
		return say(CatchUp, result.Unknown,
			"the backlog was not built in time, because fewer messages were acknowledged than "+
				"offered: lower the rate")
	case result.BacklogBuilding:
		return say(CatchUp, result.Unknown, "the run ended before the backlog was built")
	}
	return say(CatchUp, result.Unknown, "the run ended before the backlog was read")
}

// leastSteadyEffect is the least ratio of publish p99 while the backlog was read to publish
// p99 before. A lower ratio shows that the system was not in a steady state before.
const leastSteadyEffect = 0.8

// effectOf is the ratio of publish p99 while the backlog was read to publish p99 before.
func effectOf(b *result.Backlog) (ratio float64, known bool) {
	if b == nil {
		return 0, false
	}
	return b.Effect(result.Publish, 99)
}
