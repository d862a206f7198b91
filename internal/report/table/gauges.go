package table

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Gauges has the figures of the system's servers; it has no rows when there are none.
func Gauges(r *result.Run) document.Table {
	t := document.Table{ID: "gauges", Title: "Figures of the system's own",
		Note: "As the servers report them, about once a second of the measured window.",
		Head: document.Heads("first", "last", "greatest")}
	for _, g := range r.Observation.Gauges {
		if strings.HasPrefix(g.Name, result.DataOnDisk) {
			t.Note = "As the servers report them, about once a second of the measured window. " +
				"The size of the data is that of the files of each node, every ten seconds."
		}
		t.Add(g.Name, gauge(g.Unit, g.First), gauge(g.Unit, g.Last), gauge(g.Unit, g.Greatest))
	}
	return t
}

// gauge prints a figure.
func gauge(unit string, v float64) string {
	switch {
	case !phrase.Finite(v):
		return document.None
	case unit == "bytes" && math.Abs(v) < math.MaxInt64/2:
		return quantity.Bytes(int64(v))
	case unit == "":
		return phrase.Rounded(v)
	}
	return phrase.Rounded(v) + " " + unit
}

// courseWords are the courses of a trend, for people.
var courseWords = map[result.Course]string{
	result.Steady: "no drift shown", result.Grows: "grows", result.Slows: "grows, more slowly",
	result.MayGrow:     "may grow",
	result.LevelledOff: "levelled off", result.Saws: "rises and falls",
	result.WithMessages: "grows with the messages sent",
	result.WithTime:     "grows with the time that passes", result.Falls: "falls",
}

// Trends has the trend of each figure over a long window; for a shorter one it has no rows.
func Trends(r *result.Run) document.Table {
	t := document.Table{ID: "trends", Title: "Trends over the window",
		Head: document.Heads("course", "median", "per hour", "from", "to",
			"per byte or message sent")}
	if r.Trends == nil || r.Trends.Why != "" {
		return t
	}
	t.Note = fmt.Sprintf("Of %d blocks of %s: the slope per hour and its 95%% interval. A figure "+
		"that has no drift shown may still have one that is too small to be told from its noise.",
		r.Trends.Blocks, quantity.Duration(r.Trends.BlockNs))
	for _, f := range r.Trends.Figures {
		course := cmp.Or(courseWords[f.Course], document.Clean(string(f.Course)))
		if f.SecondHalf {
			course += " (second half)"
		}
		amount := func(v float64) string { return verdict.Amount(f.Unit, v) }
		t.Add(document.Clean(f.Name), course, amount(f.Level), amount(f.PerHour),
			amount(f.PerHourLow), amount(f.PerHourHigh), figure.Number.Known(f.PerSent,
				f.PerSent > 0))
	}
	return t
}
