package verdict

import (
	"cmp"

	"github.com/plimsoll-bench/plimsoll/internal/clock"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// The bounds of plimsoll's own error.
const (
	// ownLagBoundNs is the own lag that every run may have. twinBoundNs is the latency that
	// the twin may have: its answers pass through goroutines that share the cores with all
	// others.
	ownLagBoundNs = 1_000_000
	twinBoundNs   = 2_000_000
	// ownErrorDivisor divides the system's own latency into the bound of plimsoll's error:
	// with an error above one half, plimsoll causes more of the tail than the system.
	ownErrorDivisor = 2
	// mostLateNs is how late the simulated system may answer, however long its answers take:
	// beyond it the run did not carry the load.
	mostLateNs = 25_000_000
	// Own lag must be known for fewestOwnLags messages and for leastOwnShare of those
	// scheduled.
	fewestOwnLags = 100
	leastOwnShare = 0.9
	// cpuBound is the share of all cores above which plimsoll is the limit, if it shares its
	// machine with no server.
	cpuBound = 0.9
	// throttledDivisor divides the window into the longest allowed time for which a limit of CPU
	// throttles threads: beyond one hundredth, p99 may be due to the limit.
	throttledDivisor = 100
)

// generator judges whether plimsoll itself was the limit: it handed messages over late (own lag),
// recorded answers and deliveries late (the twin's latency), or could not run the simulated system
// in time.
func generator(r *result.Run) result.Verdict {
	if v, is := throttlingLimits(r); is { // it causes the other symptoms
		return v
	}
	if v, is := twinLimits(r); is {
		return v
	}
	return carried(r)
}

// carried judges whether plimsoll offered the requested load. It is generator without the twin,
// whose latency is an error of latencies, not of a rate.
func carried(r *result.Run) result.Verdict {
	g, lag := r.Summary.Generator, r.Summary.Series(result.Lag)
	if lag.Count == 0 && g.OwnLagCount == 0 {
		return say(Generator, result.Unknown, "nothing was handed over in the measured window")
	}
	if _, own := r.Environment.OwnCPUs(); own > 0 {
		share := g.CPUShare * float64(r.Environment.Cores) / float64(own)
		if share > cpuBound {
			return say(Generator, result.Broken,
				"the load generator was the limit: it used %.0f%% of its own cores", share*100)
		}
	}
	if g.CPUShare > cpuBound && !r.System.SharesHost && r.Environment.Clock != clock.VirtualName {
		return say(Generator, result.Broken,
			"the load generator was the limit: it used %.0f%% of all cores", g.CPUShare*100)
	}
	if v, is := throttlingLimits(r); is {
		return v
	}
	if v, is := simulatedLimits(r); is {
		return v
	}
	if r.Load.Closed != nil {
		return turnAround(r)
	}
	bound := errorBound(r, ownLagBoundNs)
	lagNs, of := worstLag(r)
	if lagNs > bound {
		return say(Generator, result.Broken,
			"the load generator was the limit: own schedule lag p99 %s%s exceeds the bound of %s",
			quantity.Duration(lagNs), of, quantity.Duration(bound))
	}
	if v, is := ownLagUnknown(r, bound); is {
		return v
	}
	error99, _, known := twinError(r)
	if !known && !r.Lacks() {
		return say(Generator, result.Unknown,
			"the instrument's own error was not measured, or too rarely to judge it: own lag p99 "+
				"%s, bound %s",
			quantity.Duration(lagNs), quantity.Duration(bound))
	}
	sentence := "the load generator kept up: own schedule lag p99 " +
		quantity.Duration(lagNs) + of
	if known {
		sentence += ", the instrument's own error " + quantity.Duration(error99)
	}
	sentence += ", bound " + quantity.Duration(bound)
	if r.Environment.ThreadStates == "" && !r.Lacks() {
		sentence += "; this machine does not show whether Send waits or works, so every Send " +
			"longer than 1 ms counts as the system's"
	}
	if throttled, _ := throttling(r); throttled != "" {
		sentence += "; " + throttled
	}
	return say(Generator, result.Holds, "%s", sentence)
}

// worstLag returns the p99 of own lag: of all messages, or of a fleet's worker if its own is
// greater. The worst worker decides, because a mean over workers would hide it.
func worstLag(r *result.Run) (ns int64, of string) {
	ns = r.Summary.Generator.OwnLagP99Ns
	for _, w := range r.Workers {
		if w.OwnLagCount >= fewestOwnLags && w.OwnLagP99Ns > ns {
			ns, of = w.OwnLagP99Ns, " (of worker "+w.Name+")"
		}
	}
	return ns, of
}

// twinError returns the higher of the twin's publish and end-to-end latency, at p99 or the highest
// percentile below that its messages support.
func twinError(r *result.Run) (ns int64, percentile float64, known bool) {
	i := r.Summary.Instrument
	if i == nil {
		return 0, 0, false
	}
	for _, percentile := range []float64{99, 95, 90, 75} {
		publish, ok := i.Publish.At(percentile)
		if !ok {
			continue
		}
		received, _ := i.EndToEnd.At(percentile)
		return max(publish, received), percentile, true
	}
	return 0, 0, false
}

// systemTail returns the p99 of publish latency minus own lag, with which plimsoll's error is
// compared. Runs of earlier formats have send latency in its place, which leaves out waits in
// Send.
func systemTail(r *result.Run) int64 {
	if own := r.Summary.Generator.LessOwnLagP99Ns; own > 0 {
		return own
	}
	send := r.Summary.Series(result.Send)
	for _, percentile := range []float64{99, 50} {
		if ns, ok := send.At(percentile); ok {
			return ns
		}
	}
	return 0
}

// errorBound returns the greatest own error that a run may have, at least floorNs. The system's
// latency contains the instrument's own error, which is subtracted.
func errorBound(r *result.Run, floorNs int64) int64 {
	return max(floorNs, (systemTail(r)-twinTail(r))/ownErrorDivisor)
}

// twinTail returns the twin's publish p99, or 0 if unknown.
func twinTail(r *result.Run) int64 {
	if r.Summary.Instrument == nil {
		return 0
	}
	ns, _ := r.Summary.Instrument.Publish.At(99)
	return ns
}

// simulatedLimits judges whether the simulated system answered late.
func simulatedLimits(r *result.Run) (v result.Verdict, is bool) {
	bound := errorBound(r, twinBoundNs)
	if late, most := r.Summary.Generator.SimulatedLateP99Ns, min(bound, mostLateNs); late > most {
		return say(Generator, result.Broken,
			"plimsoll itself was the limit: the simulated system answered %s later than its own "+
				"schedule (p99), beyond the bound of %s",
			quantity.Duration(late), quantity.Duration(most)), true
	}
	return v, false
}

// twinLimits judges whether the twin's latency exceeds its bound.
func twinLimits(r *result.Run) (v result.Verdict, is bool) {
	bound := errorBound(r, twinBoundNs)
	if own, percentile, known := twinError(r); known && own > bound {
		return say(Generator, result.Broken,
			"plimsoll itself was the limit: the twin, a system that takes no time, had a latency "+
				"of %s at p%g, beyond the bound of %s",
			quantity.Duration(own), percentile, quantity.Duration(bound)), true
	}
	return v, false
}

// ownLagUnknown returns an unknown verdict when own lag is known for too few messages.
func ownLagUnknown(r *result.Run, bound int64) (v result.Verdict, is bool) {
	g := r.Summary.Generator
	if r.Lacks() {
		// An older run does not record how many messages have an own lag, but own lag is never
		// more than lag.
		if lag, ok := r.Summary.Series(result.Lag).At(99); ok && lag <= bound {
			return v, false
		}
		return say(Generator, result.Unknown,
			"this run does not record for how many messages own lag is known"), true
	}
	scheduled := max(r.Counters.Scheduled, 1)
	share := float64(g.OwnLagCount) / float64(scheduled)
	if g.OwnLagCount >= fewestOwnLags && share >= leastOwnShare {
		return v, false
	}
	return say(Generator, result.Unknown,
		"own lag is known for %s of %s messages: too few to judge whether the load generator "+
			"kept up",
		quantity.Count(g.OwnLagCount),
		quantity.Count(cmp.Or(r.Counters.Scheduled, g.OwnLagCount))), true
}
