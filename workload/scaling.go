package workload

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/quantity"
	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// GroupSize is the number of consumers of each subscription from a time of the measured window on.
// Before the first one, all consumers are open.
type GroupSize struct {
	At        time.Duration
	Consumers int
}

// maxGroupSizes bounds the changes of a run.
const maxGroupSizes = 100

// fileGroupSize is a group size as a file has it.
type fileGroupSize struct {
	At        quantity.Span  `yaml:"at"`
	Consumers quantity.Whole `yaml:"consumers"`
}

func (g fileGroupSize) String() string {
	return fmt.Sprintf("{at: %s, consumers: %s}", g.At, g.Consumers)
}

// checkScalingSpelling checks which keys go together in the file's group sizes.
func (f *file) checkScalingSpelling(doc *strict.Document) {
	for i := range f.scaling {
		require(doc, fmt.Sprintf("scaling[%d]", i), "{at: 5s, consumers: 1}", "at", "consumers")
	}
}

// resolveScaling returns the group sizes of the file.
func (f *file) resolveScaling() (all []GroupSize) {
	for _, g := range f.scaling {
		all = append(all, GroupSize{At: time.Duration(g.At), Consumers: int(g.Consumers)})
	}
	return all
}

// checkScaling checks that group sizes change one after the other within the window, and that a
// group always has a consumer.
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
	now, before := w.Consumers, time.Duration(0)
	for i, g := range w.Scaling {
		path := fmt.Sprintf("scaling[%d]", i)
		between(doc, path+".consumers", g.Consumers, 1, w.Consumers)
		if g.Consumers == now {
			doc.Reject(path+".consumers", fmt.Sprintf("is %d, as before: write another number",
				now))
		}
		if g.At <= before || g.At >= w.Duration {
			doc.Reject(path+".at", fmt.Sprintf("must be after %s and before the end of the "+
				"window (%s), not %s", quantity.ExactDuration(before),
				quantity.ExactDuration(w.Duration), quantity.ExactDuration(g.At)))
		}
		now, before = g.Consumers, g.At
	}
}
