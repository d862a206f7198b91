package verdict

import (
	"fmt"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// absencesOf fills in the parts of a window in which subscriptions had no consumers for a time,
// with the latencies of whole intervals.
func absencesOf(s *result.Saved) {
	r := &s.Run
	from, to, ok := r.Window()
	if r.Absences = nil; !ok || len(r.Scaling) == 0 {
		return
	}
	parts := result.Absences(r.Scaling, r.Load.Subscriptions, to-from)
	of := make([][]piece, len(parts))
	for _, p := range piecesOf(s) {
		if at := partOf(parts, p.StartNs-from, p.EndNs-from); at >= 0 {
			of[at] = append(of[at], p)
		}
	}
	for i, a := range parts {
		within := of[i]
		of := func(series result.Series) result.Latency {
			var h *hdr.Histogram
			if len(within) > 0 {
				h = merged(within, series)
			}
			return result.Summarize(series, h, 0, 0)
		}
		a.Publish, a.EndToEnd = of(result.Publish), of(result.EndToEnd)
		a.CatchUp = of(result.CatchUp)
		r.Absences = append(r.Absences, a)
	}
}

// partOf returns the part that an interval belongs to: a part of catching up that it reaches into,
// or else the part of its middle; -1: none.
func partOf(parts []result.Absence, fromNs, toNs int64) int {
	for i, a := range parts {
		if a.State == result.CatchingUp && fromNs < a.EndNs && toNs > a.StartNs {
			return i
		}
	}
	mid := (fromNs + toNs) / 2
	return slices.IndexFunc(parts,
		func(a result.Absence) bool { return mid >= a.StartNs && mid < a.EndNs })
}

// left reports whether a subscription of a run had no consumers for a time.
func left(r *result.Run) bool {
	return slices.ContainsFunc(r.Scaling,
		func(s result.ScaleStep) bool { return s.Consumers == 0 })
}

// receivingAfterAbsence judges consumers that left and came back by whether they caught up.
func receivingAfterAbsence(r *result.Run) result.Verdict {
	rates := fmt.Sprintf("%s was acknowledged and %s received",
		quantity.Rate(r.Summary.AchievedRate), quantity.Rate(r.Summary.ReceivedRate))
	longest, known := int64(0), false
	for _, s := range r.Scaling {
		if s.Return == nil {
			continue
		}
		if s.Return.CaughtUpNs == 0 {
			return say(Receiving, result.Broken, "%s; consumers that came back %s after the "+
				"window began had not caught up when it ended: %s messages waited for them", rates,
				quantity.Duration(s.AtNs), quantity.Count(s.Return.LeftMessages))
		}
		longest, known = max(longest, s.Return.CaughtUpNs), true
	}
	if !known {
		return say(Receiving, result.Unknown, "%s; the run ended before the consumers that left "+
			"came back", rates)
	}
	return say(Receiving, result.Holds, "%s; consumers that left on purpose caught up within %s",
		rates, quantity.Duration(longest))
}
