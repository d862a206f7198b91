package driver

import "github.com/plimsoll-bench/plimsoll/system"

// CompleteSystem is a system with every interface that plimsoll expects of systems with servers:
// it starts clusters, checks requests, and knows when it redelivers.
type CompleteSystem interface {
	system.System
	system.Provisioner
	system.Checker
	system.Redeliverer
}

// CompleteCluster is a cluster with every interface that plimsoll expects: it reads its
// durability, versions and leaders back, and deletes topics.
type CompleteCluster interface {
	system.Cluster
	system.DurabilityReader
	system.VersionReader
	system.LeaderReader
	system.TopicDeleter
}

// Terms are a system's own words for plimsoll's.
type Terms struct {
	Topic, Partition, Key, Subscription, Consumer, Acknowledgement, Backlog string
}

// List returns the terms for a description.
func (t Terms) List() []system.Term {
	return []system.Term{
		{Word: "topic", Means: t.Topic}, {Word: "partition", Means: t.Partition},
		{Word: "key", Means: t.Key}, {Word: "subscription", Means: t.Subscription},
		{Word: "consumer", Means: t.Consumer},
		{Word: "acknowledgement of a publish", Means: t.Acknowledgement},
		{Word: "backlog", Means: t.Backlog},
	}
}
