package bench_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/bench"
	"github.com/plimsoll-bench/plimsoll/systems/sim"
)

// A crowd of topics and clients starts with few goroutines, stays within the estimated memory and
// a bound, and is accounted for.
func TestCrowd(t *testing.T) {
	const topics, mostHeap, mostGoroutines = 3_000, 300 << 20, 200
	w := load(3_000, 2*time.Second)
	w.Topics, w.Partitions, w.Subscriptions, w.MaxInFlight = topics, 2, 2, 10
	runtime.GC()
	var job *bench.Job
	saved := onSimAs(t, w, nil, func(j *bench.Job, _ *sim.System) { job = j })
	r := saved.Run
	if s := r.Startup; s.Proofs != topics*2 || s.Goroutines == 0 || s.Goroutines > mostGoroutines {
		t.Errorf("%d messages proved %d partitions, %d goroutines: want one each, and at most %d",
			s.Proofs, topics*2, s.Goroutines, mostGoroutines)
	}
	for _, i := range saved.Intervals {
		if i.HeapBytes > mostHeap || i.Goroutines > mostGoroutines {
			t.Errorf("at %s: %d MB of heap and %d goroutines", time.Duration(i.EndNs),
				i.HeapBytes>>20, i.Goroutines)
		}
	}
	if need := job.Estimate().MemoryBytes; need > mostHeap {
		t.Errorf("the estimate is %d MB", need>>20)
	}
	for _, s := range r.Ledger.Subscriptions {
		if s.Acked != 6_000 || s.Received != s.Acked ||
			s.Lost+s.Duplicate+s.Reordered+s.Foreign+s.Corrupt != 0 {
			t.Errorf("%+v", s)
		}
	}
	if len(r.Durability.Evidence) > 20 {
		t.Errorf("%d facts of evidence", len(r.Durability.Evidence))
	}
}
