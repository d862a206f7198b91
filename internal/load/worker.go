package load

import (
	"context"
	"fmt"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/measure"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// This file has the data that crosses the seam between a run and its workers. It is plain:
// no pointer leads into a recorder, so a wire could carry it. merge.go merges the data of
// several workers.
//
// Every time is nanoseconds of the clock that ClockName names. A worker on another machine
// has another clock. Its times must be converted, with their error, before a merge; no code
// does that yet.

// Worker offers its share of a plan's load and counts the outcomes. One goroutine calls its
// methods, in this order: Open, Ready until every partition is proved, Start, then Cut,
// Sample and Account any number of times, Close, and a last Sample and Account.
type Worker interface {
	// Open opens the share's clients. When ctx ends first, the cluster's Close ends those
	// that were opened.
	Open(ctx context.Context) error
	// Ready proves partitions: it sends a message to each partition of the share's producers
	// and, in a later call, to the partitions of again, which are numbered over all topics.
	// It returns when every message is acknowledged and every subscription of the share has
	// received a message from every partition, or when wait is over. The result is cumulative. If
	// ctx ends first, the error names a partition that is not ready, and the producers are closed.
	Ready(ctx context.Context, again []int64, wait time.Duration) (Readiness, error)
	// Start begins the load.
	Start(w Window) error
	// Cut replaces the window, and may be called again. A Failure event reports a producer
	// that has already drawn a message whose due time the new window changes.
	Cut(w Window) error
	// Sample returns the counters. With histograms it also ends an interval and returns the
	// interval's histograms.
	Sample(histograms bool) (Sample, error)
	// Account returns the sets of acknowledged and of arrived messages. While the load runs,
	// events during the call may be missing from them.
	Account() (Account, error)
	// Close stops counting and closes the clients, all of a kind together and each kind
	// within limit. Nothing is counted afterwards, even when closing fails.
	Close(limit time.Duration) error
}

// ClockName names the clock that times are on. Times of different clocks are never
// compared.
type ClockName string

// Event is a report that a worker makes on its own.
type Event struct {
	Kind     EventKind
	Sentence string
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Progress EventKind = "progress" // the number of clients opened or closed so far
	Failure  EventKind = "failure"  // the named client cannot continue: the run must end
)

// Plan is the load, as a worker needs to know it.
type Plan struct {
	Workload workload.Workload
	Run      uint32 // stamped into every message, to tell runs apart
	Prefix   string // of topic names
	// Spread is the system's own rule for the partition of a message without a key.
	Spread system.Spread
	Share  Share
	// Alone leaves the twin out. It is for benchmarks of the engine itself.
	Alone bool
}

// Share is a worker's part of the producers and consumers: the Worker-th of Workers even
// parts. The zero Share is everything. The number of a message decides which producer sends it
// (turns.go), so any division among workers adds up to the same schedule. Producers are dealt
// out in turn, so all workers offer load at all times, also where a crowd of producers shares
// a low rate. Consumers are dealt out in rows, so those of a subscription are on few workers.
type Share struct {
	Worker, Workers int
	// ByTopic divides by whole topics, so that the producers and the consumers of a topic are on
	// one worker, and end-to-end latency is on one clock. Each topic has one producer then.
	ByTopic bool
}

// producers returns which of so many producers are the share's: the first one, every step-th after
// it, and how many these are.
func (s Share) producers(of int) (first, step, n int) {
	step = max(s.Workers, 1)
	return s.Worker, step, (of - s.Worker + step - 1) / step
}

// consumes reports whether a consumer of a topic is the share's, by its place among so many.
func (s Share) consumes(topic, place, of int) bool {
	n := max(s.Workers, 1)
	if s.ByTopic {
		return topic%n == s.Worker // as the topic's only producer
	}
	return place >= s.Worker*of/n && place < (s.Worker+1)*of/n
}

// Subscriptions returns the names of the plan's subscriptions of each topic.
func (p *Plan) Subscriptions() []string {
	names := make([]string, p.Workload.AllSubscriptions())
	for i := range names {
		names[i] = p.subscriptionName(i)
	}
	return names
}

// Topics returns the topics that the plan needs.
func (p *Plan) Topics() []system.Topic {
	topics := make([]system.Topic, p.Workload.Topics)
	for i := range topics {
		k := p.Workload.KindOf(i)
		name := fmt.Sprintf("%s-%d", p.Prefix, i)
		switch {
		case p.Workload.Existing != nil:
			name = p.Workload.Existing[i]
		case k.Class >= 0:
			name = fmt.Sprintf("%s-%s-%d", p.Prefix, p.Workload.Classes[k.Class].Name, i-k.First)
		}
		topics[i] = system.Topic{Name: name, Partitions: k.Partitions}
	}
	return topics
}

// Window is when a run offers load, and when it measures. It has one owner, the run's Course;
// workers have the latest window that they received.
type Window struct {
	StartNs   int64 // the schedule begins
	MeasureNs int64 // the warm-up ends: what is due from then on is measured
	EndNs     int64 // the measured window ends, and the schedule unless LoadNs is set
	// LoadNs is the length of a schedule that ends before the measured window; 0: it does not.
	LoadNs int64
	HaltNs int64 // from then on nothing is handed over, not even late messages
	// Read opens the consumers that read later: those of a backlog, or of an audit.
	Read bool
}

// LoadEndNs returns the end of the schedule.
func (w Window) LoadEndNs() int64 {
	if w.LoadNs > 0 {
		return min(w.StartNs+w.LoadNs, w.EndNs)
	}
	return w.EndNs
}

// Readiness is the proof, before the load, that partitions carry messages.
type Readiness struct {
	Messages int64 // sent to prove them, so far
	// Connections is the number of TCP connections that the share's producers and consumers have
	// to the servers; 0: there are none, or the number is not known. A merge is the sum.
	Connections int64
	// Received has, for each of the workload's subscriptions, the partitions, numbered over
	// all topics, from which it has received a message. A merge is the union.
	Received []measure.Set
}

// Sample is a worker's counters and, when it ends an interval, the interval's histograms.
// Worker and Interval are its key: a repeated sample can be recognised.
type Sample struct {
	Worker   int
	Interval int64 // the number of ended intervals, this one included
	Clock    ClockName
	AtNs     int64 // the time at which reading began; later events may be included
	Counters Counters

	// Of the interval that the sample ends. Histograms merge bucket by bucket, and
	// percentiles never.
	Histograms measure.Histograms
	// FirstAckNs and LastAckNs are when the first and the last acknowledgement came; 0: none
	// did. A gap between the spans of two intervals is exact; one within a span is not seen.
	FirstAckNs, LastAckNs int64
	Processes             []Process
	// OwnLag is the worker's own lag since the load began, of messages due in the measured window,
	// where several workers share the load. A merge leaves it out.
	OwnLag OwnLag
}

// OwnLag is the own lag of one worker.
type OwnLag struct{ P99Ns, Count int64 }

// Process is the resource use of a worker's process. Two readings of one process count once.
type Process struct {
	ID         string  // names the process among those of all machines
	CPUSeconds float64 // cumulative
	GCCount    int64   // cumulative
	GCPauseNs  int64   // longest of the interval
	RSSBytes   int64   // as are all that follow: at the end of the interval
	HeapBytes  int64
	Goroutines int64
	// The limits of the process's control groups, 0: there is none; and how long the CPU limit
	// throttled it, cumulative.
	CPULimitCores    float64
	MemoryLimitBytes int64
	ThrottledNs      int64
}

// Counters are counts since the load began. Arrays are indexed by the phase of the message
// (measure.Warmup, measure.Measured). Counts merge by addition, times as each field says.
type Counters struct {
	Handed   [2]int64
	Acked    [2]int64
	Failed   [2]int64
	Unsent   [2]int64
	Received [2]int64 // by the workload's own subscriptions, copies included
	Calls    [2]int64 // sends of a closed loop that were begun
	InFlight int64    // handed over and not answered
	// First arrivals at the workload's own subscriptions, and at the subscription that reads
	// later. A worker recognises copies among its own consumers only. When two workers share
	// a subscription, a message that reached both counts twice here, and its latency is in
	// both histograms of end-to-end latency. The accounts give the number of such messages.
	Fresh, Replayed int64
	FreshAt         []int64 // the same by subscription, those that read later being the last
	AckedBytes      int64   // payload of all acknowledged messages
	// Messages that consumers gave back, and those of them that were delivered again.
	GivenBack, Redelivered int64
	// Within the measured window, of messages of either phase, copies left out.
	AckedWithin    int64
	BytesWithin    int64   // payload of AckedWithin
	ReceivedWithin []int64 // by subscription
	BlockedNs      int64
	// Used counts the added partitions in which a message was acknowledged, and Found those from
	// which one has arrived, for each of the workload's own subscriptions.
	Used, Found   int64
	FirstHandedNs int64 // the earliest; 0: none yet

	Read         int64 // first arrivals at consumers that read later
	FirstReadNs  int64 // the earliest arrival there; 0: none yet
	LastReceived int64 // the latest arrival at any consumer; 0: none yet

	Sent bool // every message was handed over or counted unsent; of all workers
	// Opened: the opening of the consumers that read later has ended, on all workers.
	Opened bool
	// Unopened is the first error of that opening; empty: none.
	Unopened string
}

// Account has the messages of a worker's producers that were acknowledged, and the messages
// that its consumers received. Accounts are collected side by side and judged together, from
// the sets (Judge). So loss, copies and unacknowledged arrivals are exact, whichever workers
// have the consumers of a subscription.
//
// Order is watched by each worker, among its own consumers: messages out of order at one consumer,
// and messages overtaken at another. So it is known of every lane that came to one worker. In a
// lane that several workers received, messages that were certainly late at one worker are counted,
// and the order between workers is not known (measure.Judge). A copy that reached two workers is a
// first arrival at both, and may count as a further message of its transaction. A plan avoids all
// this by keeping each subscription on one worker.
type Account struct {
	Clock   ClockName
	Sent    []measure.SentAccount    // by topic, then by producer
	Arrived []measure.ArrivedAccount // by topic, subscription, consumer
	Errors  []result.Error           // that the system gave, most frequent first
	// MeanInFlight is the mean number of messages in flight over the measured window. Means
	// of workers add up.
	MeanInFlight float64
	MemoryBytes  int64 // of the sets at the worker
	// Scaling holds the effects of changes of the number of consumers so far; it is never divided
	// among workers.
	Scaling []result.ScaleStep
	// Missing names the workers without an account, and why: nothing can be judged then.
	Missing []string
}
