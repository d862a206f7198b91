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
			"the load generator was the limit: from an answer to the next message it took %s on average, %.0f%% of the time of a send (bound %.0f%%)",
			quantity.Duration(int64(own)), share*100, turnAroundBound*100)
	}
	if g.CPUShare > cpuBound && !r.System.SharesHost {
		return say(Generator, result.Broken, "the load generator was the limit: it used %.0f%% of all cores", g.CPUShare*100)
	}
	return say(Generator, result.Holds, "the load generator kept up: from an answer to the next message it took %s on average, %.1f%% of the time of a send",
		quantity.Duration(int64(own)), share*100)
}

// sendsInFlight holds Little's law against what is known of a closed loop: the
// sends under way, rate x mean latency of a whole send, can be no more than were
// asked for. What is missing is the time from an answer to the next send.
func sendsInFlight(r *result.Run) result.Verdict {
	c, l := r.Load.Closed, r.Summary.Little
	send, lag := r.Summary.Series(result.SendCall), r.Summary.Series(result.Lag)
	asked := float64(r.Load.Topics) * float64(r.Load.Producers) * float64(c.InFlight)
	perNs := float64(send.Count) / max(float64(r.Summary.WindowNs), 1)
	if sends := perNs * send.MeanNs; sends > asked*(1+littleBound) || perNs*(send.MeanNs+lag.MeanNs) < asked*(1-littleBound) {
		return say(LittlesLaw, result.Broken, "%.2f sends were in flight by rate x latency, %.0f by the closed loop: one of plimsoll's own figures is wrong", sends, asked)
	}
	return say(LittlesLaw, result.Holds, "%.1f messages in flight by sampling, %.1f by rate x latency; %.2f sends of %.0f asked for, the rest on their turn",
		l.SampledInFlight, l.ExpectedInFlight, perNs*send.MeanNs, asked)
}
