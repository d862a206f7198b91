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
	return say(Resized, outcome, "%s%s", strings.Join(said, "; "), costOf(r.Impact))
}

// costOf says what changes cost, after a sentence about them.
func costOf(i *result.Impact) string {
	if i == nil {
		return ""
	}
	return fmt.Sprintf("; in all faults %s messages refused, publish p99 %s",
		quantity.Count(i.During.Failed), beforeDuringAfter(i))
}

func addsPartitions(f result.Fault) bool { return f.Do == string(workload.FaultAddPartitions) }

// discovered judges whether every subscription received from the partitions that were added, and
// says what that took.
func discovered(r *result.Run, f result.Fault) result.Verdict {
	switch {
	case f.Error != "":
		return say(Discovered, result.Broken, "%s", f.Error)
	case f.FoundNs == 0:
		return say(Discovered, result.Unknown, "the run ended before every subscription had "+
			"received from the new partitions")
	}
	return say(Discovered, result.Holds, "ready after %s: %s; no acknowledgement for %s%s",
		quantity.Duration(f.InjectedNs-f.StartNs), f.Sentence, Silence(f.Effect),
		costOf(r.Impact))
}

// Silence prints the longest time of a fault without an acknowledgement.
func Silence(e result.Effect) string {
	if !e.Seen() {
		return "at most " + quantity.Duration(e.ResolutionNs)
	}
	return Bounded(e.UnavailableNs, e.UnavailableBound)
}
