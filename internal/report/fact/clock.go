package fact

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// ClockWords says how a worker's clock relates to the coordinator's.
func ClockWords(w result.Worker) string {
	if w.SameClock {
		return "the coordinator's"
	}
	return fmt.Sprintf("offset %s ± %s", quantity.Duration(w.ClockOffsetNs),
		quantity.Duration(w.ClockBoundNs))
}

// ChronySaid reports whether chrony answered on any machine of a fleet.
func ChronySaid(r *result.Run) bool {
	return r.Environment.Chrony != nil ||
		slices.ContainsFunc(r.Workers, func(w result.Worker) bool { return w.Chrony != nil })
}

// ChronyWords is what chrony says of a machine's clock.
func ChronyWords(c *result.Chrony) string {
	if c == nil {
		return document.None
	}
	if !c.Synchronised {
		return "not synchronised"
	}
	side, ns := "behind", c.BehindNs
	if ns < 0 {
		side, ns = "ahead", -ns
	}
	return fmt.Sprintf("stratum %d, %s %s ± %s", c.Stratum, quantity.Duration(ns), side,
		quantity.Duration(c.BoundNs))
}

// Clocks say how far the clocks at the two ends of a latency can be apart.
func Clocks(s result.Summary) (all []string) {
	for _, l := range s.Latency {
		if l.ErrorNs > 0 && l.Series == result.EndToEnd {
			all = append(all, fmt.Sprintf("end-to-end latency is from one worker's clock to "+
				"another's, which are at most %s apart: percentiles below %s are refused; --pair "+
				"keeps each topic on one worker and one clock", quantity.Duration(l.ErrorNs),
				quantity.Duration(result.ErrorShare*l.ErrorNs)))
		}
	}
	return all
}
