package nats

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what JetStream's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "JetStream's documentation, "
	return []system.Statement{
		system.HasIf(system.ExactlyOnce, "publishers set Nats-Msg-Id and send again within the "+
			"stream's duplicate_window, 2m by default, and readers recognise copies",
			docs+"message deduplication"),
		system.Has(system.PublisherAcks, "without a reply subject no PubAck comes; otherwise the "+
			"stream's replicas decide what it waits for; a refusal is a PubAck with an error",
			docs+"publishing to streams"),
		system.Has(system.RoutingDirect, "the key is a token of the subject, by which a consumer "+
			"filters", docs+"consumer configuration FilterSubjects"),
		system.Has(system.RoutingPattern, "a filter may have the wildcards * and >",
			docs+"subject wildcards"),
		system.Lacks(system.RoutingHeaders, "consumers filter by subject alone; put the header "+
			"into a token of the subject", docs+"consumer configuration FilterSubjects"),
		system.HasIf(system.MessageTTL, "allow_msg_ttl on the stream (server 2.11 or later)",
			"ADR-43, per-message TTL"),
		system.Lacks(system.Priorities, "a stream is a log read in its order; urgent messages "+
			"take a subject or stream of their own, which a consumer reads first", docs+"streams"),
		system.HasIf(system.DelayedDelivery, "allow_msg_schedules on the stream (server 2.12 or "+
			"later), to the second", "ADR-51, message scheduler"),
		system.Lacks(system.DeadLetters, "JetStream puts nothing aside: after max_deliver "+
			"attempts or a +TERM it delivers the message no more, keeps it in the stream and "+
			"sends its sequence in an advisory, from which an application can fetch it",
			docs+"consumer configuration MaxDeliver"),
		system.HasIf(system.FlowControl, "a stream with a limit and discard new; the default, "+
			"discard old, drops the oldest messages instead",
			docs+"stream configuration DiscardPolicy"),
		system.HasIf(system.Transactions, "allow_atomic on the stream (server 2.12 or later); "+
			"publishing to one stream only", "ADR-50, atomic batch publishing"),
	}
}
