package verdict

import (
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// CatchUp is of runs with a backlog only.
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
			"the backlog was not there in time, because less was acknowledged than offered: "+
				"lower the rate")
	case result.BacklogBuilding:
		return say(CatchUp, result.Unknown, "the run ended before the backlog was there")
	}
	return say(CatchUp, result.Unknown, "the run ended before the backlog was read")
}

// lessThanNone is the effect of reading on publish p99 below which the stretch
// before cannot have been of a settled system.
const lessThanNone = 0.8

func effectOf(b *result.Backlog) (ratio float64, known bool) {
	if b == nil {
		return 0, false
	}
	return b.Effect(result.Publish, 99)
}
