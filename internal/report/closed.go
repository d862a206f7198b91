package report

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
)

// closedSentence says how many sends a closed loop keeps in flight.
func closedSentence(l result.Load) string {
	return fmt.Sprintf("a closed loop: %s, each with %s of %s of %s in flight",
		plural(l.Topics*l.Producers, "producer", "producers"),
		plural(l.Closed.InFlight, "send", "sends"), batchWords(l.Closed), sizeOf(l))
}

// batchWords is the number of messages in a send.
func batchWords(c *result.Closed) string {
	if c.BatchLeast == c.BatchMost {
		return plural(c.BatchMost, "message", "messages")
	}
	return fmt.Sprintf("%d to %d messages", c.BatchLeast, c.BatchMost)
}

// modelWords is the load model and, of an open loop, its arrivals.
func modelWords(l result.Load) []string {
	if l.Model == "" {
		return nil
	}
	out := []string{clean(l.Model) + " loop"}
	if l.Closed == nil && l.Arrivals != "" {
		out = append(out, arrivalWords(l))
	}
	return out
}

// The series that a minute has, in the order of tables.
var minuteSeries = []struct {
	series result.Series
	of     func(result.Minute) int64
}{
	{result.SendCall, func(m result.Minute) int64 { return m.SendCallP95Ns }},
	{result.EndToEnd, func(m result.Minute) int64 { return m.EndToEndP95Ns }},
	{result.Send, func(m result.Minute) int64 { return m.SendP95Ns }},
}

// minuteSentence gives the 95th percentiles of a closed loop's minutes: the least, the median
// and the greatest where there are several.
func minuteSentence(minutes []result.Minute) string {
	if len(minutes) == 0 {
		return ""
	}
	out := "in each of " + quantity.Count(int64(len(minutes))) +
		" minutes, least, median and greatest:"
	if len(minutes) == 1 {
		out = fmt.Sprintf("in a single window of %s:",
			quantity.Duration(minutes[0].EndNs-minutes[0].StartNs))
	}
	for i, word := range minuteSeries {
		if i > 0 {
			out += ","
		}
		out += " " + seriesTitle(word.series) + " " + minuteFigure(minutes, word.of)
	}
	return out
}

func minuteFigure(minutes []result.Minute, of func(result.Minute) int64) string {
	var all []float64
	for _, m := range minutes {
		if ns := of(m); ns > 0 {
			all = append(all, float64(ns))
		}
	}
	length := func(ns float64) string { return quantity.Duration(int64(ns)) }
	switch len(all) {
	case 0:
		return none
	case 1:
		return length(all[0])
	}
	return fmt.Sprintf("%s / %s / %s", length(slices.Min(all)), length(stats.Median(all)),
		length(slices.Max(all)))
}

// maxMinutes bounds the rows of the table of minutes; more are in run.json.
const maxMinutes = 60

// minuteTable is the 95th percentile of each minute beside that of the run.
func minuteTable(s result.Summary) document.Table {
	t := document.Table{
		ID: "minutes", Title: "95th percentile by minute",
		Note: "The form in which mqperf's figures were published: windows of one minute, by the " +
			"time of the answer or arrival. A run shorter than a minute is one window; the rest " +
			"after the last whole minute is left out.",
	}
	var whole []string
	for _, word := range minuteSeries {
		t.Head = append(t.Head, document.Column{Name: seriesTitle(word.series)})
		whole = append(whole, at(s.Series(word.series), 95))
	}
	t.Add("whole run", whole...)
	for i, m := range s.Minutes {
		if i == maxMinutes {
			t.Note += fmt.Sprintf(" The run has %s minutes; the first %d are shown.",
				quantity.Count(int64(len(s.Minutes))), maxMinutes)
			break
		}
		var cells []string
		for _, word := range minuteSeries {
			ns := word.of(m)
			cells = append(cells, figure.Nanoseconds.Known(float64(ns), ns > 0))
		}
		t.Add(quantity.Duration(m.StartNs)+" to "+quantity.Duration(m.EndNs), cells...)
	}
	return t
}

// closedFigures are the rows of a comparison that only closed loops have.
func closedFigures() []figureRow {
	out := percentileFigures(ofSendCall, "send call", seriesOf(result.SendCall), 50, 95, 99)
	return append(out, figureRow{ofSendCall, "send call p95 by minute", func(r *result.Run) string {
		return minuteFigure(r.Summary.Minutes, minuteSeries[0].of)
	}, nil})
}
