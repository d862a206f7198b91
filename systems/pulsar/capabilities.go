package pulsar

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what Pulsar's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "Pulsar's documentation, "
	return []system.Statement{
		system.HasIf(system.CompetingConsumers, "a subscription of type shared, which keeps no "+
			"order", docs+"subscription types"),
		system.HasIf(system.ExactlyOnce, "deduplication in the policies of broker, namespace or "+
			"topic, and publishers with a name and sequence ids that they keep; and readers "+
			"recognise copies", docs+"message deduplication"),
		system.Has(system.PublisherAcks, "brokers answer every message with a receipt, for which "+
			"the ack quorum is a policy of the namespace; a refusal is an error, such as "+
			"TopicTerminated", docs+"persistence policies"),
		system.HasIf(system.RoutingDirect, "a topic for each key", docs+"topics"),
		system.HasIf(system.RoutingPattern, "a topic for each key, and consumers that subscribe "+
			"by regular expression", docs+"multi-topic subscriptions"),
		system.Lacks(system.RoutingHeaders, "a subscription gets its whole topic; to select by "+
			"properties, use topics of their own, or an entry filter, which is a plugin of the "+
			"brokers", "PIP-105"),
		system.HasIf(system.MessageTTL, "a time to live for all messages of a namespace or "+
			"topic; brokers look every 5m (messageExpiryCheckIntervalInMinutes)",
			docs+"time to live"),
		system.Lacks(system.Priorities, "a topic is a log read in its order, and priority levels "+
			"are for consumers, not for messages; urgent messages take a topic of their own",
			docs+"consumer priority levels"),
		system.HasIf(system.DelayedDelivery, "a subscription of type shared or key-shared; "+
			"others get delayed messages at once", docs+"delayed message delivery"),
		system.HasIf(system.DeadLetters, "the client library's dead letter policy, with a "+
			"subscription of type shared or key-shared: it publishes messages that were "+
			"delivered too often to another topic", docs+"dead letter topic"),
		system.HasIf(system.FlowControl, "a publish rate for the topic or the broker, beyond "+
			"which the broker stops reading; a backlog quota refuses producers, which brokers "+
			"check once a minute", docs+"publish throttling, and backlog quotas"),
		system.HasIf(system.Transactions, "transactionCoordinatorEnabled on the brokers, whose "+
			"metadata is made beforehand", docs+"transactions"),
	}
}
