package system

import (
	"errors"
	"time"

	"github.com/plimsoll-bench/plimsoll/target"
)

// isHosted reports whether a target names a service without endpoints.
func isHosted(s System, t *target.Target) bool {
	hosted := s.Describe().IsHosted
	return hosted != nil && len(t.Endpoints) == 0 && hosted(t)
}

// RunsElsewhere reports whether a target's servers run already: it has endpoints, or it names a
// provider's service.
func RunsElsewhere(s System, t *target.Target) bool {
	return len(t.Endpoints) > 0 || isHosted(s, t)
}

// Bill is the cost of requests to a system.
type Bill struct {
	Requests int64 // as the provider counts them
	USD      float64
	Price    string // a sentence: the price, its date and its source
	// Exhausted: the limit of Options.MaxUSD is reached, and no more messages are sent.
	Exhausted bool
}

// ErrExhausted is wrapped by the error of a message that was not sent because the run's limit
// of cost is reached.
var ErrExhausted = errors.New("the run has reached its limit of cost (--max-cost)")

// Expected is a load whose cost is estimated. Counts of clients, partitions and subscriptions are
// those of a topic.
type Expected struct {
	Messages                            int64 // of all topics
	MessageBytes                        int64 // payload of a message
	Topics, Partitions                  int
	Producers, Subscriptions, Consumers int
	Length                              time.Duration // of the load
}

// Spender is a Cluster that may cost money and counts what it has spent. When the limit of
// Options.MaxUSD is reached, it refuses messages with ErrExhausted.
type Spender interface {
	// Spent returns the bill so far; charged is false when the cluster costs nothing.
	Spent() (b Bill, charged bool)
}
