package driver

import "github.com/plimsoll-bench/plimsoll/system"

// CompleteSystem is a system whose servers plimsoll can start.
type CompleteSystem interface {
	system.System
	system.Provisioner
}

// CompleteCluster is a cluster that knows the leaders of its partitions, so that they can be
// killed.
type CompleteCluster interface {
	system.Cluster
	system.LeaderReader
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
