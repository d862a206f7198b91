package system

import (
	"context"
	"time"
)

// Capability is something that only some systems can do. Each has a one-method
// interface here, which a Cluster fulfils where it can.
type Capability string

// The capabilities.
const (
	CanShare             Capability = "share one partition among consumers"
	CanReplay            Capability = "replay"
	CanAck               Capability = "choose the acknowledgement of a publish"
	CanRoute             Capability = "route"
	CanExpire            Capability = "expire messages"
	CanPrioritise        Capability = "prioritise messages"
	CanDelay             Capability = "delay messages"
	CanDeadLetter        Capability = "dead letters"
	CanApplyBackPressure Capability = "push back on publishers"
	CanTransact          Capability = "transactions"
	CanDeduplicate       Capability = "recognise a message sent twice"
)

// NotSupported is an error that says that the system itself lacks a capability, and
// not that trying failed. Its reason is evidence: what the server or the client
// library answered, or what the protocol has in its place.
type NotSupported struct {
	Reason string
	// Condition, when it is not empty, is what would have to be changed for the
	// system to have the capability.
	Condition string
}

func (l *NotSupported) Error() string { return l.Reason }

// CapabilityExplainer is a Cluster that says why it lacks a capability of whose interface
// it has no method.
type CapabilityExplainer interface {
	// ExplainLack returns one sentence: why the protocol has no such thing, and what
	// takes its place. Empty: nothing is known of it.
	ExplainLack(a Capability) string
}

// Varied is a System of which settings make several, such as one for each type
// of queue.
type Varied interface {
	// Variant names the one that settings make; empty: there is only one.
	Variant(o Options) string
}

// The methods below return, beside what they open, the condition under which
// it could be had: a setting, a plugin, a type of subscription. Empty: none. An
// error that is a *NotSupported means that it cannot be had.

// Replayer is a Cluster whose subscriptions can begin again.
type Replayer interface {
	// OpenReplay opens the only consumer of a subscription at the first message
	// that the topic has, whatever was acknowledged before.
	OpenReplay(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
}

// Sharer is a Cluster that can deal the messages of one partition out to
// several consumers of a subscription.
type Sharer interface {
	OpenShared(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
}

// AckKind is what a publisher waits for.
type AckKind string

// The kinds of acknowledgement.
const (
	AckNone     AckKind = "none"     // nothing: sent and forgotten
	AckOne      AckKind = "one"      // one server has the message
	AckReplicas AckKind = "replicas" // the replicas have it that must have it
	AckRefusal  AckKind = "refusal"  // the server says that it did not take it
)

// AckChooser is a Cluster whose publishers choose what they wait for.
type AckChooser interface {
	// PublishAcked publishes one message to partition 0 and returns what came
	// back, in the system's words. AckRefusal publishes one that the servers must
	// refuse; that they did is no error.
	PublishAcked(ctx context.Context, t Topic, kind AckKind, payload []byte) (answer string, err error)
}

// RouteKind is how messages find those who want them.
type RouteKind string

// The kinds of routing, as AMQP names them.
const (
	RouteDirect  RouteKind = "direct"  // by a key that is equal
	RoutePattern RouteKind = "pattern" // by a pattern of words: * is one word
	RouteFanout  RouteKind = "fanout"  // to all
	RouteHeaders RouteKind = "headers" // by headers that are equal
)

// Routing says who wants which messages.
type Routing struct {
	Topic    Topic // its name is free; the system makes what it needs under it
	Kind     RouteKind
	Bindings []Binding
}

// Binding is one receiver and what it wants.
type Binding struct {
	// Key is the key or the pattern: words with dots between.
	Key     string
	Headers map[string]string
	Receive func(payload []byte) // called from any goroutine
}

// Router is a Cluster that routes messages by what their publisher says.
type Router interface {
	OpenRoutes(ctx context.Context, r Routing) (p Publisher, condition string, err error)
}

// Envelope is one message and what its publisher says of it.
type Envelope struct {
	Payload  []byte
	Key      string
	Headers  map[string]string
	TTL      time.Duration // 0: it is kept
	Delay    time.Duration // 0: it is delivered at once
	Priority int           // 0 is the lowest
}

// Publisher publishes messages one by one, to a place made for the purpose.
type Publisher interface {
	// Post returns when the servers have the message.
	Post(ctx context.Context, l Envelope) error
	// Close ends those who receive and removes the place.
	Close(ctx context.Context) error
}

// Mailbox is a Publisher with one subscription, which nobody reads until Open.
type Mailbox interface {
	Publisher
	// Open begins to receive, one message at a time.
	Open(ctx context.Context, receive func(payload []byte)) error
}

// Expirer is a Cluster that forgets messages which nobody read in time.
type Expirer interface {
	OpenExpiring(ctx context.Context, t Topic) (b Mailbox, condition string, err error)
}

// Prioritiser is a Cluster that delivers urgent messages before others.
type Prioritiser interface {
	// OpenPrioritised knows the priorities 0 to 9.
	OpenPrioritised(ctx context.Context, t Topic) (b Mailbox, condition string, err error)
}

// Delayer is a Cluster that keeps messages back until their time.
type Delayer interface {
	OpenDelaying(ctx context.Context, t Topic) (b Mailbox, condition string, err error)
}

// DeadLetterer is a Cluster that puts aside what consumers reject.
type DeadLetterer interface {
	// OpenRejecting opens a consumer that rejects each message as often as it
	// comes, after rejected was called with it. dead is called with what the
	// system has put aside.
	OpenRejecting(ctx context.Context, t Topic, rejected, dead func(payload []byte)) (p Publisher, condition string, err error)
}

// BackPressure is what a publisher met that offered more than was allowed.
type BackPressure struct {
	Limit    string        // what bounded it, in the system's words
	Accepted int           // messages
	Refused  int           // messages
	Refusal  string        // what the server said to the first one refused
	Held     time.Duration // how long publishing took, or was told to pause
}

// BackPressurer is a Cluster whose servers can hold publishers back.
type BackPressurer interface {
	// PublishBeyond bounds a place of the name, publishes to it, and removes it.
	// n is enough for a bound in messages; one of a rate may take more or less.
	PublishBeyond(ctx context.Context, t Topic, n int) (p BackPressure, condition string, err error)
}

// Transactor is a Cluster that publishes several messages, or none of them.
type Transactor interface {
	// Transact publishes to partition 0 of a topic that exists, in one
	// transaction, and commits or aborts it.
	Transact(ctx context.Context, t Topic, payloads [][]byte, commit bool) (condition string, err error)
}

// Deduplicator is a Cluster that takes a message once which a publisher sends
// twice because it does not know what became of it.
type Deduplicator interface {
	// PublishTwice publishes the same message twice to partition 0 of a topic
	// that exists, and returns what came back.
	PublishTwice(ctx context.Context, t Topic, payload []byte) (answer, condition string, err error)
}
