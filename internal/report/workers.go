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
		Head: heads("host", "scheduled", "received", "own lag, p99", "CPU", "memory", "clock"),
		Note: "The worker with the greatest own lag decides whether plimsoll was the limit.",
	}
	for _, w := range r.Workers {
		lag := "-"
		if w.OwnLagCount > 0 {
			lag = quantity.Duration(w.OwnLagP99Ns)
		}
		t.Add(w.Name, w.Host, quantity.Count(w.Scheduled), quantity.Count(w.Received), lag,
			seconds(w.CPUSeconds), quantity.Bytes(w.PeakRSSBytes), clockWords(w))
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
