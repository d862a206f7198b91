package report

import (
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/result"
)

// scalingTable has the effects of each change of the number of consumers.
func scalingTable(r *result.Run) document.Table {
	t := document.Table{ID: "scaling", Title: "Consumers over time",
		Note: "Standing still: the longest time between two arrivals from one partition, in the " +
			"stretch that the change begins; of the median partition, and of the slowest. It " +
			"includes what is usual between two messages: compare it with the first row.",
		Head: heads("consumers", "changed within", "standing still, median", "longest",
			"copies", "failure")}
	for _, s := range r.Scaling {
		t.Rows = append(t.Rows, document.Row{Name: quantity.Duration(s.AtNs), Values: values(
			strconv.Itoa(s.Consumers), lengthOrNone(s.TookNs), quantity.Duration(s.MedianGapNs),
			quantity.Duration(s.LongestGapNs), quantity.Count(s.Copies), orNone(s.Failure))})
	}
	return t
}

func lengthOrNone(ns int64) string {
	if ns == 0 {
		return none
	}
	return quantity.Duration(ns)
}
