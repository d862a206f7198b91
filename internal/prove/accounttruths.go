package prove

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
)

// counted is a load whose messages are counted and not timed: whole seconds of it show
// what is planted, also beside other runs.
var counted = Load{Rate: 2_000, For: 2 * time.Second, Producers: 2}

// What the simulated system planted, of the whole run.
func plantedLost(e *evidence) int64       { return e.planted.Lost }
func plantedDuplicated(e *evidence) int64 { return e.planted.Duplicated }
func plantedSwapped(e *evidence) int64    { return e.planted.Swapped }
func plantedFailed(e *evidence) int64     { return e.planted.Failed }
func nothing(*evidence) int64             { return 0 }

// What the run's account says.
var (
	lost       = ledger(func(l *result.SubscriptionLedger) int64 { return l.Lost })
	duplicates = ledger(func(l *result.SubscriptionLedger) int64 { return l.Duplicate })
	reordered  = ledger(func(l *result.SubscriptionLedger) int64 { return l.Reordered })
)

func refused(e *evidence) int64 { return e.run.Counters.Failed }

// accountTruths are those of what becomes of messages.
var accountTruths = []Truth{
	{
		Name: "nothing_planted", Planted: "two subscriptions get every message, once and in order",
		Beside: true, Load: Load{Rate: 2_000, For: 2 * time.Second, Subscriptions: 2},
		Checks: []Check{
			account("lost", nothing, lost), account("duplicates", nothing, duplicates),
			account("reordered", nothing, reordered), account("refused", nothing, refused),
			account("received", func(e *evidence) int64 { return 2 * e.run.Counters.Scheduled },
				func(e *evidence) int64 { return e.run.Counters.Received }),
			says(verdict.Loss, result.Holds), says(verdict.Order, result.Holds), says(verdict.Failures, result.Holds),
		},
	},
	{
		Name: "loss", Planted: "2% of messages are acknowledged and never delivered",
		Beside: true, Load: counted, Settings: map[string]string{"lose_per_million": "20k"},
		Checks: []Check{
			some("losses", plantedLost), account("lost", plantedLost, lost), says(verdict.Loss, result.Broken),
		},
	},
	{
		Name: "copies", Planted: "2% of messages are delivered twice, at once",
		Beside: true, Load: counted, Settings: map[string]string{"duplicate_per_million": "20k"},
		Checks: []Check{
			some("copies", plantedDuplicated), account("duplicates", plantedDuplicated, duplicates),
			says(verdict.Order, result.Broken),
		},
	},
	{
		Name: "reordering", Planted: "2% of messages are delivered after the one that follows them",
		Beside: true, Load: counted, Settings: map[string]string{"swap_per_million": "20k"},
		Checks: []Check{
			some("swaps", plantedSwapped), account("reordered", plantedSwapped, reordered),
			says(verdict.Order, result.Broken),
		},
	},
	{
		Name: "refused", Planted: "2% of messages are refused",
		Beside: true, Load: counted, Settings: map[string]string{"fail_per_million": "20k"},
		Checks: []Check{
			some("refusals", plantedFailed), account("refused", plantedFailed, refused),
			account("lost", nothing, lost), says(verdict.Failures, result.Broken),
		},
	},
	{
		Name: "slow_consumer", Planted: "2,000/s are offered, a subscription gets 1,500/s",
		Beside: true, Load: Load{Rate: 2_000, For: 4 * time.Second},
		Settings: map[string]string{"drain_rate": "1500/s"},
		Checks: []Check{
			rate("received rate", 1_500, 0.01, received), rate("achieved rate", 2_000, 0.01, achieved),
			says(verdict.Rate, result.Holds),
		},
	},
}

// searchTruths are those of the highest stable rate.
var searchTruths = []Truth{
	{
		Name: "peak", Planted: "a capacity of 1,000/s",
		Beside: true, Load: Load{Rate: 500, For: 2 * time.Second},
		Search:   &Search{Start: 500, Probe: 2 * time.Second, Confirm: 3 * time.Second},
		Settings: map[string]string{"service_time": "200us", "capacity": "1k/s"},
		Checks:   []Check{bracket(1_000)},
	},
	{
		Name: "peak_with_a_pulse", Planted: "a capacity of 1,000/s that stands still for 100 ms of each second",
		Beside: true, Load: Load{Rate: 500, For: 2 * time.Second},
		Search:   &Search{Start: 500, Probe: 3 * time.Second, Confirm: 4 * time.Second},
		Settings: map[string]string{"service_time": "200us", "capacity": "1k/s", "stall_every": "1s", "stall_for": "100ms"},
		Checks:   []Check{bracket(900)},
	},
}
