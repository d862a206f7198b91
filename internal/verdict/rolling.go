package verdict

import (
	"cmp"
	"fmt"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// restarts returns the faults that are steps of the run's rolling restart.
func restarts(r *result.Run) (all []result.Fault) {
	for _, f := range r.Faults {
		if f.Do == string(workload.FaultRollingRestart) {
			all = append(all, f)
		}
	}
	return all
}

// rollingOf adds up the effects of the steps of a rolling restart.
func rollingOf(r *result.Run) {
	if r.Rolling == nil {
		return
	}
	sum := result.Rolling{Machines: r.Rolling.Machines, Refused: r.Impact.During.Failed}
	steps := restarts(r)
	againNs := int64(0) // end of the longest time of the steps so far
	_, endNs, _ := r.Window()
	for _, f := range steps {
		if f.InSyncNs > 0 {
			sum.InSync++
			sum.TotalNs = f.InSyncNs - steps[0].StartNs
		}
		if e := f.Effect; e.Seen() {
			sum.UnavailableBound = cmp.Or(sum.UnavailableBound, e.UnavailableBound)
			if e.UnavailableBound == result.AtLeast {
				e.AckedAgainNs = endNs // it lasted until then
			}
			sum.UnavailableNs += unseen(e, againNs)
			againNs = max(againNs, e.AckedAgainNs)
		}
	}
	*r.Rolling = sum
}

// unseen returns the part of a step's longest time without an acknowledgement that lies after
// againNs, because a time that lasts into the next step is the longest of both.
func unseen(e result.Effect, againNs int64) int64 {
	if e.AckedAgainNs == 0 {
		return e.UnavailableNs
	}
	return max(0, min(e.UnavailableNs, e.AckedAgainNs-againNs))
}

// rolling judges whether each machine came back in sync, and reports the effect of the restart.
func rolling(r *result.Run) result.Verdict {
	of := r.Rolling
	if of.InSync < of.Machines {
		outcome, why := result.Unknown, "the run ended before"
		for _, f := range restarts(r) {
			if f.Error != "" {
				outcome, why = result.Broken, f.Error
			}
		}
		return say(Rolling, outcome, "%d of %d machines were restarted and in sync again: %s",
			of.InSync, of.Machines, cmp.Or(why, "the others were not restarted"))
	}
	return say(Rolling, result.Holds, "%d of %d machines were restarted in %s, each in sync "+
		"before the next: no acknowledgement for %s, %s messages refused; publish p99 %s",
		of.InSync, of.Machines, quantity.Duration(of.TotalNs), unavailableOf(r),
		quantity.Count(of.Refused), beforeDuringAfter(r.Impact))
}

// unavailableOf returns the time without an acknowledgement during all restarts together.
func unavailableOf(r *result.Run) string {
	if r.Rolling.UnavailableNs > 0 {
		return Bounded(r.Rolling.UnavailableNs, r.Rolling.UnavailableBound) + " in all"
	}
	var resolution int64
	for _, f := range restarts(r) {
		resolution = max(resolution, f.Effect.ResolutionNs)
	}
	return "at most " + quantity.Duration(resolution) + " at a time"
}

// Bounded prints a length of time that may be a lower bound.
func Bounded(ns int64, bound result.Bound) string {
	if bound == result.AtLeast {
		return "at least " + quantity.Duration(ns)
	}
	return quantity.Duration(ns)
}

func beforeDuringAfter(i *result.Impact) string {
	p99 := func(p result.Part) string {
		if ns, known := p.Publish.At(99); known {
			return quantity.Duration(ns)
		}
		return "unknown"
	}
	return fmt.Sprintf("%s before, %s during, %s after", p99(i.Before), p99(i.During),
		p99(i.After))
}
