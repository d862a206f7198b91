package eventstore

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what KurrentDB's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "KurrentDB's documentation, "
	return []system.Statement{
		system.HasIf(system.ExactlyOnce, "the publisher keeps the event's id and the expected "+
			"revision, and readers recognise copies", docs+"idempotence"),
		system.Has(system.PublisherAcks, "AppendToStream is answered when the cluster has the "+
			"events; a refusal is an error, such as WrongExpectedVersion", docs+"appending events"),
		system.HasIf(system.RoutingDirect, "a stream for each key", docs+"streams"),
		system.HasIf(system.RoutingPattern, "a persistent subscription to $all with a filter by "+
			"prefix or regular expression", docs+"server-side filtering"),
		system.Lacks(system.RoutingHeaders, "filters look at the names of streams and the types "+
			"of events, and at nothing else", docs+"server-side filtering"),
		system.Lacks(system.MessageTTL, "$maxAge is the stream's: older events are no longer "+
			"read, whether a group has handled them or not", docs+"stream metadata"),
		system.Lacks(system.Priorities, "a stream is read in its order; urgent messages take a "+
			"stream of their own", docs+"streams"),
		system.Lacks(system.DelayedDelivery, "an event can be read as soon as it is in the stream",
			docs+"streams"),
		system.Has(system.DeadLetters, "a group parks an event that was refused, or retried too "+
			"often, and delivers parked events again on request", docs+"parked messages"),
		system.Lacks(system.FlowControl, "no stream refuses more: $maxCount hides the oldest "+
			"events", docs+"stream metadata"),
		system.HasIf(system.Transactions, "the events of one AppendToStream, all of one stream "+
			"(version 25.1 can append to several)", docs+"appending events"),
	}
}
