package system

import "context"

// TopicSharer is a System that knows whether plimsoll can measure existing topics that other
// applications use. On other systems plimsoll measures only topics that it has created.
type TopicSharer interface {
	// RefuseExisting returns the reason why existing topics cannot be measured with the settings,
	// as a part of a sentence; empty: they can, and the Cluster is a TopicFinder.
	RefuseExisting(s Settings) (why string)
}

// Destructive is the reason of a system that gives each message of a queue to one consumer.
const Destructive = "a queue gives each message to one consumer, so plimsoll would take " +
	"messages that belong to others"

// OwnForm is the reason of a system whose topics have parts that only plimsoll gives them.
const OwnForm = "its topics have a form that plimsoll gives them when it creates them"

// RefuseExisting returns the reason why plimsoll cannot measure existing topics of the system;
// empty: it can.
func RefuseExisting(s System, settings Settings) string {
	sharer, knows := s.(TopicSharer)
	if !knows {
		return OwnForm
	}
	return sharer.RefuseExisting(settings)
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
