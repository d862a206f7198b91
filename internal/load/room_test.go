package load

import (
	"testing"

	"github.com/plimsoll-bench/plimsoll/workload"
)

// A worker makes room for the pacers of its share.
func TestPacersOfAShare(t *testing.T) {
	plan := Plan{Workload: workload.Workload{Topics: 2, Producers: 50}}
	if n := plan.pacers(); n != maxPacers {
		t.Errorf("%d pacers of the whole", n)
	}
	sum := 0
	for i := range 7 {
		plan.Share = Share{Worker: i, Workers: 7}
		sum += plan.pacers()
	}
	if sum != 100 {
		t.Errorf("the shares have %d pacers for 100 producers", sum)
	}
	plan.Workload.Load.Closed = &workload.Closed{}
	if n := plan.pacers(); n != 1 {
		t.Errorf("%d pacers of a closed loop", n)
	}
}
