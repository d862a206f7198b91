package rocketmq

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what RocketMQ's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "RocketMQ's documentation, "
	return []system.Statement{
		system.HasIf(system.CompetingConsumers, "POP consumption, which the clients of version 5 "+
			"use through the proxy: brokers lend single messages for a time",
			docs+"consumer types"),
		system.Lacks(system.ExactlyOnce, "brokers do not compare messages; receivers recognise a "+
			"copy by a key of the application's", docs+"consumption retry"),
		system.Has(system.PublisherAcks, "a one-way send is not answered; otherwise brokerRole "+
			"and flushDiskType decide what the answer waits for, and FLUSH_DISK_TIMEOUT and "+
			"FLUSH_SLAVE_TIMEOUT say that it did not come in time", docs+"broker configuration"),
		system.HasIf(system.RoutingDirect, "the tag of a message, which subscriptions name",
			docs+"message filtering"),
		system.Lacks(system.RoutingPattern, "a subscription names a topic, and its tags one by one",
			docs+"message filtering"),
		system.HasIf(system.RoutingHeaders, "enablePropertyFilter on the brokers: a subscription "+
			"has an SQL expression on properties", docs+"message filtering"),
		system.Lacks(system.MessageTTL, "messages have no time to live of their own; brokers "+
			"delete files of the commit log after fileReservedTime, read or not",
			docs+"message storage and cleanup"),
		system.Lacks(system.Priorities, "a queue is a log read in its order; urgent messages take "+
			"a topic of their own", docs+"message queue"),
		system.Has(system.DelayedDelivery, "a message's delivery time, within timerMaxDelaySec, "+
			"three days by default", docs+"delay message"),
		system.HasIf(system.DeadLetters, "consumers that give a message back: after "+
			"retryMaxTimes it goes to the group's topic %DLQ%", docs+"consumption retry"),
		system.Lacks(system.FlowControl, "a topic takes what comes, until its disk is nearly "+
			"full; a broker whose threads do not keep up refuses requests (SYSTEM_BUSY)",
			docs+"message sending retry and throttling"),
		system.HasIf(system.Transactions, "a single message, which a producer commits after its "+
			"own transaction, and of which the broker asks it otherwise",
			docs+"transaction message"),
	}
}
