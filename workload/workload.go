package workload

import (
	"time"
)

// Workload is the load of one run. Counts are of clients and messages, sizes
// are bytes, rates are messages per second over all producers together.
type Workload struct {
	Name        string
	Description string

	Topics     int // number of topics
	Partitions int // partitions of each topic
	// Existing names topics that exist already, which plimsoll neither creates nor deletes; nil:
	// it creates topics of its own. Topics is their number. Partitions is 1 until the topics
	// have been read from the cluster.
	Existing  []string
	Producers int // producers of each topic
	// Subscriptions of each topic; each sees every message. 0: nothing reads the messages, or
	// the audit alone.
	Subscriptions int
	Consumers     int // consumers sharing each subscription

	// Message is what all producers send, or the mixture of the classes.
	Message Message
	// Classes share the producers of each topic, in their order; nil: all send alike.
	Classes  []Class
	Keys     Keys
	Spread   Spread // of messages without a key
	Load     Load
	Handling Handling // of each message by its consumer
	// Scaling closes and opens consumers of each subscription in the measured window, in the
	// order of time.
	Scaling []GroupSize

	Warmup   time.Duration // load that is offered and not measured
	Settle   bool          // the warm-up ends at the steady state
	Duration time.Duration // the measured window
	Drain    time.Duration // longest wait for what is still under way afterwards

	Delivery   Delivery
	Durability Level
	Clients    Clients // empty: ClientsDefault
	// MaxInFlight bounds the messages of one producer that are handed over and not answered. At
	// the bound the next message waits, and the wait is charged to that message. In a closed
	// loop the bound follows from Load.Closed.
	MaxInFlight int
	Seed        uint64
	Isolate     Isolate

	Backlog *Backlog // nil: readers keep up from the start
	// Audit adds a subscription to each topic. It is made before the load and read after it, to
	// see which messages the system still holds, whichever subscription has read them.
	Audit  bool
	Faults []Fault // in the order in which they are written

	// Objectives are conditions that each run must keep, such as publish.p99 < 20ms.
	Objectives []string
}

// Isolate says what plimsoll does before a run, so that an earlier run does not affect it.
type Isolate struct {
	DropPageCache bool // of this machine
	CPUs          CPUs
}

// CPUs is how servers and load use the CPUs of a machine that they share.
type CPUs string

// The uses of CPUs.
const (
	CPUsShared CPUs = "shared" // each may run on all
	// CPUsSplit gives servers and load separate CPUs if there are two or more: the load gets half
	// of them, rounded down to whole cores.
	CPUsSplit CPUs = "split"
)

// StampBytes is the part of each payload that carries sequence and due time.
const StampBytes = 32

// Message describes the payload of a message.
type Message struct {
	Size           int64   // payload bytes, the stamp included; 0: Sizes says
	Sizes          *Sizes  // nil: every payload has Size bytes
	Incompressible float64 // share of the payload, 0 to 1, that no codec can shrink
}

// Spread is how messages without a key go to partitions.
type Spread string

// The ways of spreading messages without a key.
const (
	SpreadClient     Spread = "client"      // as the system's own client does by default
	SpreadRoundRobin Spread = "round_robin" // one by one, in turn
)

// Keys says how messages are keyed. A keyed message's partition follows from
// its key; of a message without a key Workload.Spread decides.
type Keys struct {
	Kind     KeyKind
	Count    int       // number of distinct keys
	Exponent float64   // zipf only: above 1, larger is more skewed
	Shares   []KeyPart // shares only
}

// KeyKind is a way of choosing keys.
type KeyKind string

// The ways of choosing keys.
const (
	KeysNone       KeyKind = "none"
	KeysRoundRobin KeyKind = "round_robin"
	KeysRandom     KeyKind = "random"
	KeysZipf       KeyKind = "zipf"
	KeysShares     KeyKind = "shares"
)

// Load is one of two models. Open loop, the usual one, is a rate curve: a list
// of segments run one after another, together exactly as long as the measured
// window; the warm-up is offered at the first segment's opening rate. Closed loop has neither rate
// nor arrivals.
type Load struct {
	Arrivals Arrivals
	Burst    int // messages that are due at the same moment; 0: each by itself
	Segments []Segment
	Closed   *Closed // nil: open loop
}

// Closed is a closed loop: each producer has a fixed number of sends in flight, and begins the
// next send when all messages of an earlier one are answered. So the system sets the rate, and
// a stall delays the next sends instead of being charged to them (coordinated omission).
type Closed struct {
	InFlight int   // sends of one producer that are under way at a time
	Batch    Batch // messages of one send
}

// Batch is the number of messages of a send: drawn evenly from Least to Most, both included.
type Batch struct{ Least, Most int }

// Mean is the mean number of messages of a send.
func (b Batch) Mean() float64 { return float64(b.Least+b.Most) / 2 }

// Segment is a part of the curve on which the rate changes in a straight line from one rate to
// another, both in messages per second.
type Segment struct {
	From, To float64
	For      time.Duration
}

// Arrivals is how messages, or bursts of messages, are spaced around the rate curve.
type Arrivals string

// The arrival processes.
const (
	ArrivalsConstant Arrivals = "constant" // evenly spaced
	ArrivalsPoisson  Arrivals = "poisson"  // independent, exponential gaps
)

// Delivery is the delivery guarantee asked for.
type Delivery string

// The delivery guarantees.
const (
	AtMostOnce  Delivery = "at_most_once"  // acknowledged before it is handled
	AtLeastOnce Delivery = "at_least_once" // acknowledged after it is handled
	ExactlyOnce Delivery = "exactly_once"  // sent in transactions; only what was committed is read
)

// Level is a durability level, 1 (strongest) to 4, the same for all systems.
type Level int

// The durability levels: replication x local disk.
const (
	SyncSync   Level = 1 // replicated to a majority and synced to disk on each of those
	SyncAsync  Level = 2 // replicated to a majority, in memory
	AsyncSync  Level = 3 // synced to disk on one replica
	AsyncAsync Level = 4 // received by one replica
)

// Meaning returns what an acknowledgement promises at the level.
func (l Level) Meaning() string {
	switch l {
	case SyncSync:
		return "replicated to a majority and synced to disk on each of those"
	case SyncAsync:
		return "replicated to a majority, in memory"
	case AsyncSync:
		return "synced to disk on one replica"
	case AsyncAsync:
		return "received by one replica"
	}
	return "no such level"
}

// Valid reports whether the level exists.
func (l Level) Valid() bool { return l >= SyncSync && l <= AsyncAsync }

// Majority reports whether an acknowledgement waits for a majority of the replicas.
func (l Level) Majority() bool { return l == SyncSync || l == SyncAsync }

// Synced reports whether an acknowledgement waits for the disk.
func (l Level) Synced() bool { return l == SyncSync || l == AsyncSync }

// OfferedMessages returns the number of messages that the measured window schedules with
// constant arrivals; Poisson arrivals vary around it. It is 0 for a closed loop, because the
// system decides the number.
func (w *Workload) OfferedMessages() int64 {
	return w.Load.messages()
}

// WarmupMessages returns the number of messages scheduled before the window. It is 0 for a
// closed loop.
func (w *Workload) WarmupMessages() int64 {
	return int64(w.opening() * w.Warmup.Seconds())
}

// opening returns the rate with which the load begins; 0 for a closed loop.
func (w *Workload) opening() float64 {
	if len(w.Load.Segments) == 0 {
		return 0
	}
	return w.Load.Segments[0].From
}

func (l Load) messages() int64 {
	var n float64
	for _, s := range l.Segments {
		n += (s.From + s.To) / 2 * s.For.Seconds()
	}
	return int64(n)
}
