package row

import (
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/stats"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// MinuteSeries are the series that a minute has, in the order of tables.
var MinuteSeries = []struct {
	Series result.Series
	Of     func(result.Minute) int64
}{
	{result.SendCall, func(m result.Minute) int64 { return m.SendCallP95Ns }},
	{result.EndToEnd, func(m result.Minute) int64 { return m.EndToEndP95Ns }},
	{result.Send, func(m result.Minute) int64 { return m.SendP95Ns }},
}

// MinuteFigure gives the range of a figure over minutes.
func MinuteFigure(minutes []result.Minute, of func(result.Minute) int64) string {
	var all []float64
	for _, m := range minutes {
		if ns := of(m); ns > 0 {
			all = append(all, float64(ns))
		}
	}
	length := func(ns float64) string { return quantity.Duration(int64(ns)) }
	switch len(all) {
	case 0:
		return document.None
	case 1:
		return length(all[0])
	}
	return fmt.Sprintf("%s / %s / %s", length(slices.Min(all)), length(stats.Median(all)),
		length(slices.Max(all)))
}
