package activemq

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what ActiveMQ's documentation says beside what plimsoll tries.
func capabilities(o system.Options) []system.Statement {
	const docs = "ActiveMQ Classic's documentation, "
	delay := "schedulerSupport=true"
	if o.Settings.Text(setStore) == storeLevelDB {
		delay += "; the scheduler keeps messages in a store of the master's own, which is not " +
			"replicated"
	}
	return []system.Statement{
		system.Lacks(system.Replay, "a queue forgets what was accepted; a mirror of the queue "+
			"(mirroredQueue) or a subscription of its own keeps the messages from then on",
			docs+"mirrored queues"),
		system.Lacks(system.ExactlyOnce, "the brokers recognise copies by the sequence number of "+
			"an OpenWire producer, which AMQP 1.0 does not carry", docs+"audit of producers"),
		system.Has(system.PublisherAcks, "a message that is sent as settled is not answered; "+
			"otherwise accepted comes after the store's answer; a refusal is the outcome "+
			"rejected or the end of the link", docs+"AMQP"),
		system.HasIf(system.RoutingDirect, "a topic for each key", docs+"destinations"),
		system.HasIf(system.RoutingPattern, "a topic for each key, and wildcards in the address",
			docs+"wildcards"),
		system.HasIf(system.RoutingHeaders, "a selector of each consumer", docs+"selectors"),
		system.Has(system.MessageTTL, "the header ttl of AMQP", docs+"message expiry"),
		system.HasIf(system.Priorities, "prioritizedMessages=true in the brokers' policyEntry of "+
			"the queue", docs+"message priority"),
		system.HasIf(system.DelayedDelivery, delay, docs+"delay and schedule message delivery"),
		system.Has(system.DeadLetters, "rejected messages go to the queue ActiveMQ.DLQ, which "+
			"all applications share by default", docs+"redelivery and DLQ handling"),
		system.HasIf(system.FlowControl, "memoryLimit in the brokers' policyEntry of the queue; "+
			"otherwise the brokers stop reading from producers when memory or disk is used up "+
			"(systemUsage), which holds all queues", docs+"producer flow control"),
		system.Lacks(system.Transactions, "the brokers have transactions over AMQP 1.0, and "+
			"go-amqp, the client library, has none", docs+"transactions"),
	}
}
