package system

import "context"

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

// Replayer is a Cluster whose subscriptions can begin again.
type Replayer interface {
	// OpenReplay opens the only consumer of a subscription at the topic's first message,
	// regardless of earlier acknowledgements. It returns the condition under which the system can
	// do so, such as a setting; empty: none. A *NotSupported error means that it cannot.
	OpenReplay(ctx context.Context, o ConsumerOptions) (c Consumer, condition string, err error)
}

// Capability is something that a system does beside carrying load, as the probes name it.
type Capability = string

// The capabilities that a description may state, because only code for one system could try them.
// Of CompetingConsumers and Replay it states what the probes cannot see.
const (
	CompetingConsumers Capability = "competing consumers"
	ExactlyOnce        Capability = "exactly once"
	Replay             Capability = "replay"
	PublisherAcks      Capability = "publisher acks"
	RoutingDirect      Capability = "routing: direct"
	RoutingPattern     Capability = "routing: pattern"
	RoutingHeaders     Capability = "routing: headers"
	MessageTTL         Capability = "message TTL"
	Priorities         Capability = "priorities"
	DelayedDelivery    Capability = "delayed delivery"
	DeadLetters        Capability = "dead letters"
	FlowControl        Capability = "flow control"
	Transactions       Capability = "transactions"
)

// Statement is what a system's documentation says of a capability. plimsoll has not tried it.
type Statement struct {
	Capability Capability
	Has        bool
	// Condition, with Has, is what it takes: a setting, a plugin, a type of subscription; empty:
	// nothing.
	Condition string
	Why       string // one sentence: how the system does it, or what stands in its place
	Source    string // the document that says so
}

// Has states a capability.
func Has(c Capability, why, source string) Statement {
	return Statement{Capability: c, Has: true, Why: why, Source: source}
}

// HasIf states a capability that takes something.
func HasIf(c Capability, condition, source string) Statement {
	return Statement{Capability: c, Has: true, Condition: condition, Source: source}
}

// Lacks states that the system has no such capability.
func Lacks(c Capability, why, source string) Statement {
	return Statement{Capability: c, Why: why, Source: source}
}
