package rabbitmq

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what RabbitMQ's documentation says of the type of queue, beside what plimsoll
// tries.
func capabilities(o system.Options) []system.Statement {
	all := []system.Statement{
		system.Has(system.RoutingDirect, "a direct exchange", docs+"exchanges"),
		system.Has(system.RoutingPattern, "a topic exchange: * is one word, # any number",
			docs+"exchanges"),
		system.Has(system.RoutingHeaders, "a headers exchange", docs+"exchanges"),
		system.HasIf(system.Transactions, "tx.select on a channel instead of confirms, for one "+
			"queue only, and not through a fault of the server amid the commit",
			docs+"broker semantics"),
	}
	kind := planOf(o.Settings, o.Durability).kind
	if kind == streamed {
		return append(all, ofStreams()...)
	}
	return append(all, ofQueues(kind)...)
}

const docs = "RabbitMQ's documentation, "

func ofQueues(kind string) []system.Statement {
	priorities := system.Has(system.Priorities, "x-max-priority on the queue",
		docs+"priority queues")
	if kind == quorum {
		priorities = system.HasIf(system.Priorities, "RabbitMQ 4.0 or later, which has two: above "+
			"4, and the others", docs+"quorum queues")
	}
	waitsFor := "a publisher confirm waits for the copies that the type of the queue asks for"
	if kind == classic {
		waitsFor = "a publisher confirm is the one server's"
	}
	return []system.Statement{
		priorities,
		system.Lacks(system.ExactlyOnce, "queues do not compare messages, and a publisher that "+
			"lost its connection before the confirm must publish again; receivers recognise a "+
			"copy by an id of the application's", docs+"reliability guide"),
		system.Has(system.PublisherAcks, waitsFor+", and a channel without confirms answers "+
			"nothing; a refusal is basic.nack, or basic.return of a mandatory message",
			docs+"publisher confirms"),
		system.Has(system.MessageTTL, "expiration of a message, or x-message-ttl of the queue",
			docs+"time-to-live"),
		system.HasIf(system.DelayedDelivery, "a queue without consumers whose expired messages "+
			"go to the real one as dead letters; or the plugin rabbitmq_delayed_message_exchange",
			docs+"dead letter exchanges"),
		system.Has(system.DeadLetters, "x-dead-letter-exchange on the queue",
			docs+"dead letter exchanges"),
		system.HasIf(system.FlowControl, "x-max-length with x-overflow reject-publish; otherwise "+
			"servers stop reading from publishers only when memory or disk run short "+
			"(connection.blocked)", docs+"queue length limit, and alarms"),
	}
}

func ofStreams() []system.Statement {
	return []system.Statement{
		system.Lacks(system.CompetingConsumers, "every reader of a stream gets it all; readers "+
			"of one name can take turns (single active consumer, RabbitMQ 3.11 or later)",
			docs+"streams"),
		system.HasIf(system.ExactlyOnce, "publishers of the stream protocol with a name and "+
			"publishing ids that they keep; and readers recognise copies",
			docs+"stream deduplication"),
		system.Has(system.PublisherAcks, "a publish confirm comes when a majority of the copies "+
			"has the message; a refusal is an error code", docs+"streams"),
		system.Lacks(system.MessageTTL, "a stream is a log; max-age deletes whole segments, read "+
			"or not", docs+"stream retention"),
		system.Lacks(system.Priorities, "a stream is a log read in its order; urgent messages "+
			"take a stream of their own, which a consumer reads first", docs+"streams"),
		system.Lacks(system.DelayedDelivery, "a message can be read as soon as it is in the "+
			"stream", docs+"streams"),
		system.Lacks(system.DeadLetters, "a reader's offset moves past every message, and a "+
			"stream has no dead-letter exchange", docs+"streams"),
		system.Lacks(system.FlowControl, "a bound (max-length-bytes) drops the oldest messages; "+
			"servers stop reading from publishers when memory or disk run short, or a publisher "+
			"is ahead of the copies by its credits", docs+"streams, and flow control"),
	}
}
