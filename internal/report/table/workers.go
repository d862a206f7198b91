package table

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/fact"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Workers shows the processes of a fleet. Without one it is empty and is not shown.
func Workers(r *result.Run) document.Table {
	t := document.Table{
		ID: "workers", Title: "The workers", Words: true,
		Head: document.Heads("host", "scheduled", "received", "own lag, p99", "CPU", "memory",
			"clock"),
		Note: "The worker with the greatest own lag decides whether plimsoll was the limit.",
	}
	asked := fact.ChronySaid(r)
	if asked {
		t.Head = append(t.Head, document.Heads("chrony's word")...)
		t.Note += fmt.Sprintf(" chrony's word of the coordinator's clock: %s. It is evidence "+
			"beside the offsets that plimsoll measured, and no figure depends on it.",
			fact.ChronyWords(r.Environment.Chrony))
	}
	for _, w := range r.Workers {
		lag := document.None
		if w.OwnLagCount > 0 {
			lag = quantity.Duration(w.OwnLagP99Ns)
		}
		row := []string{w.Host, quantity.Count(w.Scheduled), quantity.Count(w.Received), lag,
			phrase.Seconds(w.CPUSeconds), quantity.Bytes(w.PeakRSSBytes), fact.ClockWords(w)}
		if asked {
			row = append(row, fact.ChronyWords(w.Chrony))
		}
		t.Add(w.Name, row...)
	}
	return t
}

// LostWorkers says which workers were lost, and why.
func LostWorkers(r *result.Run) (all []string) {
	for _, w := range r.Workers {
		if w.Lost != "" {
			all = append(all, w.Lost)
		}
	}
	return all
}
