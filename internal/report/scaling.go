package report

import (
	"cmp"
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
		took := none
		if s.TookNs != 0 {
			took = quantity.Duration(s.TookNs)
		}
		t.Add(quantity.Duration(s.AtNs), strconv.Itoa(s.Consumers), took,
			quantity.Duration(s.MedianGapNs), quantity.Duration(s.LongestGapNs),
			quantity.Count(s.Copies), cmp.Or(s.Failure, none))
	}
	return t
}
