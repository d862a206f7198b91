package load

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// This file has what workers that share subscriptions cannot know together.

// divides reports whether the consumers of a subscription are of several workers.
func divides(w *workload.Workload, workers int) bool {
	for i := range workers {
		if i*w.Topics*w.AllSubscriptions()*w.Consumers/workers%w.Consumers != 0 {
			return true
		}
	}
	return false
}

// checkOrder holds what workers that share subscriptions say of order against one process, which
// knows it: all that they count was late, and nothing was late that they neither count nor leave
// open. Where they leave nothing open, they know as much.
func checkOrder(rt *rapid.T, one, many *told) {
	for i := range one.Ledger.Subscriptions {
		known, said := one.Ledger.Subscriptions[i], &many.Ledger.Subscriptions[i]
		late, counted := known.Reordered+known.Overtaken, said.Reordered+said.Overtaken
		open := said.BetweenWorkers
		if known.BetweenWorkers+known.ReorderedOrCopies != 0 || open > known.Received ||
			said.ReorderedOrCopies > open {
			rt.Fatalf("one process leaves open %+v, and workers %+v", known, *said)
		}
		if counted > late || late > counted+open {
			rt.Fatalf("%d messages were late, and workers count %d of them and leave %d open", late,
				counted, open)
		}
		if open == 0 && (said.Reordered != known.Reordered || said.Overtaken != known.Overtaken ||
			!reflect.DeepEqual(said.ReorderedRanges, known.ReorderedRanges)) {
			rt.Fatalf("workers leave nothing open and say %+v of %+v", *said, known)
		}
		said.BetweenWorkers, said.ReorderedOrCopies = 0, 0
	}
}

// blur takes out of a run what workers that share a subscription cannot tell: whether a
// copy is one, and what it overtook, where it came to another worker.
func blur(o *told) {
	for i := range o.Samples {
		s := &o.Samples[i]
		s.Counters.Fresh, s.Counters.Read, s.Counters.Replayed = 0, 0, 0
		clear(s.Counters.ReceivedWithin)
		clear(s.Counters.FreshAt)
		for k := range s.Histograms {
			if h := &s.Histograms[k]; h.Series == result.Copies {
				h.Series = result.EndToEnd
			}
		}
		s.Histograms = slices.DeleteFunc(s.Histograms, func(h measure.Histogram) bool {
			of, class := result.ClassOf(h.Series)
			return class != "" && of == result.EndToEnd // of copies the class is not known
		})
		s.Histograms = measure.MergeHistograms(s.Histograms)
		slices.SortFunc(s.Histograms, func(a, b measure.Histogram) int {
			return strings.Compare(fmt.Sprint(a.Series, a.Phase), fmt.Sprint(b.Series, b.Phase))
		})
	}
	for i := range o.Ledger.Subscriptions {
		l := &o.Ledger.Subscriptions[i]
		l.Overtaken, l.Reordered, l.PartialTransactions, l.WholeTransactions = 0, 0, 0, 0
		l.DuplicateRanges, l.ReorderedRanges = nil, nil
	}
}
