package prove

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// missing returns the number of messages of a series that have no latency.
func missing(series result.Series) func(e *evidence) int64 {
	return func(e *evidence) int64 { return e.run.Summary.Series(series).Missing.Total() }
}

func plantedUnanswered(e *evidence) int64 { return e.planted.NeverAnswered }

// censoredTruths are the truths about messages without a latency, which percentiles must
// not leave out.
var censoredTruths = []Truth{
	{
		Name:    "slow_ones_refused",
		Planted: "200 us for every message, but 1.5% would take 50 ms and are refused",
		Load:    Load{Rate: 2_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service": "bimodal", "service_time": "200us", "service_slow": "50ms",
			"service_slow_share": "0.015", "service_slow_outcome": "refused",
		},
		Checks: []Check{
			percentiles(result.Publish, always(200*time.Microsecond), 50, 90, 95),
			censored(result.Publish, 99, result.NotReached),
			some("refusals", plantedFailed),
			account("publish without a latency", plantedFailed, missing(result.Publish)),
			says(verdict.Failures, result.Broken),
		},
	},
	{
		Name:    "unanswered",
		Planted: "200 us for every message, but 1.5% are delivered and never answered",
		Load:    Load{Rate: 2_000, For: 3 * time.Second, Drain: time.Second},
		Settings: map[string]string{
			"service": "bimodal", "service_time": "200us",
			"service_slow_share": "0.015", "service_slow_outcome": "unanswered",
		},
		Checks: []Check{
			percentiles(result.Publish, always(200*time.Microsecond), 50, 90, 95),
			percentiles(result.EndToEnd,
				always(200*time.Microsecond).plus(deliveryDelay), 50, 90, 95),
			censored(result.Publish, 99, result.AtLeast),
			some("messages without an answer", plantedUnanswered),
			account("publish without a latency", plantedUnanswered, missing(result.Publish)),
			account("lost", nothing, lost), says(verdict.Failures, result.Broken),
		},
	},
	{
		Name:    "unsent",
		Planted: "a capacity of 500/s is offered 2,000/s and cut off after its window",
		Load: Load{
			Rate: 2_000, For: 3 * time.Second, Drain: 500 * time.Millisecond, InFlight: 100,
		},
		Settings: map[string]string{"service_time": "0s", "capacity": "500/s"},
		Checks: []Check{
			rate("achieved rate", 500, 0.01, achieved),
			censored(result.Publish, 99, result.NotReached),
			censored(result.Publish, 75, result.NotReached),
			says(verdict.Rate, result.Broken), says(verdict.Failures, result.Broken),
		},
	},
	{
		Name:    "late_copies",
		Planted: "250 us end to end; 10% of messages are delivered again after 1 s",
		Load:    Load{Rate: 1_000, For: 3 * time.Second},
		Settings: map[string]string{
			"service_time": "200us", "duplicate_per_million": "100k", "copy_after": "1s",
		},
		Checks: []Check{
			percentiles(result.EndToEnd,
				always(200*time.Microsecond).plus(deliveryDelay), 50, 90, 99),
			percentiles(result.Copies,
				always(200*time.Microsecond).plus(deliveryDelay+time.Second), 50),
			says(verdict.Duplicates, result.Broken),
		},
	},
}
