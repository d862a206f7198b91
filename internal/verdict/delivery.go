package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// notAccounted is the sentence of a verdict that needs the account of messages.
const notAccounted = "the run ended before its messages were accounted for"

// accounted calls judge with the sum of the subscriptions' accounts, if messages were accounted
// for.
func accounted(name string, r *result.Run,
	judge func(*result.Run, result.SubscriptionLedger) result.Verdict) result.Verdict {
	if !r.Ledger.Accounted {
		return say(name, result.Unknown, notAccounted)
	}
	if r.Unread() {
		return say(name, result.Unknown, "nothing read the messages: the load has no "+
			"subscription, and audit: true would read them back when it is over")
	}
	return judge(r, r.Ledger.Total())
}

// exactlyOnce reports whether the run promised to deliver each message exactly once.
func exactlyOnce(r *result.Run) bool { return r.Load.Delivery == "exactly_once" }

// WatchAfterFaultNs is how long consumers must be watched after the last message of a run
// with faults, on a system that never delivers again by itself. A fault may have cut clients
// off: the time is longer than the session time-outs of the client libraries.
const WatchAfterFaultNs = 10_000_000_000

// Watched reports whether the consumers of a run were watched for as long as the system may take
// to deliver a message again; otherwise why says how long they were watched, and how long that
// may take.
func Watched(r *result.Run) (whole bool, why string) {
	watched := "watched " + quantity.Duration(r.Ledger.WatchedNs)
	name := cmp.Or(r.System.Name, "the system")
	switch d := r.System.Redelivery; {
	case r.Lacks():
		return false, "how long the consumers were watched is not on record"
	case d == nil:
		return false, fmt.Sprintf("%s; when %s may redeliver is not known", watched, name)
	case d.Never && len(r.Faults) == 0:
		return true, ""
	case d.Never && r.Ledger.WatchedNs < WatchAfterFaultNs:
		return false, fmt.Sprintf("%s of the %s for which a client that a fault cut off may wait "+
			"for its next message", watched, quantity.Duration(WatchAfterFaultNs))
	case d.Never:
		return true, ""
	case d.AfterNs == 0:
		return false, fmt.Sprintf("%s; %s may redeliver at any time", watched, name)
	case r.Ledger.WatchedNs < d.AfterNs:
		return false, fmt.Sprintf("%s of the %s in which %s may redeliver", watched,
			quantity.Duration(d.AfterNs), name)
	}
	return true, ""
}

// duplicates judges whether each message came once. Sound counts copies as a broken promise only
// with exactly_once delivery. With at_most_once, consumers acknowledge a message before they
// handle it, which excludes redelivery, but not every system promises to make no copies.
func duplicates(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	switch {
	case l.Duplicate > 0:
		return say(Duplicates, result.Broken, "%s, which %s",
			quantity.Plural(l.Duplicate, "duplicate", "duplicates"), roomForCopies(r))
	case l.Received == 0:
		return say(Duplicates, result.Unknown, "nothing was received: cannot judge")
	}
	if whole, why := Watched(r); !whole {
		if d := r.System.Redelivery; d != nil && !d.Never {
			why += ": " + d.Why
		}
		return say(Duplicates, result.Unknown, "none so far; %s", why)
	}
	return say(Duplicates, result.Holds,
		"none of %s messages was received more than once", quantity.Count(l.Received))
}

// redelivery judges whether messages that consumers gave back were delivered again.
func redelivery(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	missing := l.GivenBack - l.Redelivered
	switch {
	case l.GivenBack == 0:
		return say(Redelivery, result.Unknown,
			"no consumer gave a message back: cannot judge")
	case missing > 0 && r.State != result.Complete:
		return say(Redelivery, result.Unknown,
			"%s of %s messages that consumers gave back had not come again when the run was cut "+
				"short",
			quantity.Count(missing), quantity.Count(l.GivenBack))
	case missing > 0 && l.Unread > 0 && l.AwaitedNs == 0:
		return say(Redelivery, result.Unknown,
			"%s of %s messages that consumers gave back had not come again when the drain ended, "+
				"and other messages were still arriving",
			quantity.Count(missing), quantity.Count(l.GivenBack))
	case missing > 0:
		return say(Redelivery, result.Broken,
			"%s of %s messages that consumers gave back did not come again, also not within %s "+
				"after the last arrival",
			quantity.Count(missing), quantity.Count(l.GivenBack),
			quantity.Duration(r.Ledger.WatchedNs))
	}
	return say(Redelivery, result.Holds,
		"every message that a consumer gave back was delivered again: %s of %s",
		quantity.Count(l.Redelivered), quantity.Count(l.GivenBack))
}

// roomForCopies says what a run's delivery promises about copies.
func roomForCopies(r *result.Run) string {
	switch {
	case exactlyOnce(r):
		return "exactly_once forbids"
	case r.Load.Delivery == "at_most_once":
		return "at_most_once excludes; they do not count as a broken promise"
	}
	return r.Load.Delivery + " allows"
}

// order judges whether messages first arrived in the order of their lane (topic, producer and
// partition), over all consumers of a subscription, and from the partition they were sent to. In
// lanes that several workers of a fleet received, only disorder at one worker is known.
func order(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	switch {
	case l.Misplaced > 0:
		return say(Order, result.Broken,
			"%s messages came from a partition that they were not sent to, or with a key of "+
				"another partition",
			quantity.Count(l.Misplaced))
	case r.System.Unordered != "":
		return say(Order, result.Unknown, "%s messages came out of order, and no order is "+
			"promised: %s", quantity.Count(l.Reordered), r.System.Unordered)
	case l.Reordered > 0 && !r.System.PartitionsOwned && consumersLeft(r):
		return say(Order, result.Unknown, "%s messages came out of order, and consumers left "+
			"meanwhile: messages that a leaving consumer gives back are delivered later, and no "+
			"order is promised for them", quantity.Count(l.Reordered))
	case l.Reordered > 0:
		return say(Order, result.Broken, "%s messages came out of order",
			quantity.Count(l.Reordered))
	case l.Overtaken > 0 && r.System.PartitionsOwned:
		return say(Order, result.Broken,
			"%s messages came after another consumer of the subscription had received a later "+
				"message of their partition",
			quantity.Count(l.Overtaken))
	case l.Received == 0:
		return say(Order, result.Unknown,
			"nothing was received: cannot judge")
	}
	if why := OrderUnwatched(r, l); why != "" {
		return say(Order, result.Unknown, "%s", why)
	}
	if whole, why := Watched(r); !whole {
		return say(Order, result.Unknown, "in order so far; %s", why)
	}
	at := ""
	if l.BetweenWorkers > 0 {
		at = ", at each consumer: they share partitions, and no order is promised between them"
	}
	return say(Order, result.Holds,
		"every message came in the order of its topic, producer and partition%s", at)
}

// consumersLeft reports whether the workload closed consumers while the load went on.
func consumersLeft(r *result.Run) bool {
	now := map[int]int{} // consumers of each subscription; 0: of all, as the first stretch has them
	for _, step := range r.Scaling {
		before, known := now[step.Subscription]
		if !known {
			before = now[0]
		}
		if step.Consumers < before {
			return true
		}
		now[step.Subscription] = step.Consumers
	}
	return false
}

// OrderUnwatched returns what is not known of the order of a fleet's messages, whose workers each
// watch their own consumers; empty: all is known.
func OrderUnwatched(r *result.Run, l result.SubscriptionLedger) string {
	switch {
	case l.ReorderedOrCopies > 0:
		return fmt.Sprintf("%s messages came out of order at one worker and came to another "+
			"worker too: they may be copies",
			quantity.Count(l.ReorderedOrCopies))
	case l.BetweenWorkers > 0 && r.System.PartitionsOwned:
		return fmt.Sprintf("in order at each worker; of %s received messages, %s are of "+
			"partitions that several workers received, and the order between workers was not "+
			"checked",
			quantity.Count(l.Received), quantity.Count(l.BetweenWorkers))
	}
	return ""
}

// aborted judges whether consumers read a message that the system refused, or whose
// transaction was aborted.
func aborted(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	refused := r.Counters.Failed + r.Warmup.Failed
	switch {
	case l.RefusedReceived > 0:
		return say(Aborted, result.Broken,
			"consumers read %s messages that the system refused, or whose transaction was aborted",
			quantity.Count(l.RefusedReceived))
	case r.Lacks():
		return say(Aborted, result.Unknown, "this run does not record which messages were refused")
	case refused == 0:
		return say(Aborted, result.Unknown,
			"no message was refused or aborted: cannot judge")
	}
	return say(Aborted, result.Holds,
		"no refused or aborted message was read: the system refused or aborted %s messages",
		quantity.Count(refused))
}

// transactions judges whether all messages of a transaction were read, or none.
func transactions(r *result.Run, l result.SubscriptionLedger) result.Verdict {
	switch {
	case l.Transactions == 0:
		return say(Transactions, result.Unknown,
			"the run does not record which messages were sent in one transaction")
	case l.PartialTransactions > 0 && (r.State != result.Complete ||
		l.PartialTransactions <= l.Unread): // each unread message may complete one
		return say(Transactions, result.Unknown,
			"%s transactions had been read only in part when the run ended",
			quantity.Count(l.PartialTransactions))
	case l.PartialTransactions > 0:
		return say(Transactions, result.Broken,
			"%s of %s transactions were read only in part",
			quantity.Count(l.PartialTransactions), quantity.Count(l.Transactions))
	case l.WholeTransactions == 0:
		return say(Transactions, result.Unknown,
			"no transaction of several messages was read: cannot judge")
	}
	return say(Transactions, result.Holds,
		"no transaction was read in part: %s with several messages were read whole, %s were "+
			"aborted",
		quantity.Count(l.WholeTransactions), quantity.Count(l.AbortedTransactions))
}

// counts judges whether plimsoll's own counts agree. They are made independently: counters
// of answers, histograms of latencies, and sets of sequence numbers.
func counts(r *result.Run) result.Verdict {
	if !r.Ledger.Accounted {
		return say(Counts, result.Unknown, notAccounted)
	}
	c, warm := r.Counters, r.Warmup
	timed := r.Summary.Series(result.Publish).Count
	var received, copies int64
	own := r.Ledger.Subscriptions[:min(len(r.Ledger.Subscriptions), r.Load.Subscriptions)]
	for _, l := range own {
		if l.Acked != c.Acked+warm.Acked {
			return say(Counts, result.Broken,
				"plimsoll's own counts differ: %s messages acknowledged by its counters, %s by "+
					"their sequence numbers",
				quantity.Count(c.Acked+warm.Acked), quantity.Count(l.Acked))
		}
		received, copies = received+l.Received, copies+l.Duplicate
	}
	switch {
	case timed != c.Acked:
		return say(Counts, result.Broken,
			"plimsoll's own counts differ: %s messages acknowledged by its counters, %s publish "+
				"latencies",
			quantity.Count(c.Acked), quantity.Count(timed))
	case received+copies != c.Received+warm.Received:
		return say(Counts, result.Broken,
			"plimsoll's own counts differ: %s messages received by its counters, %s by their "+
				"sequence numbers",
			quantity.Count(c.Received+warm.Received), quantity.Count(received+copies))
	}
	return say(Counts, result.Holds,
		"counters, latencies and sequence numbers agree: %s acknowledged, %s received",
		quantity.Count(c.Acked+warm.Acked), quantity.Count(received+copies))
}

// servers judges a run in which servers ended without a fault of the workload.
func servers(r *result.Run) result.Verdict {
	first, named := r.Ended[0], EndedServers(r)
	return say(Servers, result.Broken,
		"%s ended without a fault of the workload, the first %s after the run started: see the "+
			"servers' logs", named, quantity.Duration(first.AtNs))
}

// EndedServers names the servers that ended without a fault of the workload; empty: none did.
func EndedServers(r *result.Run) string {
	const most = 5
	var names []string
	for _, e := range r.Ended {
		if !slices.Contains(names, e.Node) {
			names = append(names, e.Node)
		}
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	return strict.List("and", names...)
}
