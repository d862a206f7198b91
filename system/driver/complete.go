package driver

import "github.com/plimsoll-bench/plimsoll/system"

// CompleteSystem is a system of servers with all that plimsoll asks of one: it starts
// clusters, says beforehand what it cannot do, and knows when it delivers again.
type CompleteSystem interface {
	system.System
	system.Provisioner
	system.Checker
	system.Redeliverer
}

// CompleteCluster is a cluster with all that plimsoll asks of one: it reads its
// durability, its versions and its leaders back, and deletes topics.
type CompleteCluster interface {
	system.Cluster
	system.DurabilityReader
	system.VersionReader
	system.LeaderReader
	system.TopicDeleter
}

// Terms are a system's own words for those of plimsoll.
type Terms struct {
	Topic, Partition, Key, Subscription, Consumer, Acknowledgement, Backlog string
}

// List is the terms as a description has them.
func (t Terms) List() []system.Term {
	return []system.Term{
		{Word: "topic", Means: t.Topic}, {Word: "partition", Means: t.Partition},
		{Word: "key", Means: t.Key}, {Word: "subscription", Means: t.Subscription},
		{Word: "consumer", Means: t.Consumer},
		{Word: "acknowledgement of a publish", Means: t.Acknowledgement},
		{Word: "backlog", Means: t.Backlog},
	}
}
