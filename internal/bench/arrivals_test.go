package bench_test

import (
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// Below the capacity constant arrivals never queue; random arrivals do, more so near the capacity.
// docs/METHODOLOGY.md has the table.
func TestTruthConstantArrivalsHideQueueing(t *testing.T) {
	million(t)
	const capacity = 5_000
	for _, c := range []struct {
		share float64
		p99   time.Duration // with random arrivals
	}{{0.5, 1070 * time.Microsecond}, {0.9, 4600 * time.Microsecond}} {
		w := load(c.share*capacity, 30*time.Second)
		settings := map[string]string{"capacity": "5k/s", "service_time": "200us"}
		s, _ := onSim(t, w, settings)
		constant := point(t, s, result.Publish, 99)
		w.Load.Arrivals = workload.ArrivalsPoisson
		s, _ = onSim(t, w, settings)
		random := point(t, s, result.Publish, 99)
		t.Logf("%.0f%%: constant %v, random %v", c.share*100, time.Duration(constant.LatencyNs),
			time.Duration(random.LatencyNs))
		within(t, "publish p99, constant arrivals", float64(constant.LatencyNs), 400e3, 0.01)
		within(t, "publish p99, random arrivals", float64(random.LatencyNs), float64(c.p99), 0.15)
	}
}
