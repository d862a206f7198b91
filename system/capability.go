package system

import (
	"context"
	"time"
)

// NotSupported is the error of a system that lacks a capability, in contrast to an
// attempt that failed. Its reason is evidence: the answer of the server or the client
// library, or the protocol's substitute.
type NotSupported struct {
	Reason string
	// Condition, when not empty, is the change that would give the system the
	// capability.
	Condition string
}

func (l *NotSupported) Error() string { return l.Reason }

// Lacks returns the error of a system that lacks a capability with all settings.
func Lacks(reason string) error { return &NotSupported{Reason: reason} }

// Replayer is a Cluster whose subscriptions can begin again.
type Replayer interface {
	// OpenReplay opens the only consumer of a subscription at the topic's first
	// message, regardless of earlier acknowledgements. Prober explains the condition.
	OpenReplay(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
}

// Prober is a Cluster on which all optional capabilities can be tried. Its methods
// return the condition under which the system has the capability, such as a setting, a
// plugin or a type of subscription; empty: none. A *NotSupported error means that the
// system lacks the capability.
type Prober interface {
	Replayer
	// OpenShared opens a consumer that shares the messages of a partition with the
	// other consumers of its subscription.
	OpenShared(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
	// PublishAcked publishes a message to partition 0 and returns the answer, in the
	// system's words. AckRefusal publishes a message that the servers must refuse;
	// their refusal is no error.
	PublishAcked(ctx context.Context, t Topic, kind AckKind, payload []byte) (
		answer string, err error)
	// OpenRoutes opens a publisher whose messages are routed by their keys or headers.
	OpenRoutes(ctx context.Context, r Routing) (p Publisher, condition string, err error)
	// OpenMailbox opens a mailbox that applies the feature to its envelopes.
	OpenMailbox(ctx context.Context, t Topic, f Feature) (b Mailbox, condition string, err error)
	// OpenRejecting opens a consumer that calls rejected with each message and then
	// rejects it, at every delivery. It calls dead with each message that the system
	// has moved to a dead-letter place.
	OpenRejecting(ctx context.Context, t Topic, rejected, dead func(payload []byte)) (
		p Publisher, condition string, err error)
	// PublishBeyond creates a bounded place of the topic's name, publishes more to it
	// than the bound allows, and removes it. n messages exceed a bound in messages; a bound in
	// rate may need more or fewer.
	PublishBeyond(ctx context.Context, t Topic, n int) (p BackPressure, condition string, err error)
	// Transact publishes to partition 0 of an existing topic in one transaction, and commits or
	// aborts it.
	Transact(ctx context.Context, t Topic, payloads [][]byte, commit bool) (
		condition string, err error)
	// PublishTwice publishes the same message twice to partition 0 of an existing topic, like a
	// publisher that retries, and returns the answer.
	PublishTwice(ctx context.Context, t Topic, payload []byte) (
		answer, condition string, err error)
}

// AckKind is the acknowledgement that a publisher waits for.
type AckKind string

// The kinds of acknowledgement.
const (
	AckNone     AckKind = "none"     // none: it does not wait
	AckOne      AckKind = "one"      // one server has the message
	AckReplicas AckKind = "replicas" // all required replicas have the message
	AckRefusal  AckKind = "refusal"  // the server refuses the message
)

// RouteKind is a way of routing messages to receivers.
type RouteKind string

// The kinds of routing, as AMQP names them.
const (
	RouteDirect  RouteKind = "direct"  // by an equal key
	RoutePattern RouteKind = "pattern" // by a pattern of words: * is one word
	RouteFanout  RouteKind = "fanout"  // to all
	RouteHeaders RouteKind = "headers" // by equal headers
)

// Routing lists receivers and the messages that each of them receives.
type Routing struct {
	Topic    Topic // its name is unused; the system creates what it needs under it
	Kind     RouteKind
	Bindings []Binding
}

// Binding is a receiver and the messages that it receives.
type Binding struct {
	// Key is the key or the pattern: words separated by dots.
	Key     string
	Headers map[string]string
	Receive func(payload []byte) // called from any goroutine
}

// Envelope is a message with its properties.
type Envelope struct {
	Payload  []byte
	Key      string
	Headers  map[string]string
	TTL      time.Duration // FeatureTTL; 0: no expiry
	Delay    time.Duration // FeatureDelay; 0: none
	Priority int           // FeaturePriority: 0, the lowest, to 9
}

// Feature is a property of envelopes that a Mailbox applies.
type Feature string

// The features.
const (
	FeatureTTL      Feature = "TTL"
	FeatureDelay    Feature = "delay"
	FeaturePriority Feature = "priority"
)

// Publisher publishes messages one by one to its own topic, queue or exchange.
type Publisher interface {
	// Post returns when the servers have the message.
	Post(ctx context.Context, l Envelope) error
	// Close ends the receivers and removes the place.
	Close(ctx context.Context) error
}

// Mailbox is a Publisher with a subscription that receives from Open on.
type Mailbox interface {
	Publisher
	// Open begins to receive, one message at a time.
	Open(ctx context.Context, receive func(payload []byte)) error
}

// BackPressure is the answer to a publisher that exceeds a limit.
type BackPressure struct {
	Limit    string        // in the system's words
	Accepted int           // messages
	Refused  int           // messages
	Refusal  string        // the server's words for the first refusal
	Held     time.Duration // time that publishing took, or that the server asked to pause
}
