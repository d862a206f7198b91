package report

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// workersTable shows the processes of a fleet. Without one it is empty and is not shown.
func workersTable(r *result.Run) document.Table {
	t := document.Table{
		ID: "workers", Title: "The workers", Words: true,
		Head: heads("host", "scheduled", "received", "own lag, p99", "CPU", "memory", "clock"),
		Note: "The worker with the greatest own lag decides whether plimsoll was the limit.",
	}
	asked := chronySaid(r)
	if asked {
		t.Head = append(t.Head, heads("chrony's word")...)
		t.Note += fmt.Sprintf(" chrony's word of the coordinator's clock: %s. It is evidence "+
			"beside the offsets that plimsoll measured, and no figure depends on it.",
			chronyWords(r.Environment.Chrony))
	}
	for _, w := range r.Workers {
		lag := "-"
		if w.OwnLagCount > 0 {
			lag = quantity.Duration(w.OwnLagP99Ns)
		}
		row := []string{w.Host, quantity.Count(w.Scheduled), quantity.Count(w.Received), lag,
			seconds(w.CPUSeconds), quantity.Bytes(w.PeakRSSBytes), clockWords(w)}
		if asked {
			row = append(row, chronyWords(w.Chrony))
		}
		t.Add(w.Name, row...)
	}
	return t
}

// clockWords says how a worker's clock relates to the coordinator's.
func clockWords(w result.Worker) string {
	if w.SameClock {
		return "the coordinator's"
	}
	return fmt.Sprintf("offset %s ± %s", quantity.Duration(w.ClockOffsetNs),
		quantity.Duration(w.ClockBoundNs))
}

// chronySaid reports whether chrony answered on any machine of a fleet.
func chronySaid(r *result.Run) bool {
	return r.Environment.Chrony != nil ||
		slices.ContainsFunc(r.Workers, func(w result.Worker) bool { return w.Chrony != nil })
}

// chronyWords is what chrony says of a machine's clock.
func chronyWords(c *result.Chrony) string {
	if c == nil {
		return "-"
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

// clockSentences say how far the clocks at the two ends of a latency can be apart.
func clockSentences(s result.Summary) (all []string) {
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

// lostWorkers says which workers were lost, and why.
func lostWorkers(r *result.Run) (all []string) {
	for _, w := range r.Workers {
		if w.Lost != "" {
			all = append(all, w.Lost)
		}
	}
	return all
}
