package verdict

import (
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// turnAroundBound is the share of the time between two answers that plimsoll may use
// itself. In a closed loop that time lowers the rate.
const turnAroundBound = 0.2

// turnAround judges whether plimsoll limited a closed loop, by the share of the time between an
// answer and the next message.
func turnAround(r *result.Run) result.Verdict {
	g, send := r.Summary.Generator, r.Summary.Series(result.SendCall)
	if send.Count == 0 {
		return say(Generator, result.Unknown, "no send was answered in the measured window")
	}
	own := g.OwnLagMeanNs
	share := own / max(own+send.MeanNs, 1)
	if share > turnAroundBound {
		return say(Generator, result.Broken,
			"the load generator was the limit: it took %s on average from an answer to the next "+
				"message, %s of the time of a send (bound %.0f%%)",
			quantity.Duration(int64(own)), quantity.PercentBeside(share, turnAroundBound),
			turnAroundBound*100)
	}
	return say(Generator, result.Holds,
		"the load generator kept up: it took %s on average from an answer to the next message, "+
			"%s of the time of a send",
		quantity.Duration(int64(own)), quantity.PercentBeside(share, turnAroundBound))
}
