package load

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// An added partition counts once, whichever message of it comes, and the first partitions do not
// count.
func TestAddedPartitionsAreCountedOnce(t *testing.T) {
	var all atomic.Int64
	one, other := reached{3, make([]atomic.Bool, 2), &all}, reached{3, make([]atomic.Bool, 2), &all}
	for i, step := range []struct {
		of        *reached
		partition int
		want      int64
	}{{&one, 0, 0}, {&one, 3, 1}, {&one, 3, 1}, {&other, 3, 2}, {&one, 4, 3}, {&one, 5, 3},
		{&other, 2, 3}, {&other, 4, 4}} {
		if step.of.note(step.partition); all.Load() != step.want {
			t.Errorf("step %d: %d partitions are reached, want %d", i, all.Load(), step.want)
		}
	}
}

// Messages due from half of the fault's time on go to all partitions.
func TestGrowthFollowsDueTimes(t *testing.T) {
	w := &workload.Workload{Topics: 1, Partitions: 3, Duration: time.Minute, Faults: []workload.Fault{{
		Do: workload.FaultAddPartitions, At: 2, For: 10, ToPartitions: 5}}}
	g, in := growthOf(w, 0), newWindow()
	in.fromNs.Store(100)
	for due, want := range map[int64]uint32{0: 3, 100: 3, 106: 3, 107: 5, 1000: 5} {
		if got := g.partitions(due, in); got != want {
			t.Errorf("a message due at %d has %d partitions, want %d", due, got, want)
		}
	}
	w.Faults[0].Within, w.Seed = 50, 7
	if from, _ := w.AddedFrom(); from != w.Strikes()[0].At+5 || from == 7 {
		t.Errorf("a moment that is drawn: from %d", from)
	}
	w.Faults = nil
	if g := growthOf(w, 0); g.partitions(1000, in) != 3 {
		t.Errorf("%+v", g)
	}
}
