package result

import "time"

// SchemaVersion is written to every run. Readers accept it and older ones.
//
// Version 2 added censored percentiles (Latency.Missing), Summary.Instrument,
// the copies series, transactions, Load.Spread, the keys' count and
// exponent, and System.Redelivery. Fields that an older run lacks are zero and mean unknown (see
// Run.Lacks).
const SchemaVersion = 2

// Lacks reports whether the run was written before its format had the figures of
// version 2.
func (r *Run) Lacks() bool { return r.SchemaVersion < 2 && r.Imported == nil }

// Run is run.json: the input as given, the input with every default spelled out, and the results.
type Run struct {
	SchemaVersion int    `json:"schema_version"`
	ID            string `json:"id"`
	// short, for tables: the target's name unless several share it
	Name        string    `json:"name"`
	State       State     `json:"state"`
	StateReason string    `json:"state_reason,omitempty"`
	StartedAt   time.Time `json:"started_at"`
	EndedAt     time.Time `json:"ended_at,omitzero"`
	PID         int       `json:"pid"`

	Plimsoll    Build       `json:"plimsoll"`
	Environment Environment `json:"environment"`
	Asked       Asked       `json:"asked"`
	// Resolved is the input with every default spelled out; empty: an older plimsoll, or
	// another tool, measured.
	Resolved   Resolved   `json:"resolved,omitzero"`
	Load       Load       `json:"load"`
	System     System     `json:"system"`
	Settings   []Setting  `json:"settings"`
	Durability Durability `json:"durability"`
	Seed       uint64     `json:"seed"`
	// Trial is the run's place in a set of trials; nil: a single run.
	Trial *Trial `json:"trial,omitempty"`

	// Warming says how the servers were warmed up before the run; nil: they were not.
	Warming *Warming `json:"warming,omitempty"`
	// Settling says how a warm-up that ends by itself ended; nil: its length was given.
	Settling *Settling `json:"settling,omitempty"`

	// Sleeps are the times at which the machine of the coordinator slept, in order: at most
	// MostSleeps.
	Sleeps []Sleep `json:"sleeps,omitempty"`

	// Trends are the figures that rose or fell; nil: the window was too short to tell.
	Trends *Trends `json:"trends,omitempty"`

	// Backlog is the result of a backlog that was built on purpose; nil: readers kept up from
	// the start.
	Backlog *Backlog `json:"backlog,omitempty"`

	// Startup is the time of each step before the load; zero: not known.
	Startup Startup `json:"startup,omitzero"`
	// Connections is the number of TCP connections that all producers and consumers together had
	// to the servers before the load, as the kernel counts them; 0: none, or not known.
	Connections int64 `json:"connections,omitempty"`

	Phases   []Phase  `json:"phases"`
	Warmup   Counters `json:"warmup_counters"`
	Counters Counters `json:"counters"`
	Errors   []Error  `json:"errors,omitempty"`
	Ledger   Ledger   `json:"ledger"`
	Summary  Summary  `json:"summary"`
	// Faults are the faults injected on purpose, in order. Impact is their effect on the
	// figures, as internal/verdict finds it.
	Faults []Fault `json:"faults,omitempty"`
	// Ended are the servers that ended during the run, without a fault of the workload that hit
	// them.
	Ended  []ServerEnd `json:"servers_ended,omitempty"`
	Impact *Impact     `json:"fault_impact,omitempty"`
	// Rolling is the rolling restart among the faults; nil: there is none.
	Rolling *Rolling `json:"rolling_restart,omitempty"`
	// Scaling has the effect of each change of the number of consumers; the first entry is the
	// time before any change. Empty: no change.
	Scaling []ScaleStep `json:"scaling,omitempty"`
	// Classes are the classes of messages of the workload. Empty: it has none.
	Classes []Class `json:"classes,omitempty"`
	// Absences are the parts of the window before, while and after subscriptions had no consumers.
	// Empty: all had consumers at all times.
	Absences []Absence `json:"absences,omitempty"`
	// Workers are the processes of a fleet that offered the load; nil: the run's own process
	// offered it.
	Workers []Worker `json:"workers,omitempty"`
	// Observation is the cost of the run. Its zero value: nothing was observed.
	Observation Observation `json:"observation,omitzero"`
	// Bill is what the provider charges for the requests of the run; nil: nothing.
	Bill     *Bill     `json:"bill,omitempty"`
	Verdicts []Verdict `json:"verdicts"`
	Warnings []Warning `json:"warnings"`
	// Imported is set when another tool measured the run. A value that this tool did not record
	// is zero and means unknown.
	Imported *Import `json:"imported,omitempty"`
}

// Trial is the place of a run in a set of trials: the same load offered to each
// target once in every round. Numbers begin at 1.
type Trial struct {
	Set     string `json:"set"` // the same in all runs of a set, and in no others
	Round   int    `json:"round"`
	Rounds  int    `json:"rounds"` // 0: until its figures were known
	Target  int    `json:"target"` // in the order in which targets were given
	Targets int    `json:"targets"`
	// Until is how far the interval of a figure may reach above its value, as a share, in a set
	// whose rounds end when the primary figures are known; 0: the number of rounds is fixed.
	Until   float64 `json:"until,omitempty"`
	Primary string  `json:"primary,omitempty"` // these figures, with commas between
}

// Settling says whether the run reached a steady state before the measured window.
type Settling struct {
	Settled bool   `json:"settled"`
	AfterNs int64  `json:"after_ns"` // of load; 0: not settled
	MostNs  int64  `json:"most_ns"`  // that the warm-up could last
	Rule    string `json:"rule"`
}

// State says how far a run got.
type State string

// The states of a run. A reader turns Running into Incomplete when no process writes to the run
// any more.
const (
	Running     State = "running"
	Complete    State = "complete"
	Interrupted State = "interrupted" // stopped on request; the measurements so far are complete
	Failed      State = "failed"      // could not go on; StateReason says why
	Incomplete  State = "incomplete"  // its process ended without a word
)

// Build identifies the plimsoll that measured.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Environment is the machine that plimsoll ran on.
type Environment struct {
	Hostname    string `json:"hostname"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	CPU         string `json:"cpu"`
	Cores       int    `json:"cores"`
	MemoryBytes int64  `json:"memory_bytes"`
	Virtual     string `json:"virtualization,omitempty"`
	GoMaxProcs  int    `json:"gomaxprocs"`
	Clock       string `json:"clock"` // clock source and how waits are timed
	// ThreadStates says how waits for the system were told from plimsoll's own work; empty:
	// they were not, and every long Send counts as the system's.
	ThreadStates string `json:"thread_states,omitempty"`
	DataFS       string `json:"data_filesystem,omitempty"`
	// Apart has the separate CPUs of servers and load; nil: not requested.
	Apart *Apart `json:"cpus_apart,omitempty"`
	// Proof is the last result of `plimsoll prove` on this machine; nil: there is none.
	Proof *Proof `json:"proof,omitempty"`
	// Chrony is what chrony said of this machine's clock, in a run with workers on others; nil: it
	// was not asked, or did not answer.
	Chrony *Chrony `json:"chrony,omitempty"`
}

// Asked is the input as the user gave it.
type Asked struct {
	Command  []string `json:"command"`
	Workload string   `json:"workload_yaml"`
	Target   string   `json:"target_yaml"`
	// Notes are sentences on values that plimsoll assumed, because the input does not state
	// them.
	Notes []string `json:"notes,omitempty"`
	// Set is equal for all that one command asked for, and for what continues it; empty: not
	// recorded.
	Set string `json:"set,omitempty"`
	// Weaker says why the run is at a weaker durability level than the workload asks for;
	// empty: it is not.
	Weaker string `json:"weaker,omitempty"`
	// LeftOut are the targets of the same command that were not measured, each with the
	// reason.
	LeftOut []string `json:"left_out,omitempty"`
}

// Resolved is the input with every default spelled out. It says where credentials are and never
// holds them.
type Resolved struct {
	Workload string `json:"workload_yaml"`
	Target   string `json:"target_yaml"`
}

// Load is the workload as the figures that verdicts and reports use. Differences between runs,
// and whether they are comparable, follow from Resolved (see workload.Recorded).
type Load struct {
	Workload string `json:"workload"`
	Model    string `json:"model"` // OpenLoop or ClosedLoop
	Arrivals string `json:"arrivals"`
	// messages due at the same moment; 0: each by itself
	Burst int `json:"burst_msgs,omitempty"`
	// mean over the window; 0: a closed loop has none
	TargetRate   float64   `json:"target_rate_msgs_per_s"`
	Segments     []Segment `json:"segments"`
	Closed       *Closed   `json:"closed,omitempty"`   // of a closed loop
	MessageBytes int64     `json:"message_size_bytes"` // mean, where sizes are distributed
	// MessageSizes is the distribution of sizes as a workload writes it; empty: all messages have
	// one size.
	MessageSizes string `json:"message_sizes,omitempty"`
	Topics       int    `json:"topics"`
	Partitions   int    `json:"partitions_per_topic"` // the most, where topics differ
	// TopicKinds are the topics of each class; nil: all topics are alike.
	TopicKinds []TopicKind `json:"topic_kinds,omitempty"`
	// the names of topics that existed before the run and were not created for it
	Existing      []string `json:"existing_topics,omitempty"`
	Producers     int      `json:"producers_per_topic"`
	Subscriptions int      `json:"subscriptions_per_topic"`
	Consumers     int      `json:"consumers_per_subscription"`
	Keys          string   `json:"keys"`
	// distinct keys; 0: none, or not recorded
	KeyCount    int     `json:"key_count,omitempty"`
	KeyExponent float64 `json:"key_exponent,omitempty"` // zipf only
	// KeyShares is the frequency of keys, as a workload writes it; empty: see Keys.
	KeyShares string `json:"key_shares,omitempty"`
	// how messages without a key go to partitions; empty: keyed, or not recorded
	Spread   string    `json:"spread,omitempty"`
	Handling *Handling `json:"handling,omitempty"` // nil: consumers acknowledge at once
	// one more subscription, read when the load is over
	Audit             bool    `json:"audit,omitempty"`
	Delivery          string  `json:"delivery"`
	Clients           string  `json:"clients,omitempty"` // see Clients; empty: not recorded
	MaxInFlight       int     `json:"max_in_flight_per_producer"`
	WarmupSeconds     float64 `json:"warmup_seconds"`
	WindowSeconds     float64 `json:"window_seconds"` // as planned
	IncompressiblePct float64 `json:"incompressible_percent"`
	DropPageCache     bool    `json:"drop_page_cache,omitempty"` // before the run
	// as a workload writes it; the window lasts as long as it takes
	Backlog string `json:"backlog,omitempty"`
}

// The load models.
const (
	OpenLoop   = "open"   // messages are due by a schedule, whatever the system does
	ClosedLoop = "closed" // the next send waits for the answer to an earlier one
)

// Closed is the messages that each producer of a closed loop has in flight.
type Closed struct {
	InFlight   int `json:"in_flight_sends_per_producer"`
	BatchLeast int `json:"batch_least_msgs"` // of one send
	BatchMost  int `json:"batch_most_msgs"`
}

// Segment is one stretch of the rate curve.
type Segment struct {
	From    float64 `json:"from_msgs_per_s"`
	To      float64 `json:"to_msgs_per_s"`
	Seconds float64 `json:"seconds"`
}

// System is the measured system.
type System struct {
	Name        string   `json:"name"`
	Client      string   `json:"client"`
	Servers     []string `json:"servers"` // versions, a line each
	Endpoints   []string `json:"endpoints"`
	Nodes       []Node   `json:"nodes,omitempty"` // those that plimsoll started
	Hosts       []Host   `json:"hosts,omitempty"` // on which it started them; none: on its own machine
	SharesHost  bool     `json:"shares_host"`     // servers and load on one machine
	Provisioned bool     `json:"provisioned"`
	// Redelivery says when a message can be delivered again; nil: not known.
	Redelivery *Redelivery `json:"redelivery,omitempty"`
	// PartitionsOwned reports whether each partition belongs to one consumer of a subscription
	// at a time.
	PartitionsOwned bool `json:"partitions_owned,omitempty"`
	// Unordered says why no order of messages is promised; empty: the order of each producer in
	// each partition is promised.
	Unordered string `json:"unordered,omitempty"`
	// Periods are those of work that the servers do from time to time; empty: none is known.
	Periods []Period `json:"periods,omitempty"`
	// ClientSpread says how the system's own client spreads messages without a key.
	ClientSpread string `json:"client_spread,omitempty"`
	// Clients is what the workload's word for the clients set; nil: not recorded.
	Clients *Clients `json:"clients,omitempty"`
	// Waits are the times for which clients or servers waited on purpose.
	Waits []Wait `json:"waits,omitempty"`
}

// Redelivery says how long after its delivery a message may be delivered again, while no server
// and no consumer fails.
type Redelivery struct {
	Never   bool   `json:"never,omitempty"`    // no message is delivered again
	AfterNs int64  `json:"after_ns,omitempty"` // at the latest; 0: no limit is known
	Why     string `json:"why"`                // in the system's own words
	// DelayNs is how long the system withholds each message from consumers on purpose.
	DelayNs int64 `json:"delay_ns,omitempty"`
}

// Host is a machine of a fleet on which plimsoll started servers.
type Host struct {
	Name    string `json:"name"` // in the fleet
	Machine string `json:"machine"`
	Address string `json:"address"`
	Cores   int    `json:"cores"`
	// SameMachine: it is the machine that offers the load.
	SameMachine bool `json:"same_machine,omitempty"`
}

// Node is a server that plimsoll started.
type Node struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	PID     int    `json:"pid"`
	Log     string `json:"log,omitempty"` // relative to the run directory
}

// Setting is one resolved value, with defaults spelled out.
type Setting struct {
	Group string `json:"group"` // the system's name
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Phase is a part of the run. Its end is 0 while it lasts.
type Phase struct {
	Name    PhaseName `json:"name"`
	StartNs int64     `json:"start_ns"`
	EndNs   int64     `json:"end_ns"`
}

// PhaseName names a phase.
type PhaseName string

// The phases, in order.
const (
	PhaseConnect PhaseName = "connect"
	PhaseWarmup  PhaseName = "warmup"
	PhaseMeasure PhaseName = "measure"
	PhaseDrain   PhaseName = "drain"
	PhaseAccount PhaseName = "account"
)

// Counters count the outcomes of scheduled messages. Scheduled is the sum of Acked, Failed,
// Unknown and Unsent once a run has ended.
type Counters struct {
	Scheduled int64 `json:"scheduled"`
	Acked     int64 `json:"acked"`
	Failed    int64 `json:"failed"`   // the system refused
	Unknown   int64 `json:"unknown"`  // handed over, no answer by the end
	Unsent    int64 `json:"unsent"`   // due, never handed over
	Received  int64 `json:"received"` // by all subscriptions, duplicates included
}

// Counted reports whether each scheduled message has its outcome. Of a run that is under way, or
// whose process ended early, only acknowledged and refused messages are counted.
func (r *Run) Counted() bool { return r.State != Running && r.State != Incomplete }

// Error is a failure that the system reported, and how often.
type Error struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
}

// Summary has the figures of the measured window.
type Summary struct {
	WindowNs    int64   `json:"window_ns"` // as it was: shorter when interrupted
	OfferedRate float64 `json:"offered_rate_msgs_per_s"`
	// AchievedRate and ReceivedRate count the messages acknowledged, and received per subscription,
	// within the window, but no more than were due in it: see Own.
	AchievedRate float64 `json:"achieved_rate_msgs_per_s"`
	ReceivedRate float64 `json:"received_rate_msgs_per_s"`
	// WorkRate counts all messages acknowledged within the window, those that were due before it
	// included: what the resources of the window were used for; 0: not recorded.
	WorkRate float64 `json:"work_rate_msgs_per_s,omitempty"`
	// LeastReceivedRate is the rate of the subscription that received least; 0: not recorded.
	LeastReceivedRate float64 `json:"least_received_rate_msgs_per_s,omitempty"`
	BytesPerS         float64 `json:"achieved_rate_bytes_per_s"`
	// InFlight is the sampled mean number of messages in flight; 0: not sampled.
	InFlight   float64 `json:"mean_in_flight_msgs,omitempty"`
	MaxBacklog int64   `json:"max_backlog_msgs"`
	EndBacklog int64   `json:"end_backlog_msgs"` // at the end of the window

	Latency   []Latency `json:"latency"`
	Minutes   []Minute  `json:"p95_by_minute,omitempty"` // closed loop only
	Generator Generator `json:"generator"`
	// Instrument is plimsoll's own error during the measured window, as the twin measured it.
	// The twin is a system that takes no time. It receives a small load from the same pacers,
	// through a hand-over between goroutines like that of a client library.
	Instrument *Instrument `json:"instrument,omitempty"`
	// FirstMessageNs is the time from the start of the process to the first message.
	FirstMessageNs int64 `json:"first_message_ns"`
}

// Latency is one series of the measured window.
type Latency struct {
	Series      Series       `json:"series"`
	Count       int64        `json:"count"`
	MeanNs      float64      `json:"mean_ns"`
	MinNs       int64        `json:"min_ns"`
	MaxNs       int64        `json:"max_ns"`
	Percentiles []Percentile `json:"percentiles"`
	// Missing are the messages without a latency, which the percentiles include. Answered are
	// the percentiles without them; empty: there are no such messages.
	Missing  Missing      `json:"missing,omitzero"`
	Answered []Percentile `json:"answered_percentiles,omitempty"`
	Clamped  int64        `json:"clamped"`  // above the histogram's range, counted at its end
	Negative int64        `json:"negative"` // below zero, counted at zero
	// ErrorNs is the greatest error of each latency where its two ends were read from clocks of
	// two machines; 0: from one clock. Percentiles below ErrorShare times as much are left out.
	ErrorNs int64 `json:"error_ns,omitempty"`
}

// Percentile is a point of a latency distribution. Percentiles that the number of samples
// cannot support are left out.
type Percentile struct {
	Percentile float64 `json:"percentile"`
	LatencyNs  int64   `json:"latency_ns"`
	Bound      Bound   `json:"bound,omitempty"`
	// OwnError: plimsoll's own error exceeds its bound at this percentile (see internal/verdict),
	// so the latency is not the system's.
	OwnError bool `json:"own_error,omitempty"`
}

// Verdict is one judgement over a result.
type Verdict struct {
	Name     string `json:"name"`
	Outcome  string `json:"outcome"` // holds, broken, unknown
	Sentence string `json:"sentence"`
}

// The outcomes of a verdict.
const (
	Holds   = "holds"
	Broken  = "broken"
	Unknown = "unknown"
)

// Warning is a sentence that a reader must know before the figures.
type Warning struct {
	Code     string `json:"code"`
	Sentence string `json:"sentence"`
}

// Interval is a line of intervals.jsonl: the events of about a second.
type Interval struct {
	StartNs   int64     `json:"start_ns"`
	EndNs     int64     `json:"end_ns"`
	Phase     PhaseName `json:"phase"`     // at its end
	Scheduled int64     `json:"scheduled"` // due in the interval
	Sent      int64     `json:"sent"`      // handed over in the interval
	Acked     int64     `json:"acked"`
	Failed    int64     `json:"failed"`
	Received  int64     `json:"received"` // by all subscriptions
	// distinct messages, by a subscription that replays a backlog
	Replayed int64 `json:"replayed,omitempty"`
	InFlight int64 `json:"in_flight_msgs"` // handed over, unanswered, at the end
	// acknowledged, not received, at the end, summed over subscriptions
	Backlog   int64     `json:"backlog_msgs"`
	Latency   []Latency `json:"latency"`    // of events in the interval, any phase
	BlockedNs int64     `json:"blocked_ns"` // producers waiting for the system, summed
	// The times of the first and the last acknowledgement of the interval, over all producers;
	// 0: there was none, or it was not recorded.
	FirstAckNs int64 `json:"first_ack_ns,omitempty"`
	LastAckNs  int64 `json:"last_ack_ns,omitempty"`

	CPUSeconds float64 `json:"cpu_seconds"` // this process
	RSSBytes   int64   `json:"rss_bytes"`
	HeapBytes  int64   `json:"heap_bytes"`
	GCPauseNs  int64   `json:"gc_pause_ns"` // longest
	GCCount    int64   `json:"gc_count"`
	Goroutines int64   `json:"goroutines"`
	// ThrottledNs is how long threads waited because the CPU limit of their container or service
	// was exhausted.
	ThrottledNs int64 `json:"throttled_ns,omitempty"`
}

// EventLeftOut is the kind of the event that a fault was not injected.
const EventLeftOut = "left_out"

// Event is a line of events.jsonl: an event at a moment of the run.
type Event struct {
	AtNs     int64  `json:"at_ns"`
	Kind     string `json:"kind"` // phase, note, fault, EventLeftOut
	Sentence string `json:"sentence"`
}
