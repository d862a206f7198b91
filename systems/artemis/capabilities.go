package artemis

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what Artemis' documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "Artemis' user manual, "
	return []system.Statement{
		system.Lacks(system.Replay, "a queue deletes what was accepted; the journal's retention "+
			"brings messages back by an operator's command and for a whole server",
			docs+"journal retention"),
		system.HasIf(system.ExactlyOnce, "the application property _AMQ_DUPL_ID, within the "+
			"server's memory of id-cache-size ids; and readers recognise copies",
			docs+"duplicate message detection"),
		system.Has(system.PublisherAcks, "a message that is sent as settled is not answered; "+
			"otherwise the servers' replication decides what accepted waits for; a refusal is "+
			"the outcome rejected or the end of the link", docs+"AMQP, and high availability"),
		system.HasIf(system.RoutingDirect, "an address for each key", docs+"address model"),
		system.HasIf(system.RoutingPattern, "an address for each key, and queues on addresses "+
			"with wildcards", docs+"wildcard syntax"),
		system.Has(system.RoutingHeaders, "a queue has a filter, an SQL expression on properties",
			docs+"filter expressions"),
		system.Has(system.MessageTTL, "the header ttl of AMQP", docs+"message expiry"),
		system.Has(system.Priorities, "the header priority of AMQP, 0 to 9, among messages that "+
			"no consumer has been sent ahead", docs+"AMQP"),
		system.Has(system.DelayedDelivery, "the annotation x-opt-delivery-delay",
			docs+"scheduled messages"),
		system.HasIf(system.DeadLetters, "dead-letter-address in the address settings",
			docs+"undelivered messages"),
		system.HasIf(system.FlowControl, "address-full-policy FAIL; with BLOCK the server gives "+
			"producers no credit, and with PAGE, the default, it writes to the disk what exceeds "+
			"the memory", docs+"paging"),
		system.Lacks(system.Transactions, "the server has transactions (AMQP's coordinator), and "+
			"go-amqp, the client library, has not", docs+"transactions"),
	}
}
