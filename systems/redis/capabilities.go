package redis

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what Redis' documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "Redis' documentation, "
	return []system.Statement{
		system.HasIf(system.ExactlyOnce, "the publisher chooses each entry's ID, and is the only "+
			"one of the stream, because IDs must grow; and readers recognise copies", docs+"XADD"),
		system.Has(system.PublisherAcks, "XADD answers for one server, WAIT for the replicas; a "+
			"refusal is an error, such as that of an ID which is not above the last",
			docs+"XADD and WAIT"),
		system.HasIf(system.RoutingDirect, "a topic for each key", docs+"XREADGROUP"),
		system.Lacks(system.RoutingPattern, "XREADGROUP names each stream that it reads; the "+
			"patterns of PSUBSCRIBE are of Pub/Sub, which keeps nothing", docs+"XREADGROUP"),
		system.Lacks(system.RoutingHeaders, "the server does not look at an entry's fields",
			docs+"XREADGROUP"),
		system.Lacks(system.MessageTTL, "an entry has no time to live of its own; XTRIM MINID "+
			"removes what is older than a time, read or not", docs+"XTRIM"),
		system.Lacks(system.Priorities, "a stream is read in its order; urgent messages take a "+
			"stream of their own, which a consumer reads first", docs+"streams"),
		system.Lacks(system.DelayedDelivery, "an entry can be read as soon as it is in the "+
			"stream; a sorted set by due time, polled by the application, takes the place of a "+
			"delay", docs+"streams"),
		system.Lacks(system.DeadLetters, "there is no rejection: an entry stays pending until it "+
			"is acknowledged; XPENDING counts its deliveries, and a consumer may copy it to a "+
			"stream of its own", docs+"XPENDING"),
		system.Lacks(system.FlowControl, "no stream can refuse more: MAXLEN removes the oldest "+
			"entries, read or not; maxmemory with noeviction refuses all writes of the server",
			docs+"XADD and key eviction"),
		system.HasIf(system.Transactions, "MULTI and EXEC; all streams on one server",
			docs+"transactions"),
	}
}
