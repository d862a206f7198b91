package verdict

import (
	"cmp"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// The bounds of plimsoll's own error.
const (
	// ownLagBoundNs is the own lag that every run may have at p99. twinBoundNs is the latency
	// that the twin may have: its answers pass through goroutines that share the cores with all
	// others. At lower percentiles less is allowed (see floorAt).
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
	v := carried(r)
	if v.Outcome == result.Broken {
		return v
	}
	for _, limits := range []func(*result.Run) (result.Verdict, bool){lagLimits, simulatedLimits} {
		if v, is := limits(r); is {
			return v
		}
	}
	if above := notTheSystems(r); above != "" {
		v.Sentence += "; " + above
	}
	return v
}

// carried judges whether plimsoll offered the requested load. It is generator without the errors of
// latencies that change no rate: those of the twin, and those of percentiles below p99.
func carried(r *result.Run) result.Verdict {
	g, lag := r.Summary.Generator, r.Summary.Series(result.Lag)
	if lag.Count == 0 && g.OwnLagCount == 0 {
		return say(Generator, result.Unknown, "nothing was handed over in the measured window")
	}
	if v, is := starved(r); is {
		return v
	}
	if v, is := simulatedAt(r, func(p float64) bool { return p == 99 }); is {
		return v
	}
	if r.Load.Closed != nil {
		return turnAround(r)
	}
	return punctual(r)
}

// starved judges whether plimsoll lacked CPU time.
func starved(r *result.Run) (v result.Verdict, is bool) {
	g := r.Summary.Generator
	if _, own := r.Environment.OwnCPUs(); own > 0 {
		share := g.CPUShare * float64(r.Environment.Cores) / float64(own)
		if share > cpuBound {
			return say(Generator, result.Broken,
				"the load generator was the limit: it used %.0f%% of its own cores",
				share*100), true
		}
	}
	if g.CPUShare > cpuBound && !r.System.SharesHost && r.Environment.Clock != clock.VirtualName {
		return say(Generator, result.Broken,
			"the load generator was the limit: it used %.0f%% of all cores", g.CPUShare*100), true
	}
	return throttlingLimits(r)
}

// punctual judges whether plimsoll handed the messages of an open load over in time.
func punctual(r *result.Run) result.Verdict {
	bound := errorBound(r, result.Publish, 99, ownLagBoundNs)
	lagNs, of := worstLag(r)
	lag99, most := besides(lagNs, bound)
	if lagNs > bound {
		return say(Generator, result.Broken,
			"the load generator was the limit: own schedule lag p99 %s%s exceeds the bound of %s",
			lag99, of, most)
	}
	if v, is := ownLagUnknown(r, bound); is {
		return v
	}
	error99, known := twinError(r)
	if !known && !r.Lacks() {
		return say(Generator, result.Unknown,
			"plimsoll's own error was not measured, or too rarely to judge it: own lag p99 %s, "+
				"bound %s", lag99, most)
	}
	sentence := "the load generator kept up: own schedule lag p99 " + lag99 + of
	if known {
		sentence += ", the instrument's own error " + quantity.Duration(error99)
	}
	sentence += ", bound " + most
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
func twinError(r *result.Run) (ns int64, known bool) {
	i := r.Summary.Instrument
	if i == nil {
		return 0, false
	}
	for _, percentile := range []float64{99, 95, 90, 75} {
		publish, ok := i.Publish.At(percentile)
		if !ok {
			continue
		}
		received, _ := i.EndToEnd.At(percentile)
		return max(publish, received), true
	}
	return 0, false
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
