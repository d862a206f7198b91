package nsq

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what NSQ's documentation says beside what plimsoll tries.
func capabilities(system.Options) []system.Statement {
	const docs = "NSQ's documentation, "
	return []system.Statement{
		system.Lacks(system.Replay, "a channel forgets a message when it is ended; a tool of "+
			"NSQ's (nsq_to_file) archives a topic", docs+"features and guarantees"),
		system.Lacks(system.ExactlyOnce, "servers do not compare messages; receivers recognise a "+
			"copy by an id of the application's", docs+"features and guarantees"),
		system.Has(system.PublisherAcks, "PUB and MPUB are answered; a refusal is an error, such "+
			"as E_BAD_MESSAGE", docs+"TCP protocol"),
		system.HasIf(system.RoutingDirect, "a topic for each key", docs+"design"),
		system.Lacks(system.RoutingPattern, "a consumer names its topic and channel",
			docs+"design"),
		system.Lacks(system.RoutingHeaders, "messages have no headers", docs+"TCP protocol"),
		system.Lacks(system.MessageTTL, "a message stays until it is ended; an #ephemeral "+
			"channel drops what exceeds its memory", docs+"nsqd"),
		system.Lacks(system.Priorities, "a channel has no priorities; urgent messages take a "+
			"topic of their own", docs+"design"),
		system.Has(system.DelayedDelivery, "DPUB defers a message, up to an hour by default "+
			"(-max-req-timeout), in the memory of the server", docs+"TCP protocol"),
		system.Lacks(system.DeadLetters, "a message carries the number of its attempts; a "+
			"consumer that gives up publishes it elsewhere", docs+"TCP protocol"),
		system.Lacks(system.FlowControl, "a topic takes what comes, in its disk queue beyond "+
			"mem_queue_size", docs+"features and guarantees"),
		system.Lacks(system.Transactions, "MPUB takes its messages together, of one topic only; "+
			"there are no others", docs+"TCP protocol"),
	}
}
