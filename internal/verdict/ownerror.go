package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// plimsoll's own error is judged at each percentile that tables print, against the latency that the
// system caused at that percentile: a long tail of the system hides no error of the median. A run
// is limited by plimsoll if its own error is too great at any percentile up to mostRanked. Higher
// percentiles depend on few messages, so only they themselves are marked.
const mostRanked = 99

// The least errors that are allowed (ownLagBoundNs, twinBoundNs) are those of p99. Most messages
// are not delayed by pauses, so the median may have a quarter of them, and p90 half.
func floorAt(percentile float64, floorNs int64) int64 {
	switch {
	case percentile < 90:
		return floorNs / 4
	case percentile < 99:
		return floorNs / 2
	}
	return floorNs
}

// OwnErrorBound returns the greatest error of plimsoll's own in a latency at a percentile, if the
// latency itself is ns: with more, the verdict is that plimsoll was the limit.
func OwnErrorBound(percentile float64, ns int64) int64 {
	return max(floorAt(percentile, twinBoundNs), ns/ownErrorDivisor)
}

// ownErrorAt returns the run's own lag and the rest of publish latency at a percentile, if known.
func ownErrorAt(g result.Generator, percentile float64) (result.OwnError, bool) {
	at := slices.IndexFunc(g.OwnErrors,
		func(e result.OwnError) bool { return e.Percentile == percentile })
	switch {
	case at >= 0:
		return g.OwnErrors[at], true
	case percentile == 99: // an earlier format, or too few messages for the others
		return result.OwnError{Percentile: 99, OwnLagNs: g.OwnLagP99Ns,
			LessOwnLagNs: g.LessOwnLagP99Ns, SimulatedLateNs: g.SimulatedLateP99Ns}, true
	}
	return result.OwnError{}, false
}

// OwnErrorAt returns the greatest of plimsoll's own errors in the latency of a series at a
// percentile, in ns: the twin's latency, own lag, or the lateness of the simulated system. It is
// false where the twin has too few messages, and for other series than publish and end to end.
func OwnErrorAt(r *result.Run, series result.Series, percentile float64) (ns int64, known bool) {
	twin, known := twinAt(r, series, percentile)
	if !known || series != result.Publish && series != result.EndToEnd {
		return 0, false
	}
	own, known := ownErrorAt(r.Summary.Generator, percentile)
	return max(twin, own.OwnLagNs, own.SimulatedLateNs), known
}

// systemAt returns the latency of a series at a percentile without plimsoll's own lag, with which
// plimsoll's error is compared. Runs of earlier formats have send latency in its place, which
// leaves out waits in Send.
func systemAt(r *result.Run, series result.Series, percentile float64) int64 {
	if series == result.EndToEnd {
		ns, _ := r.Summary.Series(series).At(percentile)
		return ns
	}
	if e, _ := ownErrorAt(r.Summary.Generator, percentile); e.LessOwnLagNs > 0 {
		return e.LessOwnLagNs
	}
	send := r.Summary.Series(result.Send)
	ns, ok := send.At(percentile)
	if !ok {
		ns, _ = send.At(50)
	}
	return ns
}

// errorBound returns the greatest own error that a percentile of a series may have, at least
// floorNs at p99. The system's latency contains the instrument's own error, which is subtracted.
func errorBound(r *result.Run, series result.Series, percentile float64, floorNs int64) int64 {
	if _, known := r.Summary.Series(series).At(percentile); !known {
		series = result.Publish
	}
	twin, _ := twinAt(r, series, percentile)
	return max(floorAt(percentile, floorNs),
		(systemAt(r, series, percentile)-twin)/ownErrorDivisor)
}

// twinAt returns the twin's latency at a percentile, if its messages support it.
func twinAt(r *result.Run, series result.Series, percentile float64) (ns int64, known bool) {
	i := r.Summary.Instrument
	switch {
	case i == nil:
		return 0, false
	case series == result.EndToEnd:
		return i.EndToEnd.At(percentile)
	}
	return i.Publish.At(percentile)
}

// excess is an own error beyond its bound.
type excess struct {
	percentile     float64
	ns, boundNs    int64
	lag, simulated bool // of own lag, of the simulated system; neither: of the twin
	publish, e2e   bool // the series that it concerns
}

// excesses returns the own errors beyond their bounds at each percentile that tables print, the
// lowest first.
func excesses(r *result.Run) (all []excess) {
	for _, p := range result.Percentiles {
		e, known := ownErrorAt(r.Summary.Generator, p)
		lagBound := errorBound(r, result.Publish, p, ownLagBoundNs)
		if known && r.Load.Closed == nil && e.OwnLagNs > lagBound {
			all = append(all, excess{percentile: p, ns: e.OwnLagNs, boundNs: lagBound, lag: true,
				publish: true, e2e: true})
		}
		lateBound := min(errorBound(r, result.Publish, p, twinBoundNs), mostLateNs)
		if known && e.SimulatedLateNs > lateBound {
			all = append(all, excess{percentile: p, ns: e.SimulatedLateNs, boundNs: lateBound,
				simulated: true, publish: true, e2e: true})
		}
		for _, series := range []result.Series{result.Publish, result.EndToEnd} {
			bound := errorBound(r, series, p, twinBoundNs)
			if ns, known := twinAt(r, series, p); known && ns > bound {
				all = append(all, excess{percentile: p, ns: ns, boundNs: bound,
					publish: series == result.Publish, e2e: series == result.EndToEnd})
			}
		}
	}
	return all
}

// worstOf returns the excess at the highest percentile that decides whether the run is ranked, and
// the lower percentiles that fail as well, in words.
func worstOf(r *result.Run, kind func(excess) bool) (worst excess, others string, is bool) {
	var names []string
	for _, e := range excesses(r) {
		if !kind(e) || e.percentile > mostRanked {
			continue
		}
		if is && worst.percentile != e.percentile {
			names = append(names, result.PercentileName(worst.percentile))
		}
		worst, is = e, true
	}
	if len(names) > 0 {
		others = ", also at " + strings.Join(names, ", ")
	}
	return worst, others, is
}

// besides prints a duration and its bound with the digits that distinguish them.
func besides(ns, boundNs int64) (value, bound string) {
	return quantity.DurationBeside(ns, boundNs), quantity.DurationBeside(boundNs, ns)
}

// lagLimits judges whether own lag exceeds its bound at a percentile.
func lagLimits(r *result.Run) (v result.Verdict, is bool) {
	e, others, is := worstOf(r, func(e excess) bool { return e.lag })
	lag, bound := besides(e.ns, e.boundNs)
	return say(Generator, result.Broken,
		"the load generator was the limit: own schedule lag %s %s exceeds the bound of %s%s",
		result.PercentileName(e.percentile), lag, bound, others), is
}

// simulatedLimits judges whether the simulated system answered late at any percentile.
func simulatedLimits(r *result.Run) (v result.Verdict, is bool) {
	return simulatedAt(r, func(float64) bool { return true })
}

func simulatedAt(r *result.Run, at func(p float64) bool) (v result.Verdict, is bool) {
	e, others, is := worstOf(r, func(e excess) bool { return e.simulated && at(e.percentile) })
	late, bound := besides(e.ns, e.boundNs)
	return say(Generator, result.Broken,
		"plimsoll itself was the limit: the simulated system answered %s later than its own "+
			"schedule (%s), beyond the bound of %s%s", late, result.PercentileName(e.percentile),
		bound, others), is
}

// twinLimits judges whether the twin's latency exceeds its bound.
func twinLimits(r *result.Run) (v result.Verdict, is bool) {
	e, others, is := worstOf(r, func(e excess) bool { return !e.lag && !e.simulated })
	latency, bound := besides(e.ns, e.boundNs)
	return say(Generator, result.Broken,
		"plimsoll itself was the limit: the twin, a system that takes no time, had a latency of "+
			"%s at %s, beyond the bound of %s%s", latency, result.PercentileName(e.percentile),
		bound, others), is
}

// notTheSystems names the percentiles that plimsoll's own error determines, of those too high to
// decide whether a run is ranked; empty: none.
func notTheSystems(r *result.Run) string {
	var names []string
	for _, e := range excesses(r) {
		if name := result.PercentileName(e.percentile); e.percentile > mostRanked &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s of latency shows plimsoll's own error and not the system",
		strings.Join(names, ", "))
}

// markOwnErrors marks the percentiles of publish and end-to-end latency at which plimsoll's own
// error exceeds its bound.
func markOwnErrors(r *result.Run) {
	all := excesses(r)
	r.Summary.Latency = slices.Clone(r.Summary.Latency)
	for i := range r.Summary.Latency {
		l := &r.Summary.Latency[i]
		l.Percentiles = slices.Clone(l.Percentiles)
		for j := range l.Percentiles {
			p := &l.Percentiles[j]
			p.OwnError = slices.ContainsFunc(all, func(e excess) bool {
				return e.percentile == p.Percentile && (e.publish && l.Series == result.Publish ||
					e.e2e && l.Series == result.EndToEnd)
			})
		}
	}
}
