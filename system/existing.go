package system

import "context"

// Destructive is the reason of a system that gives each message of a queue to one consumer.
const Destructive = "a queue gives each message to one consumer, so plimsoll would take " +
	"messages that belong to others"

// OwnForm is the reason of a system whose topics have parts that only plimsoll gives them.
const OwnForm = "its topics have a form that plimsoll gives them when it creates them"

// WhyNotExisting returns the reason why plimsoll cannot measure existing topics of the system;
// empty: it can.
func (d Description) WhyNotExisting(s Settings) string {
	if d.RefuseExisting == nil {
		return OwnForm
	}
	return d.RefuseExisting(s)
}

// TopicFinder is a Cluster that can use topics which plimsoll has not created. Other users of the
// topics are not disturbed: plimsoll deletes and acknowledges nothing of theirs.
type TopicFinder interface {
	// FindTopic returns the topic of a name with its partitions, or an error if there is none.
	FindTopic(ctx context.Context, name string) (Topic, error)
	// DeleteSubscription deletes a subscription without open consumers, whichever connection
	// opened it. The topic stays. A subscription that does not exist is no error.
	DeleteSubscription(ctx context.Context, t Topic, subscription string) error
}
