package load

import (
	"sync/atomic"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// growth says how many partitions a topic has for a message, by its due time: a pure function, so
// that producers and consumers agree. Lanes are those of the greatest number.
type growth struct {
	first, most uint32
	fromNs      int64 // since the measured window began: due times from which on it is most
}

func growthOf(w *workload.Workload) growth {
	from, _ := w.AddedFrom()
	return growth{uint32(w.Partitions), uint32(w.MostPartitions()), int64(from)}
}

// at returns the number of partitions for a message due at a time, on the clock.
func (g *growth) at(dueNs int64, w *window) uint32 {
	if g.most == g.first || dueNs-w.fromNs.Load() < g.fromNs {
		return g.first
	}
	return g.most
}

// found counts the added partitions from which each subscription has received a message. Any
// goroutine may use it.
type found struct {
	seen []atomic.Bool // by added partition
	all  *atomic.Int64 // of all subscriptions
}

// arrived notes a message from a partition, of which the first ones were there from the beginning.
func (f *found) arrived(partition, first int) {
	if partition >= first && partition-first < len(f.seen) && !f.seen[partition-first].Swap(true) {
		f.all.Add(1)
	}
}

// newFound returns the record of a subscription; it is empty where nothing is added.
func (e *Engine) newFound(subscription int) found {
	if subscription >= e.plan.Workload.Subscriptions {
		return found{} // it reads when the load is over
	}
	return found{make([]atomic.Bool, e.growth.most-e.growth.first), &e.found}
}

// ToFind returns how many added partitions all subscriptions together will receive from.
func (p *Plan) ToFind() int64 {
	w := &p.Workload
	return int64(w.Topics) * int64(w.Subscriptions) * int64(w.MostPartitions()-w.Partitions)
}

// Grown returns the plan's topics with the partitions that they have in the end.
func (p *Plan) Grown() []system.Topic {
	topics := p.Topics()
	for i := range topics {
		topics[i].Partitions = p.Workload.MostPartitions()
	}
	return topics
}
