package prove

import (
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// handles describes consumers that take a constant time for each message, and fail for a share of
// them.
func handles(each time.Duration, fails float64) workload.Handling {
	return workload.Handling{Fails: fails, Time: workload.HandlingTime{
		Parts: []workload.TimePart{{Share: 1, Time: each}}}}
}

var (
	givenBack   = ledger(func(l *result.SubscriptionLedger) int64 { return l.GivenBack })
	redelivered = ledger(func(l *result.SubscriptionLedger) int64 { return l.Redelivered })
)

func plantedGivenBack(e *evidence) int64 { return e.planted.GivenBack }

func plantedRedelivered(e *evidence) int64 { return e.planted.GivenBack - e.planted.Forgotten }

// fairness compares Jain's index of the only subscription with a planted one.
func fairness(planted float64) Check {
	return func(e *evidence) []Row {
		row := Row{Figure: "fairness", PlantedValue: planted, Planted: fmt.Sprintf("%.3f", planted),
			Below: 0.002, Above: 0.002}
		s := e.run.Ledger.Subscriptions[0].Sharing
		if s == nil {
			return []Row{row.broken("not printed")}
		}
		return []Row{row.measured(s.Fairness, fmt.Sprintf("%.3f", s.Fairness))}
	}
}

// standstill compares the longest gap after each change of the number of consumers with a planted
// one. The gap may begin up to one message distance before the change.
func standstill(planted, distance time.Duration) Check {
	return func(e *evidence) (rows []Row) {
		for i, s := range e.run.Scaling[min(1, len(e.run.Scaling)):] {
			row := Row{Figure: fmt.Sprintf("standstill of change %d", i+1), Unit: Nanoseconds,
				PlantedValue: float64(planted), Planted: nanoseconds(float64(planted)),
				Above:     float64(distance) + e.instrument(1),
				most:      mostOwnError(99, float64(planted)),
				explained: float64(distance) + e.explains(result.EndToEnd, 1)}
			rows = append(rows, row.measured(float64(s.LongestGapNs),
				nanoseconds(float64(s.LongestGapNs))))
		}
		if len(rows) != len(e.workload.Scaling) {
			rows = append(rows, Row{Figure: "changes"}.broken("not printed"))
		}
		return rows
	}
}

// queueTruths are the truths about consumers that share a queue.
var queueTruths = []Truth{
	{
		Name: "redelivery",
		Planted: "4 consumers handle each message for 5 ms and give 10% back, redelivered " +
			"after 200 ms",
		Load: Load{Rate: 200, For: 5 * time.Second, Consumers: 4,
			Handling: handles(5*time.Millisecond, 0.1)},
		Settings: map[string]string{"shape": "queue", "redelivery_delay": "200ms"},
		Checks: []Check{
			some("returns", plantedGivenBack),
			account("given back", plantedGivenBack, givenBack),
			account("delivered again", plantedRedelivered, redelivered),
			percentiles(result.Redelivered, always(200*time.Millisecond), 50, 90),
			account("lost", nothing, lost), account("duplicates", nothing, duplicates),
			fairness(1), says(verdict.Redelivery, result.Holds),
			says(verdict.Duplicates, result.Holds), says(verdict.Counts, result.Holds),
		},
	},
	{
		Name:    "forgotten_returns",
		Planted: "consumers give 20% of messages back, and a tenth of those is never redelivered",
		Load: Load{Rate: 500, For: 4 * time.Second, Consumers: 2, Drain: 2 * time.Second,
			Idle: time.Second, Handling: workload.Handling{Fails: 0.2}},
		Settings:   map[string]string{"shape": "queue", "forget_per_million": "100k"},
		Concurrent: true,
		Checks: []Check{
			account("given back", plantedGivenBack, givenBack),
			account("delivered again", plantedRedelivered, redelivered),
			some("forgotten returns", func(e *evidence) int64 { return e.planted.Forgotten }),
			account("redelivery without a latency", func(e *evidence) int64 {
				return e.planted.Forgotten
			}, missing(result.Redelivered)),
			censored(result.Redelivered, 95, result.NotReached),
			account("lost", nothing, lost), says(verdict.Redelivery, result.Broken),
		},
	},
	{
		Name:    "unfair_queue",
		Planted: "4 consumers are free all the time, and the first one gets every message",
		Load: Load{Rate: 100, For: 3 * time.Second, Consumers: 4,
			Handling: handles(time.Millisecond, 0)},
		Settings:   map[string]string{"shape": "queue", "turns": "first"},
		Concurrent: true,
		Checks: []Check{
			fairness(0.25), account("lost", nothing, lost), says(verdict.Loss, result.Holds),
		},
	},
	{
		Name: "busy_consumer",
		Planted: "random arrivals at 100/s, and one consumer that handles each message for 8 ms: " +
			"a message waits for earlier ones",
		Load: Load{Rate: 100, For: 20 * time.Second, Poisson: true,
			Handling: handles(8*time.Millisecond, 0)},
		Settings: map[string]string{"shape": "queue", "service_time": "200us"},
		Checks: []Check{
			percentilesWithin(2*time.Millisecond, result.EndToEnd,
				waiting(125).plus(200*time.Microsecond+deliveryDelay), 50, 90, 99),
			account("lost", nothing, lost),
		},
	}, {
		Name: "rebalance",
		Planted: "4 consumers become 1 and 4 again, and each change stops the subscription for " +
			"300 ms",
		Load: Load{Rate: 1_000, For: 4 * time.Second, Consumers: 4,
			Scaling: []workload.GroupSize{{At: time.Second, Consumers: 1},
				{At: 2500 * time.Millisecond, Consumers: 4}}},
		Settings: map[string]string{"rebalance_for": "300ms"},
		Checks: []Check{
			standstill(300*time.Millisecond, 6*time.Millisecond),
			account("lost", nothing, lost), account("duplicates", nothing, duplicates),
			says(verdict.Order, result.Holds),
		},
	},
}
