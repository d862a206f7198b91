package postgres

import "github.com/plimsoll-bench/plimsoll/system"

// capabilities are what follows from PostgreSQL's documentation for these tables, beside what
// plimsoll tries.
func capabilities(o system.Options) []system.Statement {
	const docs = "PostgreSQL's documentation, "
	const queue = "this package's tables"
	competing := system.Has(system.CompetingConsumers, "the consumers of a queue take rows of "+
		"every partition", docs+"SELECT FOR UPDATE SKIP LOCKED")
	once := system.HasIf(system.ExactlyOnce, setShape+": "+shapeLog, queue)
	if o.Settings.Text(setShape) == shapeLog {
		competing = system.HasIf(system.CompetingConsumers, setShape+": "+shapeQueue, queue)
		once = system.HasIf(system.ExactlyOnce, "the publisher chooses each row's number "+
			"(OVERRIDING SYSTEM VALUE), which the primary key holds unique, and readers recognise "+
			"copies", docs+"INSERT")
	}
	return []system.Statement{
		competing, once,
		system.Has(system.PublisherAcks, "every statement is answered; synchronous_commit says "+
			"whether it waits for a standby; a refusal is an error", docs+"synchronous_commit"),
		system.HasIf(system.RoutingDirect, "a topic for each key", queue),
		system.Lacks(system.RoutingPattern, "a consumer takes all rows of its subscription; a "+
			"WHERE on the key would choose among them, and is not part of this queue", queue),
		system.Lacks(system.RoutingHeaders, "the table has no headers; a column of jsonb and a "+
			"WHERE on it are not part of this queue", queue),
		system.Lacks(system.MessageTTL, "a row has no time to live; a column with a time, and a "+
			"DELETE job are not part of this queue", queue),
		system.Lacks(system.Priorities, "rows are taken in their order; a column to order by is "+
			"not part of this queue", queue),
		system.Lacks(system.DelayedDelivery, "a row can be taken as soon as it is committed; a "+
			"column with a due time is not part of this queue", queue),
		system.Lacks(system.DeadLetters, "ROLLBACK returns a row, and nothing counts how often; "+
			"a column of attempts and a second table are not part of this queue", queue),
		system.Lacks(system.FlowControl, "a table has no bound but the disk", docs+"limits"),
		system.Has(system.Transactions, "publishing is an INSERT, in any transaction",
			docs+"transactions"),
	}
}
