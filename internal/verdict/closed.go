package verdict

import (
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// turnAroundBound is the part of a send's time, from the answer to the send
// before to its own, that plimsoll may take itself: in a closed loop that part
// lowers the rate, whoever takes it.
const turnAroundBound = 0.2

// turnAround asks of a closed loop whether plimsoll itself was the limit: how
// much of the time passed between an answer and the next message.
func turnAround(r *result.Run) result.Verdict {
	g, send := r.Summary.Generator, r.Summary.Series(result.SendCall)
	if send.Count == 0 {
		return say(Generator, result.Unknown, "no send was answered in the measured window")
	}
	own := g.OwnLagMeanNs
	share := own / max(own+send.MeanNs, 1)
	if share > turnAroundBound {
		return say(Generator, result.Broken,
			"the load generator was the limit: from an answer to the next message it took %s on "+
				"average, %.0f%% of the time of a send (bound %.0f%%)",
			quantity.Duration(int64(own)), share*100, turnAroundBound*100)
	}
	return say(Generator, result.Holds,
		"the load generator kept up: from an answer to the next message it took %s on average, "+
			"%.1f%% of the time of a send",
		quantity.Duration(int64(own)), share*100)
}
