package workload

import (
	"fmt"
	"slices"
	"time"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// GroupSize is the number of consumers of each subscription, or of one, from a time of the measured
// window on. Before the first one, all consumers are open.
type GroupSize struct {
	At           time.Duration
	Consumers    int // 0: the group is away, and comes back
	Subscription int // from 1; 0: all subscriptions of each topic
}

// Of reports whether the size is that of a subscription, from 1.
func (g GroupSize) Of(subscription int) bool {
	return g.Subscription == 0 || g.Subscription == subscription
}

// Leaves reports whether a subscription has no consumer for a time.
func (w *Workload) Leaves() bool {
	return slices.ContainsFunc(w.Scaling, func(g GroupSize) bool { return g.Consumers == 0 })
}

// maxGroupSizes bounds the changes of a run.
const maxGroupSizes = 100

// fileGroupSize is a group size as a file has it.
type fileGroupSize struct {
	At           quantity.Span  `yaml:"at"`
	Consumers    quantity.Whole `yaml:"consumers"`
	Subscription quantity.Whole `yaml:"subscription"`
}

func (g fileGroupSize) String() string {
	if g.Subscription == 0 {
		return fmt.Sprintf("{at: %s, consumers: %s}", g.At, g.Consumers)
	}
	return fmt.Sprintf("{at: %s, consumers: %s, subscription: %s}", g.At, g.Consumers,
		g.Subscription)
}

// checkScalingSpelling checks which keys go together in the file's group sizes.
func (f *file) checkScalingSpelling(doc *strict.Document) {
	for i := range f.scaling {
		path := fmt.Sprintf("scaling[%d]", i)
		require(doc, path, "{at: 5s, consumers: 1}", "at", "consumers")
		if doc.Has(path+".subscription") && f.scaling[i].Subscription == 0 {
			doc.Reject(path+".subscription", "is counted from 1: leave it out to change all")
		}
	}
}

// resolveScaling returns the group sizes of the file.
func (f *file) resolveScaling() (all []GroupSize) {
	for _, g := range f.scaling {
		all = append(all, GroupSize{At: time.Duration(g.At), Consumers: int(g.Consumers),
			Subscription: int(g.Subscription)})
	}
	return all
}

// checkScaling checks that group sizes change one after the other within the window, and that each
// group has a consumer in the end.
func (w *Workload) checkScaling(doc *strict.Document) {
	if len(w.Scaling) == 0 {
		return
	}
	if len(w.Scaling) > maxGroupSizes {
		doc.Reject("scaling", fmt.Sprintf("has %d changes: keep them to %d", len(w.Scaling),
			maxGroupSizes))
		return
	}
	if w.Backlog != nil || w.Load.Closed != nil {
		doc.Reject("scaling", "is for loads with a rate and without a backlog: remove it, or "+
			"load.closed, or backlog")
	}
	before := time.Duration(0)
	now := make([]int, w.Subscriptions) // consumers of each subscription
	for i := range now {
		now[i] = w.Consumers
	}
	for i, g := range w.Scaling {
		path := fmt.Sprintf("scaling[%d]", i)
		between(doc, path+".consumers", g.Consumers, 0, w.Consumers)
		between(doc, path+".subscription", g.Subscription, 0, w.Subscriptions)
		changes := false
		for k := range now {
			if g.Of(k + 1) {
				changes = changes || now[k] != g.Consumers
				now[k] = g.Consumers
			}
		}
		if !changes {
			doc.Reject(path+".consumers", fmt.Sprintf("is %d, as before: write another number",
				g.Consumers))
		}
		if g.At <= before || g.At >= w.Duration {
			doc.Reject(path+".at", fmt.Sprintf("must be after %s and before the end of the "+
				"window (%s), not %s", quantity.ExactDuration(before),
				quantity.ExactDuration(w.Duration), quantity.ExactDuration(g.At)))
		}
		before = g.At
	}
	if at := slices.Index(now, 0); at >= 0 && !doc.Failed("scaling") {
		doc.Reject("scaling", fmt.Sprintf("leaves subscription %d without a consumer, and what it "+
			"has not read could not be accounted for: let its consumers come back", at+1))
	}
}
