package runs

import (
	"fmt"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/report/row"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

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
	for i, word := range row.MinuteSeries {
		if i > 0 {
			out += ","
		}
		out += " " + phrase.SeriesTitle(word.Series) + " " + row.MinuteFigure(minutes, word.Of)
	}
	return out
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
	for _, word := range row.MinuteSeries {
		t.Head = append(t.Head, document.Column{Name: phrase.SeriesTitle(word.Series)})
		whole = append(whole, latency.At(s.Series(word.Series), 95))
	}
	t.Add("whole run", whole...)
	for i, m := range s.Minutes {
		if i == maxMinutes {
			t.Note += fmt.Sprintf(" The run has %s minutes; the first %d are shown.",
				quantity.Count(int64(len(s.Minutes))), maxMinutes)
			break
		}
		var cells []string
		for _, word := range row.MinuteSeries {
			ns := word.Of(m)
			cells = append(cells, figure.Nanoseconds.Known(float64(ns), ns > 0))
		}
		t.Add(quantity.Duration(m.StartNs)+" to "+quantity.Duration(m.EndNs), cells...)
	}
	return t
}
