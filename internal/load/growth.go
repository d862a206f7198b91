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

// partitions returns the number of partitions for a message due at a time, on the clock.
func (g *growth) partitions(dueNs int64, w *window) uint32 {
	if g.most == g.first || dueNs-w.fromNs.Load() < g.fromNs {
		return g.first
	}
	return g.most
}

// reached marks the added partitions of a topic that messages have reached: by an acknowledgement,
// or by arrival at a subscription. Any goroutine may use it.
type reached struct {
	first int           // partitions that were there from the beginning
	marks []atomic.Bool // by added partition
	all   *atomic.Int64 // marks of all topics, or of all subscriptions
}

// note marks a partition, if it was added.
func (r *reached) note(partition int) {
	if at := partition - r.first; at >= 0 && at < len(r.marks) && !r.marks[at].Swap(true) {
		r.all.Add(1)
	}
}

func (e *Engine) newReached(all *atomic.Int64) *reached {
	return &reached{int(e.growth.first), make([]atomic.Bool, e.growth.most-e.growth.first), all}
}

// Added returns how many partitions are added to all topics together.
func (p *Plan) Added() int64 {
	return int64(p.Workload.Topics) * int64(p.Workload.MostPartitions()-p.Workload.Partitions)
}

// Grown returns the plan's topics with the partitions that they have in the end.
func (p *Plan) Grown() []system.Topic {
	topics := p.Topics()
	for i := range topics {
		topics[i].Partitions = p.Workload.MostPartitions()
	}
	return topics
}
