package figure

import (
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// faults are what starts, restarts and outages take.
func faults() []Figure {
	return []Figure{
		known(Figure{Name: "unavailable", Unit: Nanoseconds,
			Title: "longest time without an acknowledgement in a fault",
			Means: "of all faults of the run"}, unavailable),
		known(Figure{Name: "start", Title: "time until the servers answer, from their start",
			Unit: Nanoseconds, Means: "of servers that plimsoll starts"},
			func(r *result.Run) (float64, bool) {
				ns := max(r.Startup.ServersNs, r.Startup.SharedServersNs)
				return float64(ns), ns > 0
			}),
		known(Figure{Name: "rolling", Title: "time of a rolling restart", Unit: Nanoseconds,
			Means: "until the last server is in sync again"},
			func(r *result.Run) (float64, bool) {
				if r.Rolling == nil || r.Rolling.InSync < r.Rolling.Machines {
					return 0, false
				}
				return float64(r.Rolling.TotalNs), true
			}),
		known(Figure{Name: "resize", Unit: Nanoseconds,
			Title: "longest time of a change of the cluster's size",
			Means: "until all copies are complete again"}, resize),
		known(Figure{Name: "discovery", Unit: Nanoseconds,
			Title: "time until consumers have found added partitions",
			Means: "from the first messages that go there until every subscription has received " +
				"from all of them"},
			func(r *result.Run) (float64, bool) {
				for _, f := range r.Faults {
					if f.FoundNs > 0 {
						return float64(f.FoundNs - f.UsedNs), true
					}
				}
				return 0, false
			}),
	}
}

// unavailable returns the longest time in ns from one acknowledgement to the next, of all faults.
// It is unknown when such a time had not ended with the load.
func unavailable(r *result.Run) (float64, bool) {
	var longest int64
	for _, f := range r.Faults {
		if f.Effect.UnavailableBound == result.AtLeast {
			return 0, false
		}
		longest = max(longest, f.Effect.UnavailableNs)
	}
	return float64(longest), longest > 0
}

// resize returns the longest time in ns from the beginning of a change of the cluster's size until
// all copies were complete. It is unknown when they were not.
func resize(r *result.Run) (float64, bool) {
	var longest int64
	for _, f := range r.Faults {
		if !workload.FaultKind(f.Do).Resizes() {
			continue
		}
		if f.InSyncNs == 0 {
			return 0, false
		}
		longest = max(longest, f.InSyncNs-f.StartNs)
	}
	return float64(longest), longest > 0
}
