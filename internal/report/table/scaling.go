package table

import (
	"cmp"
	"strconv"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/internal/figure"
	"github.com/plimsoll-bench/plimsoll/internal/report/latency"
	"github.com/plimsoll-bench/plimsoll/internal/report/phrase"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

// Scaling has the effects of each change of the number of consumers.
func Scaling(r *result.Run) document.Table {
	t := document.Table{ID: "scaling", Title: "Consumers over time",
		Note: "Standing still: the longest time between two arrivals from one partition, in the " +
			"stretch that the change begins; of the median partition, and of the slowest. ≥: it " +
			"had not ended with the stretch. It includes what is usual between two messages: " +
			"compare it with the first row.",
		Head: document.Heads("subscription", "consumers", "changed within",
			"standing still, median", "longest", "copies", "failure")}
	for _, s := range r.Scaling {
		of := "all"
		if s.Subscription > 0 {
			of = strconv.Itoa(s.Subscription)
		}
		t.Add(quantity.Duration(s.AtNs), of, strconv.Itoa(s.Consumers),
			figure.Nanoseconds.Known(float64(s.TookNs), s.TookNs != 0),
			phrase.BoundedTime(s.MedianGapNs, s.MedianGapBound),
			phrase.BoundedTime(s.LongestGapNs, s.LongestGapBound),
			quantity.Count(s.Copies), cmp.Or(s.Failure, document.None))
	}
	return t
}

// Returns has what consumers found that came back to subscriptions without any.
func Returns(r *result.Run) document.Table {
	t := document.Table{ID: "returns", Title: "Catching up",
		Note: "Consumers that came back to a subscription without any. Unread: acknowledged and " +
			"not received when they came back. Caught up within: the time from then until they " +
			"had received as many messages as had been acknowledged 100 ms before. Counts are " +
			"for each subscription.",
		Head: document.Heads("subscription", "unread", "caught up within", "read until then",
			"rate", "left unread")}
	for _, s := range r.Scaling {
		back := s.Return
		if back == nil {
			continue
		}
		of, within := "all", "not in the window"
		if s.Subscription > 0 {
			of = strconv.Itoa(s.Subscription)
		}
		if back.CaughtUpNs > 0 {
			within = quantity.Duration(back.CaughtUpNs)
		}
		t.Add(quantity.Duration(s.AtNs), of, quantity.Count(back.UnreadMessages), within,
			quantity.Count(back.ReadMessages), phrase.Rate(back.Rate()),
			quantity.Count(back.LeftMessages))
	}
	return t
}

// Absences has the latencies before, while and after consumers were away.
func Absences(r *result.Run) document.Table {
	t := document.Table{ID: "absences", Title: "Latency beside consumers that leave",
		Note: "By the time of the acknowledgement or of the arrival. End-to-end: at " +
			"subscriptions that kept reading. Catch-up: at those that had no consumers, until " +
			"they had caught up.",
		Head: document.Heads("from", "to", "publish p50", "p99", "end-to-end p50", "p99",
			"catch-up p50", "p99")}
	for _, a := range r.Absences {
		cells := []string{quantity.Duration(a.StartNs), quantity.Duration(a.EndNs)}
		for _, l := range []result.Latency{a.Publish, a.EndToEnd, a.CatchUp} {
			cells = append(cells, latency.At(l, 50), latency.At(l, 99))
		}
		t.Add(string(a.State), cells...)
	}
	return t
}
