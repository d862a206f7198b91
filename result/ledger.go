package result

// Ledger is the account of every message of the run, warm-up included.
type Ledger struct {
	Accounted bool `json:"accounted"` // false: the run never got that far
	// WatchedNs is the time for which consumers stayed open after the last message arrived.
	// Deliveries after that time were not seen.
	WatchedNs int64 `json:"watched_ns,omitempty"`
	// GonePartitions counts the partitions that the servers, at the end of an audit, reported as
	// missing.
	GonePartitions int                  `json:"gone_partitions,omitempty"`
	Subscriptions  []SubscriptionLedger `json:"subscriptions"`
	MemoryBytes    int64                `json:"memory_bytes"`
}

// ProducersAlone reports whether the load had no subscriptions. Other tools do not record them.
func (r *Run) ProducersAlone() bool { return r.Imported == nil && r.Load.Subscriptions == 0 }

// Unread reports whether nothing read the run's messages, not even an audit.
func (r *Run) Unread() bool {
	return r.ProducersAlone() && !r.Load.Audit && len(r.Ledger.Subscriptions) == 0
}

// Accounted reports whether it is known which of the run's messages arrived.
func (r *Run) Accounted() bool { return r.Ledger.Accounted && !r.Unread() }

// SubscriptionLedger is the account of one subscription over all its topics.
type SubscriptionLedger struct {
	Subscription string `json:"subscription"`
	Acked        int64  `json:"acked"`    // acknowledged to producers
	Received     int64  `json:"received"` // distinct messages
	// acknowledged, not received, and shown to be lost: see internal/measure, Evidence
	Lost int64 `json:"lost"`
	// LostWarmup counts those of the lost messages that were due in the warm-up.
	LostWarmup int64 `json:"lost_in_warmup,omitempty"`
	// acknowledged, and not received when the run ended: lost, or still to come
	Unread int64 `json:"unread,omitempty"`
	// AwaitedNs is how long nothing had arrived when the run stopped waiting for the unread
	// messages; 0: messages were still arriving, or the run gave up on the readers.
	AwaitedNs int64 `json:"awaited_ns,omitempty"`
	Duplicate int64 `json:"duplicate"` // further copies of received messages
	Reordered int64 `json:"reordered"` // came after a later one of their lane
	// came after a later one of their lane that another consumer had received
	Overtaken int64 `json:"overtaken,omitempty"`
	// Of a fleet: messages received of lanes that came to consumers of several workers. Each worker
	// watched the order among its own consumers; the order between workers was not watched.
	BetweenWorkers int64 `json:"between_workers,omitempty"`
	// came after a later one of their lane at a consumer, and to another worker too: reordered, or
	// copies of what had come there before
	ReorderedOrCopies int64 `json:"reordered_or_copies,omitempty"`
	Unacked           int64 `json:"unacked_received"` // never acknowledged, yet received: legal
	Corrupt           int64 `json:"corrupt"`          // payload differs from what was sent
	// came from another partition, or with another key, than it was sent with
	Misplaced int64 `json:"misplaced,omitempty"`
	// Of messages that the system refused, or whose transaction was aborted.
	RefusedReceived int64 `json:"refused_received,omitempty"`
	// Transactions are those of exactly_once delivery. Of a partial transaction, some messages
	// were received and others were not.
	Transactions        int64 `json:"transactions,omitempty"`
	AbortedTransactions int64 `json:"aborted_transactions,omitempty"`
	PartialTransactions int64 `json:"partial_transactions,omitempty"`
	// transactions of several messages that were received whole
	WholeTransactions int64 `json:"whole_transactions,omitempty"`
	// Handlings that failed: messages that consumers gave back, and those that were delivered
	// again. They are in no other count.
	GivenBack   int64 `json:"given_back,omitempty"`
	Redelivered int64 `json:"redelivered,omitempty"`
	// Sharing says how evenly the consumers shared the messages of the measured window; nil: a
	// subscription has a single consumer, or it was not recorded.
	Sharing    *Sharing `json:"sharing,omitempty"`
	Foreign    int64    `json:"foreign"`               // not of this run
	LostRanges []Range  `json:"lost_ranges,omitempty"` // the first few
	// The first few of each consumer, and of the messages that reached several consumers.
	DuplicateRanges []Range `json:"duplicate_ranges,omitempty"`
	ReorderedRanges []Range `json:"reordered_ranges,omitempty"`
}

// Total is the account of all subscriptions together, without the lists and the sharing. Every
// subscription has the same transactions, so Total takes those of the one with the most.
func (l Ledger) Total() (total SubscriptionLedger) {
	for _, s := range l.Subscriptions {
		total.Acked += s.Acked
		total.Received += s.Received
		total.Lost += s.Lost
		total.LostWarmup += s.LostWarmup
		total.Unread += s.Unread
		total.AwaitedNs = max(total.AwaitedNs, s.AwaitedNs)
		total.Duplicate += s.Duplicate
		total.Reordered += s.Reordered
		total.Overtaken += s.Overtaken
		total.BetweenWorkers += s.BetweenWorkers
		total.ReorderedOrCopies += s.ReorderedOrCopies
		total.Unacked += s.Unacked
		total.Corrupt += s.Corrupt
		total.Misplaced += s.Misplaced
		total.RefusedReceived += s.RefusedReceived
		total.GivenBack += s.GivenBack
		total.Redelivered += s.Redelivered
		total.Foreign += s.Foreign
		total.Transactions = max(total.Transactions, s.Transactions)
		total.AbortedTransactions = max(total.AbortedTransactions, s.AbortedTransactions)
		total.PartialTransactions = max(total.PartialTransactions, s.PartialTransactions)
		total.WholeTransactions = max(total.WholeTransactions, s.WholeTransactions)
	}
	return total
}

// Range is a run of sequence numbers of one lane, both ends included.
type Range struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Producer  int    `json:"producer"`
	First     int64  `json:"first"`
	Last      int64  `json:"last"`
	// The times at which the messages were due and acknowledged, in a run with faults; nil: not
	// known.
	When *Span `json:"when,omitempty"`
}
