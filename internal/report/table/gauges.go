package table

import (
	"math"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
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
