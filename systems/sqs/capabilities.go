package sqs

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what Amazon's documentation says beside what plimsoll tries.
func capabilities(o system.Options) []system.Statement {
	const docs = "Amazon SQS developer guide, "
	const routes = "a queue does not choose among its messages; SNS filters what it sends to " +
		"queues, outside SQS"
	delay := system.HasIf(system.DelayedDelivery, "DelaySeconds, at most 15 minutes",
		docs+"message timers")
	if o.Settings.Bool(setFIFO) {
		delay = system.HasIf(system.DelayedDelivery, "standard queues; messages of a FIFO queue "+
			"have the delay of the queue", docs+"delay queues")
	}
	return []system.Statement{
		system.Lacks(system.Replay, "a queue forgets a message when it is deleted, which is its "+
			"acknowledgement", docs+"message lifecycle"),
		system.HasIf(system.ExactlyOnce, "FIFO queues and a deduplication id, for five minutes; "+
			"and readers recognise copies", docs+"exactly-once processing"),
		system.Has(system.PublisherAcks, "every request has an answer, and SQS stores a message "+
			"in several availability zones before it; a refusal is an error", docs+"SendMessage"),
		system.HasIf(system.RoutingDirect, "a queue for each key", docs+"queues"),
		system.Lacks(system.RoutingPattern, routes, docs+"queues"),
		system.Lacks(system.RoutingHeaders, routes, docs+"queues"),
		system.Lacks(system.MessageTTL, "a message has no time to live of its own; "+
			"MessageRetentionPeriod is the queue's, from 60 seconds to 14 days",
			docs+"queue parameters"),
		system.Lacks(system.Priorities, "a queue has no priorities; urgent messages take a queue "+
			"of their own, which a consumer polls first", docs+"queues"),
		delay,
		system.HasIf(system.DeadLetters, "a RedrivePolicy with maxReceiveCount",
			docs+"dead-letter queues"),
		system.Lacks(system.FlowControl, "a queue takes any number of messages; Amazon bounds "+
			"those that were received and not deleted (120,000), and throttles requests",
			docs+"quotas"),
		system.Lacks(system.Transactions, "there are no transactions: SendMessageBatch answers "+
			"for each message by itself, and may refuse some", docs+"SendMessageBatch"),
	}
}
