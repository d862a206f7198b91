package prove

import (
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/verdict"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// counted is a load for truths about counts of messages, not about latencies. It shows the
// planted behaviour within whole seconds, also beside concurrent runs.
var counted = Load{Rate: 2_000, For: 2 * time.Second, Producers: 2}

// transacted is the same load in transactions.
var transacted = Load{
	Rate: 2_000, For: 2 * time.Second, Producers: 2, Delivery: workload.ExactlyOnce,
}

// The planted counts of the whole run.
func plantedLost(e *evidence) int64       { return e.planted.Lost }
func plantedDuplicated(e *evidence) int64 { return e.planted.Duplicated }
func plantedSwapped(e *evidence) int64    { return e.planted.Swapped }
func plantedFailed(e *evidence) int64     { return e.planted.Failed }
func plantedMisplaced(e *evidence) int64  { return e.planted.Misplaced }
func plantedAborted(e *evidence) int64    { return e.planted.Transactions.AbortedDelivered }
func plantedPartial(e *evidence) int64    { return e.planted.Transactions.Partial }
func nothing(*evidence) int64             { return 0 }

// The counts in the run's account.
var (
	lost       = ledger(func(l *result.SubscriptionLedger) int64 { return l.Lost })
	duplicates = ledger(func(l *result.SubscriptionLedger) int64 { return l.Duplicate })
	reordered  = ledger(func(l *result.SubscriptionLedger) int64 { return l.Reordered })
	misplaced  = ledger(func(l *result.SubscriptionLedger) int64 { return l.Misplaced })

	partlyReceived = ledger(func(l *result.SubscriptionLedger) int64 {
		return l.PartialTransactions
	})
	refusedReceived = ledger(func(l *result.SubscriptionLedger) int64 {
		return l.RefusedReceived
	})
)

func refused(e *evidence) int64 { return e.run.Counters.Failed }

// accountTruths are the truths about the account of messages.
var accountTruths = []Truth{
	{
		Name: "nothing_planted", Planted: "two subscriptions get every message, once and in order",
		Concurrent: true, Load: Load{Rate: 2_000, For: 2 * time.Second, Subscriptions: 2},
		Checks: []Check{
			account("lost", nothing, lost), account("duplicates", nothing, duplicates),
			account("reordered", nothing, reordered), account("refused", nothing, refused),
			account("received", func(e *evidence) int64 { return 2 * e.run.Counters.Scheduled },
				func(e *evidence) int64 { return e.run.Counters.Received }),
			says(verdict.Loss, result.Holds), says(verdict.Order, result.Holds),
			says(verdict.Failures, result.Holds), says(verdict.Duplicates, result.Holds),
			says(verdict.Receiving, result.Holds), says(verdict.Counts, result.Holds),
		},
	},
	{
		Name: "loss", Planted: "2% of messages are acknowledged and never delivered",
		Concurrent: true, Load: counted, Settings: map[string]string{"lose_per_million": "20k"},
		Checks: []Check{
			some("losses", plantedLost), account("lost", plantedLost, lost),
			says(verdict.Loss, result.Broken),
			account("end_to_end without a latency", plantedLost, missing(result.EndToEnd)),
			censored(result.EndToEnd, 99, result.NotReached),
		},
	},
	{
		Name: "copies", Planted: "2% of messages are delivered twice in a row",
		Concurrent: true, Load: counted,
		Settings: map[string]string{"duplicate_per_million": "20k"},
		Checks: []Check{
			some("copies", plantedDuplicated), account("duplicates", plantedDuplicated, duplicates),
			says(verdict.Duplicates, result.Broken), says(verdict.Order, result.Holds),
		},
	},
	{
		Name: "reordering", Planted: "2% of messages are delivered after their successor",
		Concurrent: true, Load: counted, Settings: map[string]string{"swap_per_million": "20k"},
		Checks: []Check{
			some("swaps", plantedSwapped), account("reordered", plantedSwapped, reordered),
			says(verdict.Order, result.Broken),
		},
	},
	{
		Name: "refused", Planted: "2% of messages are refused",
		Concurrent: true, Load: counted, Settings: map[string]string{"fail_per_million": "20k"},
		Checks: []Check{
			some("refusals", plantedFailed), account("refused", plantedFailed, refused),
			account("lost", nothing, lost), says(verdict.Failures, result.Broken),
		},
	},
	{
		Name: "slow_consumer", Planted: "2,000/s are offered, and a subscription gets 1,500/s",
		Concurrent: true, Load: Load{Rate: 2_000, For: 4 * time.Second},
		Settings: map[string]string{"drain_rate": "1500/s"},
		Checks: []Check{
			rate("received rate", 1_500, 0.01, received),
			rate("achieved rate", 2_000, 0.01, achieved),
			says(verdict.Rate, result.Holds), says(verdict.Receiving, result.Broken),
		},
	},
	{
		Name:       "misplaced",
		Planted:    "2% of messages are delivered from another partition than the producer chose",
		Concurrent: true, Load: counted, Settings: map[string]string{"misplace_per_million": "20k"},
		Checks: []Check{
			some("misplacements", plantedMisplaced),
			account("misplaced", plantedMisplaced, misplaced),
			says(verdict.Order, result.Broken),
		},
	},
	{
		Name:       "late_copies_unseen",
		Planted:    "2% of messages are delivered again 15 s later, after the end of the run",
		Concurrent: true, Load: counted,
		Settings: map[string]string{"duplicate_per_million": "20k", "copy_after": "15s"},
		Checks: []Check{
			some("copies", plantedDuplicated), account("duplicates", nothing, duplicates),
			never(verdict.Duplicates, result.Holds), never(verdict.Order, result.Holds),
		},
	},
	{
		Name:       "transactions_kept",
		Planted:    "exactly once; no message of an aborted transaction is delivered",
		Concurrent: true, Load: transacted, Settings: map[string]string{"abort_share": "0.2"},
		Checks: []Check{
			some("aborted messages", plantedFailed), account("refused", plantedFailed, refused),
			account("refused and received", nothing, refusedReceived),
			account("read in part", nothing, partlyReceived),
			says(verdict.Aborted, result.Holds), says(verdict.Transactions, result.Holds),
			says(verdict.Loss, result.Holds),
		},
	},
	{
		Name:       "aborted_read",
		Planted:    "exactly once; 40% of the aborted transactions are delivered anyway",
		Concurrent: true, Load: transacted,
		Settings: map[string]string{"abort_share": "0.3", "aborted_visible_share": "0.4"},
		Checks: []Check{
			some("aborted messages delivered", plantedAborted),
			account("refused and received", plantedAborted, refusedReceived),
			says(verdict.Aborted, result.Broken), says(verdict.Transactions, result.Holds),
		},
	},
	{
		Name:       "transaction_in_part",
		Planted:    "exactly once; 20% of the transactions deliver only every second message",
		Concurrent: true, Load: transacted,
		Settings: map[string]string{"partial_share": "0.2", "abort_share": "0.2"},
		Checks: []Check{
			some("transactions in part", plantedPartial),
			account("read in part", plantedPartial, partlyReceived),
			account("lost", plantedLost, lost), says(verdict.Transactions, result.Broken),
		},
	},
}
