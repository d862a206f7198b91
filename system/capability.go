package system

import (
	"context"
	"time"
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

// Varied is a System of which settings make several, such as one for each type
// of queue.
type Varied interface {
	// Variant names the one that settings make; empty: there is only one.
	Variant(o Options) string
}

// Replayer is a Cluster whose subscriptions can begin again.
type Replayer interface {
	// OpenReplay opens the only consumer of a subscription at the first message
	// that the topic has, whatever was acknowledged before. The condition is as of a
	// Prober's methods.
	OpenReplay(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
}

// Prober is a Cluster on which all capabilities can be tried: what only some systems can
// do. A method returns, beside what it opens, the condition under which the system has
// the capability: a setting, a plugin, a type of subscription. Empty: none. An error that
// is a *NotSupported means that the system lacks the capability: servers or library said
// so, or the protocol has no such thing, and the reason is what takes its place.
type Prober interface {
	Replayer
	// OpenShared opens one of several consumers of a subscription that share the
	// messages of one partition.
	OpenShared(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
	// PublishAcked publishes one message to partition 0 and returns what came
	// back, in the system's words. AckRefusal publishes one that the servers must
	// refuse; that they did is no error.
	PublishAcked(ctx context.Context, t Topic, kind AckKind, payload []byte) (
		answer string, err error)
	// OpenRoutes opens a place that routes messages by what their publisher says.
	OpenRoutes(ctx context.Context, r Routing) (p Publisher, condition string, err error)
	// OpenMailbox opens a mailbox that heeds what envelopes say of the feature.
	OpenMailbox(ctx context.Context, t Topic, f Feature) (b Mailbox, condition string, err error)
	// OpenRejecting opens a consumer that rejects each message as often as it
	// comes, after rejected was called with it. dead is called with what the
	// system has put aside.
	OpenRejecting(ctx context.Context, t Topic, rejected, dead func(payload []byte)) (
		p Publisher, condition string, err error)
	// PublishBeyond bounds a place of the name, publishes to it, and removes it.
	// n is enough for a bound in messages; one of a rate may take more or less.
	PublishBeyond(ctx context.Context, t Topic, n int) (p BackPressure, condition string, err error)
	// Transact publishes to partition 0 of a topic that exists, in one
	// transaction, and commits or aborts it.
	Transact(ctx context.Context, t Topic, payloads [][]byte, commit bool) (
		condition string, err error)
	// PublishTwice publishes the same message twice to partition 0 of a topic
	// that exists, as a publisher that does not know what became of it, and
	// returns what came back.
	PublishTwice(ctx context.Context, t Topic, payload []byte) (
		answer, condition string, err error)
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

// Envelope is one message and what its publisher says of it.
type Envelope struct {
	Payload  []byte
	Key      string
	Headers  map[string]string
	TTL      time.Duration // FeatureTTL; 0: it is kept
	Delay    time.Duration // FeatureDelay; 0: it is delivered at once
	Priority int           // FeaturePriority; from 0, the lowest, to 9
}

// Feature is what a Mailbox heeds of an Envelope.
type Feature string

// The features.
const (
	FeatureTTL      Feature = "TTL"
	FeatureDelay    Feature = "delay"
	FeaturePriority Feature = "priority"
)

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

// BackPressure is what a publisher met that offered more than was allowed.
type BackPressure struct {
	Limit    string        // what bounded it, in the system's words
	Accepted int           // messages
	Refused  int           // messages
	Refusal  string        // what the server said to the first one refused
	Held     time.Duration // how long publishing took, or was told to pause
}
