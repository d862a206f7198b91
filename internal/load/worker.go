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

// This file has all that crosses the seam between a run and its workers: plain data, with
// no pointer into what is recorded, that a wire could carry. merge.go has how what comes
// from several workers becomes one.
//
// Every time is nanoseconds of one clock, which ClockName names. A worker on another
// machine has another clock: its times are to be converted, with their error, before
// anything here merges them. That is the fleet's part, like whatever this file says that a
// merge cannot know.

// Worker offers its share of a plan's load, and counts what became of it. Its methods are
// for one goroutine, in this order: Open, Ready until all is proved, Start, then Cut,
// Sample and Account any number of times, Close, and a last Sample and Account.
type Worker interface {
	// Open opens the share's clients. When ctx ends first, the cluster's Close ends those
	// that were opened.
	Open(ctx context.Context) error
	// Ready sends a message to each of the partitions that its producers prove, and when it
	// is called once more to those of again, which are numbered over all topics. It returns
	// when each is acknowledged, and every subscription of its share has received one from
	// every partition or wait is over. What it returns is cumulative. When ctx ends first the
	// error names a partition that is not ready, and the producers are closed.
	Ready(ctx context.Context, again []int64, wait time.Duration) (Readiness, error)
	// Start begins the load.
	Start(w Window) error
	// Cut takes the place of the window of before. It may come again. A producer that had
	// drawn a message which the new window has at another time says so (Failure).
	Cut(w Window) error
	// Sample returns what was counted. With histograms it ends an interval, and returns
	// what was recorded in it too.
	Sample(histograms bool) (Sample, error)
	// Account returns which messages were acknowledged and which arrived. While the load
	// runs, what happens during the call may be in it or not.
	Account() (Account, error)
	// Close ends the counting, then closes the clients, each kind at once and within limit.
	// Nothing is counted afterwards, even where closing failed.
	Close(limit time.Duration) error
}

// ClockName names the clock that times are on. Times of different clocks are never
// compared.
type ClockName string

// Event is what a worker says by itself.
type Event struct {
	Kind     EventKind
	Sentence string
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Progress EventKind = "progress" // how far an opening or closing has come
	Failure  EventKind = "failure"  // a client that could not go on: the run is to end
)

// Plan is what a worker needs to know of the load.
type Plan struct {
	Workload workload.Workload
	Run      uint32 // stamped into every message, to tell runs apart
	Prefix   string // of topic names
	// Spread is how the system's own client deals messages without a key.
	Spread system.Spread
	Share  Share
	// Alone leaves the twin out. It is for benchmarks of the engine itself.
	Alone bool
}

// Share is a worker's part of the producers and of the consumers: of each the Worker-th of
// Workers even parts. The zero Share is all of it. Message i is producer i mod n's, of all
// n producers, so that any division of them adds up to the same schedule.
type Share struct{ Worker, Workers int }

// part returns the range of the share's part among the given number of places.
func (s Share) part(of int) (from, to int) {
	n := max(s.Workers, 1)
	return s.Worker * of / n, (s.Worker + 1) * of / n
}

// Topics returns the topics that the plan needs.
func (p *Plan) Topics() []system.Topic {
	topics := make([]system.Topic, p.Workload.Topics)
	for i := range topics {
		topics[i] = system.Topic{
			Name: fmt.Sprintf("%s-%d", p.Prefix, i), Partitions: p.Workload.Partitions,
		}
	}
	return topics
}

// Window is when a run offers load, and when it measures. It has one owner, the run's Course;
// workers have the latest window that they received.
type Window struct {
	StartNs   int64 // the schedule begins
	MeasureNs int64 // the warm-up ends: what is due from then on is measured
	EndNs     int64 // the schedule ends, and the measured window
	HaltNs    int64 // from then on nothing is handed over, however late it is
	// Read opens the consumers that read later: those of a backlog, or of an audit.
	Read bool
}

// Readiness is what is proved of the partitions before the load begins.
type Readiness struct {
	Messages int64 // sent to prove them, so far
	// Received are the partitions, numbered over all topics, that each of the workload's
	// subscriptions has received a message from. Two merge to their unions.
	Received []measure.Set
}

// Sample is what a worker has counted. With its histograms it is of one interval; Worker and
// Interval are its key, so that a repeated sample can be recognised.
type Sample struct {
	Worker   int
	Interval int64 // how many intervals have ended, this one included; it starts at 0
	Clock    ClockName
	AtNs     int64 // when the counting began: what happened meanwhile is in it too
	Counters Counters

	// Of the interval that the sample ends. Histograms merge bucket by bucket, and
	// percentiles never.
	Histograms []measure.Histogram
	// FirstAckNs and LastAckNs are when the first and the last acknowledgement came; 0: none
	// did. A gap between the spans of two intervals is exact; one within a span is not seen.
	FirstAckNs, LastAckNs int64
	Processes             []Process
}

// Process is what a worker's process spends. Two readings of one process count once.
type Process struct {
	ID         string  // names the process among those of all machines
	CPUSeconds float64 // cumulative
	GCCount    int64   // cumulative
	GCPauseNs  int64   // longest of the interval
	RSSBytes   int64   // as are all that follow: at the end of the interval
	HeapBytes  int64
	Goroutines int64
}

// Counters is what has happened since the load began. Arrays are by phase of the message
// (measure.Warmup, measure.Measured). Counters merge by addition, times as each says.
type Counters struct {
	Handed   [2]int64
	Acked    [2]int64
	Failed   [2]int64
	Unsent   [2]int64
	Received [2]int64 // by the workload's own subscriptions, copies included
	Calls    [2]int64 // sends of a closed loop that were begun
	InFlight int64    // handed over and not answered
	// First arrivals at the workload's own subscriptions, and at the one that reads later
	// beside them. A worker knows the copies among its own consumers; where two workers
	// share a subscription, a copy that came to both counts here twice, and its latency is
	// in both their histograms of end-to-end latency. Accounts tell how many those were.
	Fresh, Replayed int64
	// Within the measured window, of messages of either phase, copies left out.
	AckedWithin    int64
	ReceivedWithin []int64 // by subscription
	BlockedNs      int64
	FirstHandedNs  int64 // the earliest; 0: none yet

	Read         int64 // first arrivals at consumers that read later
	FirstReadNs  int64 // the earliest arrival there; 0: none yet
	LastReceived int64 // when a message arrived last, at any consumer: the latest; 0: none yet

	Sent bool // every message was handed over or counted unsent; of all workers
	// Opened: opening the consumers that read later has come to its end, on all workers.
	Opened bool
	// Unopened is why they could not be opened; empty: they could. The first one.
	Unopened string
}

// Account is which messages a worker's producers had acknowledged, and which its consumers
// received. Accounts merge by being collected side by side, and are then judged together, from the
// sets (Judge). So loss, copies and unacknowledged arrivals are exact, whichever workers the
// consumers of a subscription are on.
//
// Only a worker sees in which order things happen, so that is judged there, of its own
// consumers: which messages came out of order at one of them, which were overtaken at
// another, and of which transaction a first arrival is. A copy that came to two workers is
// a first arrival to both, which may count as out of order, or as one more message of its
// transaction. To tell these needs the order of things on different machines, which is the
// fleet's part; until then a plan can keep each subscription on one worker.
type Account struct {
	Clock   ClockName
	Sent    []measure.SentAccount    // by topic, then by producer
	Arrived []measure.ArrivedAccount // by topic, subscription, consumer
	Errors  []result.Error           // that the system gave, most frequent first
	// MeanInFlight is the mean number of messages in flight over the measured window. Means
	// of workers add up.
	MeanInFlight float64
	MemoryBytes  int64 // that the sets take at the worker
}
