package prove

import (
	"time"

	moremath "github.com/aclements/go-moremath/stats"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// deliveryDelay is the simulated system's default delay from an acknowledgement to the
// delivery.
const deliveryDelay = 50 * time.Microsecond

// wakeStep is how long a pacer may delay a due message to send it with later ones.
const wakeStep = 100 * time.Microsecond

// latencyTruths are the truths about latencies.
var latencyTruths = []Truth{
	{
		Name: "constant", Planted: "every message takes 200 us",
		Load:     Load{Rate: 1_000, For: 3 * time.Second},
		Settings: map[string]string{"service_time": "200us"},
		Checks: []Check{
			percentiles(result.Publish, always(200*time.Microsecond), 50, 90, 99),
			percentiles(result.EndToEnd,
				always(200*time.Microsecond).plus(deliveryDelay), 50, 90, 99),
			rate("achieved rate", 1_000, 0.01, achieved), says(verdict.Rate, result.Holds),
			says(verdict.Loss, result.Holds), says(verdict.Order, result.Holds),
		},
	},
	{
		Name: "bimodal", Planted: "1 ms for most messages, 20 ms for 10% of them",
		Load: Load{Rate: 1_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service": "bimodal", "service_time": "1ms",
			"service_slow": "20ms", "service_slow_share": "0.1",
		},
		Checks: []Check{
			percentiles(result.Publish,
				twoTimes(time.Millisecond, 20*time.Millisecond, 0.1), 50, 75, 95, 99),
		},
	},
	{
		Name: "tail_heavy", Planted: "200 us for most messages, 1 s for 2% of them",
		Load: Load{Rate: 2_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service": "bimodal", "service_time": "200us",
			"service_slow": "1s", "service_slow_share": "0.02",
		},
		Checks: []Check{
			percentiles(result.Publish,
				twoTimes(200*time.Microsecond, time.Second, 0.02), 50, 90, 95, 99),
		},
	},
	{
		Name: "lognormal", Planted: "lognormal, median 2 ms, sigma 0.5",
		Load: Load{Rate: 2_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service": "lognormal", "service_time": "2ms", "service_sigma": "0.5",
		},
		Checks: []Check{
			percentiles(result.Publish, lognormal(2*time.Millisecond, 0.5), 50, 90, 99),
		},
	},
	{
		Name: "exponential", Planted: "exponential, mean 5 ms",
		Load:     Load{Rate: 2_000, For: 3 * time.Second},
		Settings: map[string]string{"service": "exponential", "service_time": "5ms"},
		Checks: []Check{
			percentiles(result.Publish, exponential(5*time.Millisecond), 50, 90, 99),
		},
	},
	{
		Name: "stall", Planted: "the system answers nothing for 200 ms of each second",
		Load: Load{Rate: 1_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service_time": "200us", "stall_every": "1s", "stall_for": "200ms",
		},
		Checks: []Check{
			percentiles(result.Publish,
				held(time.Second, 200*time.Millisecond, 200*time.Microsecond), 50, 75, 90, 95, 99),
		},
	},
	{
		Name: "send_blocks", Planted: "Send does not return for 50 ms of each second",
		Load: Load{Rate: 1_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service_time": "200us", "send_block_every": "1s", "send_block_for": "50ms",
		},
		Checks: []Check{
			percentiles(result.Publish,
				held(time.Second, 50*time.Millisecond, 200*time.Microsecond), 50, 90, 99),
			blocked(50 * time.Millisecond),
			blamesSystem,
		},
	},
	{
		Name: "overload", Planted: "a capacity of 1,000/s is offered 2,000/s",
		Load:     Load{Rate: 2_000, For: 3 * time.Second},
		Settings: map[string]string{"service_time": "0s", "capacity": "1k/s"},
		Checks: []Check{
			percentiles(result.Publish, queue(1_000), 50, 90, 99),
			rate("achieved rate", 1_000, 0.01, achieved), says(verdict.Rate, result.Broken),
		},
	},
	{
		Name:     "bursts",
		Planted:  "a capacity of 1,000/s is offered 250/s, and 2,500/s for 200 ms of each second",
		Load:     Load{Steps: bursts(250, 2_500, 800*time.Millisecond, 200*time.Millisecond, 3)},
		Settings: map[string]string{"service_time": "0s", "capacity": "1k/s"},
		Checks: []Check{
			percentiles(result.Publish, queue(1_000), 50, 90, 95, 99),
		},
	},
	{
		Name: "m_d_1", Planted: "Poisson arrivals at 90% of a capacity of 1,000/s",
		Load:     Load{Rate: 900, For: 5 * time.Second, Poisson: true},
		Settings: map[string]string{"service_time": "0s", "capacity": "1k/s"},
		Checks: []Check{
			percentilesWithin(wakeStep, result.Publish, queue(1_000), 50, 90, 95, 99),
			mean(wakeStep, result.Publish, func(w *workload.Workload) float64 {
				return moremath.Mean(sojourns(dueTimes(w), 1e6))
			}),
		},
	},
	{
		Name:    "transactions",
		Planted: "exactly once; a transaction ends every 50 ms and takes 200 us to commit",
		Load:    Load{Rate: 1_000, For: 3 * time.Second, Delivery: workload.ExactlyOnce},
		Settings: map[string]string{
			"service_time": "200us", "transaction_interval": "50ms",
		},
		Checks: []Check{
			percentiles(result.Publish,
				evenly(50*time.Millisecond, 200*time.Microsecond), 50, 90, 99),
			says(verdict.Duplicates, result.Holds), says(verdict.Order, result.Holds),
		},
	},
	{
		Name: "closed_loop", Planted: "4 callers wait for answers that take 2 ms",
		Load:     Load{Closed: 4, For: 3 * time.Second},
		Settings: map[string]string{"service_time": "2ms"},
		Checks:   []Check{percentiles(result.Send, always(2*time.Millisecond), 50, 90, 99)},
	},
}

// bursts returns a load curve that alternates a quiet and a busy stretch, repeated n times.
func bursts(
	quiet, busy float64, quietFor, busyFor time.Duration, times int,
) (steps []workload.Segment) {
	for range times {
		steps = append(steps,
			workload.Segment{From: quiet, To: quiet, For: quietFor},
			workload.Segment{From: busy, To: busy, For: busyFor})
	}
	return steps
}
