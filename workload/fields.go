package workload

import (
	"slices"

	"github.com/plimsoll-bench/plimsoll/system/quantity"
	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// Field is a key of a workload. Parsing, defaults, printing, differences and comparability
// follow from the table of Fields.
type Field struct {
	Path    string // as a file has it: message.size
	Name    string // in sentences and tables
	Means   string // in one sentence
	Default string // of a file without the key; empty: none, or it follows from other keys
	Role    Role
	// Fixed keys cannot be swept.
	Fixed bool

	at func(*file) any // points to where a file's value goes
	// printed reports whether a file of this workload has the key; nil: it always has.
	printed      func(*file) bool
	short, block bool // as in strict.Key
}

// Role says what a difference in the key means for two runs.
type Role int

// The roles.
const (
	Circumstance Role = iota // comparable; the comparison names the difference
	Offered                  // not comparable: they carried different loads
	Promised                 // not comparable: they gave different guarantees
	Aimed                    // not comparable: their clients had different aims
)

// Comparable reports whether runs that differ in the key may be compared.
func (f Field) Comparable() bool { return f.Role == Circumstance }

// Fields returns all keys of a workload, in the order in which they are printed.
func Fields() []Field {
	return slices.Concat(shapeFields, messageFields, loadFields, handlingFields, runFields,
		backlogFields, faultFields)
}

var shapeFields = []Field{
	{Path: "name", Name: "workload", Means: "The name of the workload in reports.",
		Default: "default", Fixed: true, at: func(f *file) any { return &f.Name }},
	{Path: "description", Name: "description", Means: "What the workload is for, in one line.",
		Default: `""`, Fixed: true, at: func(f *file) any { return &f.Description }},
	{Path: "topics", Name: "topics", Means: "The number of topics.",
		Default: "1", Role: Offered, at: func(f *file) any { return (*quantity.Whole)(&f.Topics) },
		printed: func(f *file) bool { return f.createsTopics() && !f.OwnTopics() }},
	{Path: "existing_topics", Name: "existing topics",
		Means: "The names of topics that exist, to use instead of new ones; they have their own " +
			"partitions, and nothing of them is deleted.",
		Role: Offered, at: func(f *file) any { return &f.Existing },
		printed: func(f *file) bool { return len(f.Existing) > 0 }},
	{Path: "partitions", Name: "partitions of a topic",
		Means:   "The number of partitions of each topic.",
		Default: "4", Role: Offered,
		at:      func(f *file) any { return (*quantity.Whole)(&f.Partitions) },
		printed: func(f *file) bool { return f.createsTopics() && !f.ownPartitions() }},
	{Path: "producers", Name: "producers of a topic",
		Means:   "The number of producers of each topic.",
		Default: "2", Role: Offered,
		at: func(f *file) any { return (*quantity.Whole)(&f.Producers) }},
	{Path: "subscriptions", Name: "subscriptions of a topic",
		Means: "The number of subscriptions of each topic; each receives every message. 0: " +
			"producers only; with audit: true the messages are read back when the load is over.",
		Default: "1", Role: Offered,
		at: func(f *file) any { return (*quantity.Whole)(&f.Subscriptions) }},
	{Path: "consumers", Name: "consumers of a subscription",
		Means:   "The number of consumers that share each subscription.",
		Default: "2", Role: Offered,
		at: func(f *file) any { return (*quantity.Whole)(&f.Consumers) }},
}

var messageFields = []Field{
	{Path: "message.size", Name: "message size", Default: "1KB", Role: Offered,
		Means: "The payload of a message: a size, a range 100B..64KB, a histogram " +
			"80% 1KB + 20% 64KB, or lognormal p50 1KB p99 64KB max 1MB.",
		at:      func(f *file) any { return &messageSize{&f.Message} },
		printed: func(f *file) bool { return len(f.classes) == 0 }},
	{Path: "message.incompressible", Name: "incompressible",
		Means:   "The share of a payload that no codec can shrink.",
		Default: "50%", Role: Offered,
		at: func(f *file) any { return (*quantity.Fraction)(&f.Message.Incompressible) }},
	{Path: "classes", Name: "classes of messages",
		Means: "Kinds of messages, each sent by a share of each topic's producers: [{name: " +
			"order, share: 20%, size: 10KB, keys: zipf 100}, {name: event, share: 80%, size: " +
			"100B..1KB}]. keys, in place of the workload's: none, or a kind, the number of keys " +
			"and, for zipf, the exponent. topics: 2 gives a class topics of its own, which share " +
			"its part of the rate, and partitions: 12 the number of their partitions.",
		Role: Offered, at: func(f *file) any { return &f.classes },
		printed: func(f *file) bool { return len(f.classes) > 0 }},
	{Path: "keys.kind", Name: "keys",
		Means:   "How keys are chosen: none, round_robin, random, zipf or shares.",
		Default: "none", Role: Offered, at: func(f *file) any { return &f.Keys.Kind }, short: true},
	{Path: "keys.count", Name: "number of keys", Means: "The number of distinct keys.",
		Default: "10000",
		Role:    Offered, at: func(f *file) any { return (*quantity.Whole)(&f.Keys.Count) },
		printed: func(f *file) bool { return f.Keys.Count != 0 && f.Keys.Kind != KeysShares }},
	{Path: "keys.exponent", Name: "exponent of the keys",
		Means:   "How unevenly zipf keys are chosen: above 1, a larger exponent is more skewed.",
		Default: "1.2", Role: Offered, at: func(f *file) any { return &f.Keys.Exponent },
		printed: func(f *file) bool { return f.Keys.Exponent != 0 }},
	{Path: "keys.shares", Name: "shares of the keys",
		Means: "How often keys occur: 50% 1 + 30% 9 + 20% 990 gives one key half of the " +
			"messages, and nine others 30% between them.",
		Role: Offered, at: func(f *file) any { return &keyShares{&f.Keys} },
		printed: func(f *file) bool { return len(f.Keys.Shares) > 0 }},
	{Path: "spread", Name: "spread of messages without a key",
		Means: "How messages without a key go to partitions: client, as the system's own client " +
			"does by default, or round_robin.",
		Default: "client", Role: Offered, at: func(f *file) any { return &f.Spread },
		printed: func(f *file) bool { return f.Spread != "" && f.Keyless() }},
}

var loadFields = []Field{
	{Path: "load.arrivals", Name: "arrivals",
		Means:   "How messages are spaced around the rate: constant or poisson.",
		Default: "constant", Role: Offered, block: true,
		at:      func(f *file) any { return &f.Load.Arrivals },
		printed: func(f *file) bool { return f.Load.Closed == nil }},
	{Path: "load.burst", Name: "burst",
		Means: "The number of messages that are due at the same moment; arrivals says how " +
			"bursts are spaced.",
		Default: "1", Role: Offered,
		at:      func(f *file) any { return (*quantity.Whole)(&f.Load.Burst) },
		printed: func(f *file) bool { return f.Load.Burst > 1 }},
	{Path: "load.rate", Name: "rate", Means: "The rate of all producers together.",
		Default: "2k/s",
		Role:    Offered, at: func(f *file) any { return &f.rate },
		printed: func(f *file) bool { return f.curve == "load.rate" }},
	{Path: "load.ramp.from", Name: "start of the ramp",
		Means: "The rate with which a ramp begins; it lasts as long as the window.", Role: Offered,
		at:      func(f *file) any { return &f.ramp.From },
		printed: func(f *file) bool { return f.curve == "load.ramp" }},
	{Path: "load.ramp.to", Name: "end of the ramp", Means: "The rate with which a ramp ends.",
		Role: Offered, at: func(f *file) any { return &f.ramp.To },
		printed: func(f *file) bool { return f.curve == "load.ramp" }},
	{Path: "load.steps", Name: "rate curve",
		Means: "Stretches of constant or sloping rate, one after another.", Role: Offered,
		at:      func(f *file) any { return &f.steps },
		printed: func(f *file) bool { return f.curve == "load.steps" }},
	{Path: "load.closed.in_flight", Name: "sends under way, per producer",
		Means: "Closed loop: the number of sends that each producer has in flight.", Default: "1",
		Role: Offered, block: true,
		at:      func(f *file) any { return (*quantity.Whole)(&f.closed.InFlight) },
		printed: func(f *file) bool { return f.Load.Closed != nil }},
	{Path: "load.closed.batch", Name: "messages of a send",
		Means: "Closed loop: the number of messages of a send, such as 10, or 1..10.", Default: "1",
		Role: Offered, at: func(f *file) any { return &f.closed.Batch },
		printed: func(f *file) bool { return f.Load.Closed != nil }},
}

var handlingFields = []Field{
	{Path: "handling.time", Name: "handling time",
		Means: "How long a consumer handles a message before it takes the next: 5ms, exponential " +
			"5ms, or 90% 1ms + 10% 50ms.",
		Role: Offered, at: func(f *file) any { return &handlingTime{&f.Handling.Time} },
		printed: func(f *file) bool { return f.Handling.Time.mean() > 0 }},
	{Path: "handling.fails", Name: "failed handlings",
		Means: "The share of messages that a consumer gives back after handling them, for " +
			"another delivery.",
		Role: Offered, at: func(f *file) any { return (*quantity.Fraction)(&f.Handling.Fails) },
		printed: func(f *file) bool { return f.Handling.Fails > 0 }},
	{Path: "scaling", Name: "consumers over time",
		Means: "How many consumers each subscription has from a time of the window on: " +
			"[{at: 5s, consumers: 1}]; before, it has all. With subscription: 1, only that one.",
		Role: Offered, at: func(f *file) any { return &f.scaling },
		printed: func(f *file) bool { return len(f.scaling) > 0 }},
}

var runFields = []Field{
	{Path: "warmup", Name: "warm-up",
		Means: "The time of load before the measured window, or auto: until the figures are " +
			"steady.",
		Default: "3s", at: func(f *file) any { return &warmup{&f.Warmup, &f.Settle} }},
	{Path: "duration", Name: "window length", Means: "The length of the measured window.",
		Default: "15s",
		Role:    Offered, at: func(f *file) any { return (*quantity.Span)(&f.Duration) },
		printed: func(f *file) bool { return f.Backlog == nil }},
	{Path: "drain", Name: "drain",
		Means: "The wait, after the window, for messages that are still under way. The run waits " +
			"longer when messages have stopped arriving and nothing shows that they are lost.",
		Default: "30s", at: func(f *file) any { return (*quantity.Span)(&f.Drain) }},
	{Path: "delivery", Name: "delivery",
		Means:   "The delivery guarantee: at_most_once, at_least_once or exactly_once.",
		Default: "at_least_once", Role: Promised, at: func(f *file) any { return &f.Delivery }},
	{Path: "durability", Name: "durability level",
		Means:   "What an acknowledgement promises, from 1 (strongest) to 4.",
		Default: "2", Role: Promised, at: func(f *file) any { return &f.Durability }},
	{Path: "clients", Name: "aim of the clients",
		Means: "What the settings of clients aim at, one word for all systems: default, latency " +
			"or throughput; plimsoll systems NAME says what each sets.",
		Default: string(ClientsDefault), Role: Aimed, at: func(f *file) any { return &f.Clients },
		printed: func(f *file) bool { return f.Clients.Word() != ClientsDefault }},
	{Path: "max_in_flight", Name: "in flight at most, per producer",
		Means: "The number of unanswered messages that each producer may have.", Role: Offered,
		at:      func(f *file) any { return (*quantity.Whole)(&f.MaxInFlight) },
		printed: func(f *file) bool { return f.Load.Closed == nil }},
	{Path: "seed", Name: "seed", Means: "The origin of every random choice.", Default: "1",
		at: func(f *file) any { return &f.Seed }},
	{Path: "isolate.drop_page_cache", Name: "page cache dropped before",
		Means:   "Whether this machine's page cache is dropped before the run.",
		Default: "false", at: func(f *file) any { return &f.Isolate.DropPageCache }},
	{Path: "isolate.cpus", Name: "CPUs of servers and load",
		Means: "Whether servers and load on one machine are shared on all CPUs, or split: each " +
			"has its own CPUs.",
		Default: string(CPUsShared), at: func(f *file) any { return &f.Isolate.CPUs },
		printed: func(f *file) bool {
			return f.Isolate.CPUs != CPUsShared && f.Isolate.CPUs != ""
		}},
	{Path: "audit", Name: "audit",
		Means:   "Whether each topic has one more subscription, which is read after the load.",
		Default: "false", Role: Offered, at: func(f *file) any { return &f.Audit },
		printed: func(f *file) bool { return f.Audit }},
}

var backlogFields = []Field{
	{Path: "backlog.for", Name: "time to build the backlog",
		Means: "The time for which a backlog grows.",
		Role:  Offered, at: func(f *file) any { return (*quantity.Span)(&f.backlog.For) },
		printed: func(f *file) bool {
			return f.Backlog != nil && !f.backlogOfMessages() && f.Backlog.Bytes == 0
		}},
	{Path: "backlog.messages", Name: "messages of the backlog",
		Means: "The number of messages of a backlog.", Role: Offered,
		at:      func(f *file) any { return (*quantity.Number)(&f.backlog.Messages) },
		printed: (*file).backlogOfMessages},
	{Path: "backlog.size", Name: "size of the backlog", Means: "The payload of a backlog.",
		Role: Offered,
		at:   func(f *file) any { return (*quantity.Size)(&f.backlog.Bytes) },
		printed: func(f *file) bool {
			return f.Backlog != nil && !f.backlogOfMessages() && f.Backlog.Bytes > 0
		}},
	{Path: "backlog.then", Name: "readers of the backlog",
		Means: "What reads a backlog: drain, the workload's own subscriptions, or replay, a " +
			"new one.",
		Default: string(
			BacklogDrain), Role: Offered, at: func(f *file) any { return &f.backlog.Then },
		printed: (*file).hasBacklog},
	{Path: "backlog.producers", Name: "producers while the backlog is read",
		Means: "What producers do while a backlog is read: go_on, or stop, so that consumers " +
			"alone are measured.",
		Default: string(ProducersGoOn), Role: Offered,
		at: func(f *file) any { return &f.backlog.Producers },
		printed: func(f *file) bool {
			return f.Backlog != nil && f.Backlog.Producers != "" &&
				f.Backlog.Producers != ProducersGoOn
		}},
	{Path: "backlog.limit", Name: "longest time to read the backlog",
		Means: "The longest time that readers may take to catch up.", Role: Offered,
		at:      func(f *file) any { return (*quantity.Span)(&f.backlog.Limit) },
		printed: (*file).hasBacklog},
	{Path: "backlog.after", Name: "time after the backlog",
		Means:   "How long the run goes on when readers have caught up.",
		Default: "10s", Role: Offered,
		at:      func(f *file) any { return (*quantity.Span)(&f.backlog.After) },
		printed: (*file).hasBacklog},
}

var faultFields = []Field{
	{Path: "faults", Name: "faults", Means: "What is done to servers on purpose, and when.",
		at:      func(f *file) any { return &f.faults },
		printed: func(f *file) bool { return len(f.faults) > 0 }},
	{Path: objectivesKey, Name: "objectives",
		Means: "What each run must keep, or the command exits with 1: [publish.p99 < 20ms, " +
			"lost < 1, rate > 4k/s].",
		Fixed: true, at: func(f *file) any { return &f.Objectives },
		printed: func(f *file) bool { return len(f.Objectives) > 0 }},
}

// keys returns the table of fields with the values of the file.
func (f *file) keys() strict.Keys {
	var out strict.Keys
	for _, field := range Fields() {
		out = append(out, strict.Key{
			Path: field.Path, Into: field.at(f), Short: field.short, Block: field.block,
			Hidden:  field.printed != nil && !field.printed(f),
			Default: field.Default,
		})
	}
	return out
}

// FieldAt returns the field that a path of keys names or lies in: load.steps[0].rate lies in
// load.steps. ok is false when the path names a mapping of fields, or nothing.
func FieldAt(path string) (f Field, ok bool) {
	for _, field := range Fields() {
		if strict.Within(path, field.Path) {
			return field, true
		}
	}
	return f, false
}

// Values are the values of a workload's keys as a file has them, by path. A value is empty when
// a file of the workload does not have the key. The value of an absent path is not known.
type Values map[string]string

// Values are those of a workload.
func (w *Workload) Values() Values {
	out := Values{}
	for _, key := range spell(w).keys() {
		out[key.Path] = ""
		if !key.Hidden {
			out[key.Path] = key.Plain()
		}
	}
	return out
}

// Differing returns the fields in which some of the workloads differ. It ignores values that
// are not known.
func Differing(all []Values) []Field {
	return slices.DeleteFunc(Fields(), func(f Field) bool {
		var known []string
		for _, values := range all {
			if value, is := values[f.Path]; is && !slices.Contains(known, value) {
				known = append(known, value)
			}
		}
		return len(known) < 2
	})
}
