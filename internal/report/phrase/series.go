package phrase

import (
	"github.com/plimsoll-bench/plimsoll/result"
)

// SeriesTitle is what a table calls a latency series.
func SeriesTitle(series result.Series) string {
	for _, w := range SeriesWords {
		if w.Series == series {
			return w.Title
		}
	}
	return string(series)
}

// SeriesWords says what each latency series is, in the order of tables.
var SeriesWords = []struct {
	Series result.Series
	Title  string
}{
	{result.SendCall, "send call"},
	{result.Publish, "publish"},
	{result.Request, "request to the servers"},
	{result.EndToEnd, "end-to-end"},
	{result.Copies, "copies"},
	{result.CatchUp, "catch-up"},
	{result.Redelivered, "redelivery"},
	{result.Send, "send (uncorrected)"},
	{result.Lag, "schedule lag"},
	{result.Hiccup, "hiccup"},
}
