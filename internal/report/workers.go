package report

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// workersTable shows the processes of a fleet. Without one it is empty and is not shown.
func workersTable(r *result.Run) document.Table {
	t := document.Table{
		ID: "workers", Title: "The workers", Words: true,
		Head: heads("host", "scheduled", "received", "own lag, p99", "CPU", "memory",
			"clock"),
		Empty: "One process offered the load.",
		Note:  "The worker with the greatest own lag decides whether plimsoll was the limit.",
	}
	for _, w := range r.Workers {
		lag := "-"
		if w.OwnLagCount > 0 {
			lag = quantity.Duration(w.OwnLagP99Ns)
		}
		row := document.Row{Name: w.Name, Values: values(w.Host, quantity.Count(w.Scheduled),
			quantity.Count(w.Received), lag, seconds(w.CPUSeconds), quantity.Bytes(w.PeakRSSBytes),
			clockWords(w))}
		t.Rows = append(t.Rows, row)
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

// lostWorkers says which workers were lost, and why.
func lostWorkers(r *result.Run) (all []string) {
	for _, w := range r.Workers {
		if w.Lost != "" {
			all = append(all, w.Lost)
		}
	}
	return all
}
