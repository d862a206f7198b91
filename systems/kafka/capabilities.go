package kafka

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what Kafka's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "Kafka's documentation, "
	return []system.Statement{
		system.HasIf(system.CompetingConsumers, "a share group in place of a consumer group "+
			"(brokers of Kafka 4.2 or later)", "KIP-932"),
		system.HasIf(system.ExactlyOnce, "a transactional.id, and readers with isolation.level "+
			"read_committed; what a reader does outside of transactions it may do again",
			docs+"message delivery semantics"),
		system.Has(system.PublisherAcks, "acks=0 waits for nothing, 1 for the leader and all for "+
			"the in-sync replicas; a refusal is an error code, such as MESSAGE_TOO_LARGE",
			docs+"producer configuration acks"),
		system.HasIf(system.RoutingDirect, "a topic for each key", docs+"consumer API subscribe"),
		system.HasIf(system.RoutingPattern, "a topic for each key, and consumers that subscribe "+
			"by regular expression", docs+"consumer API subscribe"),
		system.Lacks(system.RoutingHeaders, "brokers do not look at headers, and a consumer gets "+
			"whole partitions; it can drop what it does not want, or Kafka Streams can sort it "+
			"into topics", docs+"record headers"),
		system.Lacks(system.MessageTTL, "messages have no time to live of their own; "+
			"retention.ms deletes whole segments of a topic, whether they were read or not",
			docs+"topic configuration retention.ms"),
		system.Lacks(system.Priorities, "a partition is a log read in its order; urgent messages "+
			"take a topic of their own, which a consumer polls first", docs+"design"),
		system.Lacks(system.DelayedDelivery, "a record can be read as soon as it is in the log; "+
			"to get it later, keep it in the sender, or let the consumer wait", docs+"design"),
		system.Lacks(system.DeadLetters, "a group's position moves past every record; a consumer "+
			"that rejects one publishes it to another topic, as Kafka Connect and Streams do, "+
			"and a share group drops rejected records from delivery without copying them",
			docs+"Connect error handling, and KIP-932"),
		system.HasIf(system.FlowControl, "a quota for the client or user; the broker then tells "+
			"the client to pause, and reads nothing from it meanwhile", docs+"quotas"),
		system.HasIf(system.Transactions, "a transactional.id, and readers with isolation.level "+
			"read_committed", docs+"transactions"),
	}
}
