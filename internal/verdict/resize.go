package verdict

import (
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// resizes returns the faults that changed the cluster's size.
func resizes(r *result.Run) (all []result.Fault) {
	for _, f := range r.Faults {
		if workload.FaultKind(f.Do).Resizes() {
			all = append(all, f)
		}
	}
	return all
}

// resized judges whether all copies were complete after each change of the cluster's size, and says
// what the changes cost.
func resized(r *result.Run, changes []result.Fault) result.Verdict {
	outcome := result.Holds
	var said []string
	for _, f := range changes {
		what := fmt.Sprintf("%s of %s", f.Do, strings.Join(f.Nodes, ", "))
		switch {
		case f.Error != "":
			return say(Resized, result.Broken, "%s", f.Error)
		case f.InSyncNs == 0:
			outcome = result.Unknown
			said = append(said, what+": the run ended before all copies were complete")
			continue
		}
		said = append(said, fmt.Sprintf("%s: all copies complete after %s, no acknowledgement "+
			"for %s", what, quantity.Duration(f.InSyncNs-f.StartNs), Silence(f.Effect)))
	}
	if r.Impact == nil {
		return say(Resized, outcome, "%s", strings.Join(said, "; "))
	}
	return say(Resized, outcome, "%s; in all faults %s messages refused, publish p99 %s",
		strings.Join(said, "; "), quantity.Count(r.Impact.During.Failed),
		beforeDuringAfter(r.Impact))
}

// Silence prints the longest time of a fault without an acknowledgement.
func Silence(e result.Effect) string {
	if !e.Seen() {
		return "at most " + quantity.Duration(e.ResolutionNs)
	}
	return Bounded(e.UnavailableNs, e.UnavailableBound)
}
