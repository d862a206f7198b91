package study

import (
	"github.com/plimsoll-bench/plimsoll/internal/compare"
	"github.com/plimsoll-bench/plimsoll/result"
)

// spent returns the figures of the servers' resources per message, and of the cost of faults.
func spent() []Figure {
	return []Figure{
		{Name: "servers_cpu", Title: "CPU time of the servers, per message", Unit: Nanoseconds,
			of: ofRun(func(r *result.Run) (float64, bool) {
				per := r.Observation.MsgsPerCoreSecond
				return 1e9 / per, per > 0
			})},
		{Name: "written", Title: "bytes that the servers wrote to disks, per message", Unit: Bytes,
			of: ofRun(func(r *result.Run) (float64, bool) {
				times := r.Observation.WriteAmplification
				return times * float64(r.Load.MessageBytes), times > 0
			})},
		{Name: "syncs", Title: "syncs of the servers, per message", Unit: PerMessage, zero: true,
			of: ofRun(syncsPerMessage)},
		{Name: "memory", Title: "greatest memory of the servers", Unit: Bytes,
			of: ofRun(func(r *result.Run) (sum float64, known bool) {
				return sumOfServers(r, func(p result.ProcessUse) *int64 { return &p.RSSBytes })
			})},
		{Name: "lost", Title: "acknowledged messages that were lost", Unit: Messages, zero: true,
			of: ofRun(func(r *result.Run) (float64, bool) {
				lost, err := compare.Find("lost")
				if err != nil {
					return 0, false
				}
				span, known := lost.Span(r)
				return span.Least, known // at least these
			})},
		{Name: "unavailable", Title: "longest time without an acknowledgement in a fault",
			Unit: Nanoseconds, of: ofRun(unavailable)},
		{Name: "start", Title: "time until the servers answer, from their start",
			Unit: Nanoseconds, of: ofRun(func(r *result.Run) (float64, bool) {
				ns := max(r.Startup.ServersNs, r.Startup.SharedServersNs)
				return float64(ns), ns > 0
			})},
		{Name: "rolling", Title: "time of a rolling restart", Unit: Nanoseconds,
			of: ofRun(func(r *result.Run) (float64, bool) {
				if r.Rolling == nil || r.Rolling.InSync < r.Rolling.Machines {
					return 0, false
				}
				return float64(r.Rolling.TotalNs), true
			})},
	}
}

// sumOfServers adds a figure over all processes of the servers. It is unknown if one process lacks
// the figure.
func sumOfServers(r *result.Run, of func(result.ProcessUse) *int64) (sum float64, known bool) {
	servers, whole := r.Observation.OfServers()
	sum, known = result.Sum(servers, of)
	return sum, known && whole
}

// syncsPerMessage returns the calls of fsync, fdatasync and msync in the measured window, per
// message that was acknowledged in it.
func syncsPerMessage(r *result.Run) (float64, bool) {
	files, known := sumOfServers(r, func(p result.ProcessUse) *int64 { return p.Syncs })
	maps, alsoKnown := sumOfServers(r, func(p result.ProcessUse) *int64 { return p.MapSyncs })
	messages := r.Summary.Work() * float64(r.Observation.WindowNs) / 1e9
	return (files + maps) / messages, known && alsoKnown && messages > 0
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
