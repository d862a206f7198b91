package mqtt

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what the standard and HiveMQ's documentation say beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const standard, docs = "MQTT 5.0 (OASIS), ", "HiveMQ's documentation, "
	return []system.Statement{
		system.Lacks(system.Replay, "a server forgets a message when its subscribers have "+
			"acknowledged it; a topic keeps its latest retained message only",
			standard+"3.3.1.3 RETAIN"),
		system.Lacks(system.ExactlyOnce, "QoS 2 is a handshake on one connection or session: a "+
			"message that is handled again, or sent again by a new session, is not recognised",
			standard+"4.3.3 QoS 2"),
		system.Has(system.PublisherAcks, "PUBACK (QoS 1) and PUBCOMP (QoS 2), with a reason code",
			standard+"4.3 quality of service levels"),
		system.Has(system.RoutingDirect, "a topic for each key", standard+"4.7 topic names"),
		system.Has(system.RoutingPattern, "the wildcards + and # of topic filters",
			standard+"4.7.1 topic wildcards"),
		system.Lacks(system.RoutingHeaders, "subscribers see user properties, and servers do not "+
			"route by them", standard+"3.3.2.3.7 user property"),
		system.Has(system.MessageTTL, "the Message Expiry Interval of a message",
			standard+"3.3.2.3.3"),
		system.Lacks(system.Priorities, "messages have none; urgent ones take a topic of their "+
			"own", standard+"3.3 PUBLISH"),
		system.Lacks(system.DelayedDelivery, "only a will message has a delay (Will Delay "+
			"Interval)", standard+"3.1.3.2.2"),
		system.Lacks(system.DeadLetters, "a queue that is full drops messages",
			docs+"queued messages"),
		system.HasIf(system.FlowControl, "Receive Maximum bounds the messages under way on a "+
			"connection; a queue that is full drops messages", standard+"4.9 flow control"),
		system.Lacks(system.Transactions, "each message is by itself", standard+"3.3 PUBLISH"),
	}
}
