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

func growthOf(w *workload.Workload, topic int) growth {
	from, _ := w.AddedFrom()
	k := w.KindOf(topic)
	return growth{uint32(k.Partitions), uint32(k.Most), int64(from)}
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

func newReached(g growth, all *atomic.Int64) *reached {
	return &reached{int(g.first), make([]atomic.Bool, g.most-g.first), all}
}

// Added returns how many partitions are added to all topics together.
func (p *Plan) Added() (n int64) {
	for k := range p.Workload.TopicKinds() {
		n += int64(k.Topics) * int64(k.Most-k.Partitions)
	}
	return n
}

// Grown returns the plan's topics with the partitions that they have in the end.
func (p *Plan) Grown() []system.Topic {
	topics := p.Topics()
	for i := range topics {
		topics[i].Partitions = p.Workload.KindOf(i).Most
	}
	return topics
}
