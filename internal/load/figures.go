package load

import (
	"cmp"
	"slices"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
)

// Figures is what has happened up to a moment. Arrays are by phase of the
// message (measure.Warmup, measure.Measured).
type Figures struct {
	Handed   [2]int64
	Acked    [2]int64
	Failed   [2]int64
	Unsent   [2]int64
	Received [2]int64
	Calls    [2]int64 // sends of a closed loop that were begun
	InFlight int64
	Replayed int64 // what those who read later received, copies at one consumer left out; it is no part of Received
	// Backlog is acknowledged x subscriptions - received, copies left out.
	Backlog int64
	// AckedWithin and ReceivedWithin are what happened in the measured window, to messages
	// of either phase; LeastWithin is ReceivedWithin of the subscription with the least.
	// Copies are left out.
	AckedWithin, ReceivedWithin, LeastWithin int64
	BlockedNs                                int64
	FirstHandedNs                            int64 // on the clock; 0: none yet
}

// Figures reads the counters of all clients.
func (e *Engine) Figures() Figures {
	var f Figures
	for _, p := range e.pacers {
		p.Lock()
		add(&f.Handed, p.handed)
		add(&f.Unsent, p.unsent)
		add(&f.Calls, p.calls)
		f.BlockedNs += p.blockedNs
		if p.firstHandedNs != 0 && (f.FirstHandedNs == 0 || p.firstHandedNs < f.FirstHandedNs) {
			f.FirstHandedNs = p.firstHandedNs
		}
		p.Unlock()
	}
	var fresh int64
	within := make([]int64, e.plan.Workload.Subscriptions)
	for _, c := range e.consumers {
		c.Lock()
		if c.replay {
			f.Replayed += c.fresh
		} else {
			add(&f.Received, c.byPhase)
			f.ReceivedWithin += c.within
			within[c.subscription] += c.within
			fresh += c.fresh
		}
		c.Unlock()
	}
	for _, p := range e.producers {
		p.Lock()
		add(&f.Acked, p.acked)
		f.AckedWithin += p.ackedWithin
		add(&f.Failed, p.failed)
		p.Unlock()
		f.InFlight += p.inFlight()
	}
	f.LeastWithin = slices.Min(within)
	acked := f.Acked[0] + f.Acked[1]
	// What arrived before its acknowledgement makes it less than nothing.
	f.Backlog = max(0, acked*int64(e.plan.Workload.Subscriptions)-fresh)
	return f
}

func add(into *[2]int64, n [2]int64) {
	into[0] += n[0]
	into[1] += n[1]
}

// InFlight is the number of messages handed over and not answered. Any
// goroutine may call it while the engine runs.
func (e *Engine) InFlight() int64 {
	var n int64
	for _, p := range e.producers {
		n += p.inFlight()
	}
	return n
}

// dueCount counts the messages of a schedule up to a time.
type dueCount struct {
	byPhase [2]int64
	nextNs  int64
	more    bool
}

func (d *dueCount) advance(c *Cursor) { _, d.nextNs, d.more = c.Next() }

// DueBy is the number of messages due before a time of the clock, by phase.
// Times must not go back. Of a closed loop it is the number of those begun by
// now.
func (e *Engine) DueBy(ns int64) [2]int64 {
	if e.plan.Workload.Load.Closed != nil {
		return e.begun()
	}
	for e.due.more && e.startNs+e.due.nextNs < ns {
		e.due.byPhase[phaseOf(e.due.nextNs, e.schedule.Load())]++
		e.due.advance(e.counted)
	}
	return e.due.byPhase
}

// begun is the number of messages handed over or counted unsent, by phase.
func (e *Engine) begun() (n [2]int64) {
	for _, p := range e.pacers {
		p.Lock()
		add(&n, p.handed)
		add(&n, p.unsent)
		p.Unlock()
	}
	return n
}

// AckSpan returns when the first and the last acknowledgement came since it was
// called last, of any producer, on the clock; 0: none came. A gap between two
// spans is exact; one within a span it cannot see.
func (e *Engine) AckSpan() (firstNs, lastNs int64) {
	for _, p := range e.producers {
		p.Lock()
		switch {
		case p.firstAckNs == 0:
		case firstNs == 0:
			firstNs, lastNs = p.firstAckNs, p.lastAckNs
		default:
			firstNs, lastNs = min(firstNs, p.firstAckNs), max(lastNs, p.lastAckNs)
		}
		p.firstAckNs, p.lastAckNs = 0, 0
		p.Unlock()
	}
	return firstNs, lastNs
}

// Errors returns the failures that the system gave, most frequent first.
func (e *Engine) Errors() []result.Error {
	counts := make(map[string]int64)
	for _, p := range e.producers {
		p.Lock()
		for text, n := range p.errors {
			counts[text] += n
		}
		p.Unlock()
	}
	var errs []result.Error
	for text, n := range counts {
		errs = append(errs, result.Error{Message: text, Count: n})
	}
	slices.SortFunc(errs, func(a, b result.Error) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Message, b.Message))
	})
	return errs
}

// Account compares what was acknowledged with what arrived, for every subscription. It
// returns too how many distinct messages due in the measured window arrived at the
// workload's own subscriptions. Nobody may record any more.
func (e *Engine) Account() (ledger result.Ledger, arrived int64) {
	ledger = result.Ledger{Accounted: true, MemoryBytes: e.LedgerBytes()}
	readers := e.byPlace()
	for s := range e.subscriptions() {
		account := result.SubscriptionLedger{Subscription: e.subscriptionName(s)}
		for t := range e.topics {
			n := e.accountTopic(&account, t, readers[e.placeOf(t, s)])
			if s < e.plan.Workload.Subscriptions {
				arrived += n
			}
		}
		ledger.Subscriptions = append(ledger.Subscriptions, account)
	}
	return ledger, arrived
}

// LastReceivedNs is when the last message was received, on the clock; 0: none was.
func (e *Engine) LastReceivedNs() int64 {
	var last int64
	for _, c := range e.consumers {
		c.Lock()
		last = max(last, c.lastNs)
		c.Unlock()
	}
	return last
}

// accountTopic accounts for one subscription of a topic, and returns how many distinct
// messages due in the measured window arrived.
func (e *Engine) accountTopic(
	into *result.SubscriptionLedger, topic int, readers []*consumer,
) (measured int64) {
	w := e.plan.Workload
	var seen []*measure.Seen
	sent, arrived := e.accounts(topic, readers, func(c *consumer) {
		into.Foreign += c.foreign
		into.Corrupt += c.corrupt
		into.Misplaced += c.misplaced
		seen = append(seen, c.seen)
	})
	var transactions []*measure.Transactions
	for i := range w.Producers {
		transactions = append(transactions, &e.producers[i*w.Topics+topic].transactions)
	}
	measure.AccountTransactions(into, transactions, seen)
	from := func(lane int) int64 {
		return e.producers[lane/w.Partitions*w.Topics+topic].measuredFrom[lane%w.Partitions]
	}
	return measure.Account(into, sent, arrived, from, func(lane int) measure.LaneName {
		return measure.LaneName{
			Topic: e.topics[topic].Name, Producer: lane / w.Partitions, Partition: lane % w.Partitions,
		}
	})
}

// place is a subscription of a topic, whose first lane is base.
type place struct {
	base         uint32
	subscription int
}

// placeOf is a subscription of the topic of that number.
func (e *Engine) placeOf(topic, subscription int) place {
	return place{uint32(topic * e.plan.Workload.Producers * e.plan.Workload.Partitions), subscription}
}

// byPlace is who consumes what.
func (e *Engine) byPlace() map[place][]*consumer {
	readers := make(map[place][]*consumer)
	for _, c := range e.consumers {
		at := place{c.base, c.subscription}
		readers[at] = append(readers[at], c)
	}
	return readers
}

// accounts are those of a topic's producers and of some readers of it, each of
// which is seen.
func (e *Engine) accounts(topic int, readers []*consumer, see func(*consumer)) (sent []*measure.Sent, arrived []*measure.Arrived) {
	w := e.plan.Workload
	for i := range w.Producers {
		sent = append(sent, e.producers[i*w.Topics+topic].sent)
	}
	for _, c := range readers {
		arrived = append(arrived, c.arrived)
		see(c)
	}
	return sent, arrived
}

// Missing reports whether something that was acknowledged has not arrived at one of
// so many subscriptions, of which one that reads later is the last. The figures
// cannot tell where messages arrived that were not acknowledged. It holds everybody up and is for when nothing moves.
func (e *Engine) Missing(subscriptions int) bool {
	readers := e.byPlace()
	for _, p := range e.producers {
		p.Lock()
		defer p.Unlock()
	}
	for _, c := range e.consumers {
		c.Lock()
		defer c.Unlock()
	}
	for s := range subscriptions {
		for t := range e.topics {
			if sent, arrived := e.accounts(t, readers[e.placeOf(t, s)], func(*consumer) {}); measure.Missing(sent, arrived) {
				return true
			}
		}
	}
	return false
}

// LedgerBytes is the memory that the account takes now.
func (e *Engine) LedgerBytes() int64 {
	var n int64
	for _, p := range e.producers {
		p.Lock()
		n += p.sent.Bytes()
		p.Unlock()
	}
	for _, c := range e.consumers {
		c.Lock()
		n += c.arrived.Bytes()
		c.Unlock()
	}
	return n
}
