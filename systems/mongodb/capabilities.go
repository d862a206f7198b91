package mongodb

import "github.com/plimsoll-bench/plimsoll/system"

// variant names the stand-in that plimsoll would start.
func variant(o system.Options) string {
	if len(o.Endpoints) == 0 && chosen(o.Settings) == serverJava {
		return "on " + kindJava
	}
	return ""
}

// capabilities are what follows from MongoDB's documentation for this queue, beside what plimsoll
// tries.
func capabilities(system.Options) []system.Statement {
	const docs = "MongoDB's documentation, "
	const routes = "the server routes nothing; consumers may query any field of a document, and " +
		"a document that several of them want needs a lease for each"
	return []system.Statement{
		system.Lacks(system.Replay, "the acknowledgement of the last subscription deletes the "+
			"document", "this package's queue"),
		system.HasIf(system.ExactlyOnce, "the publisher chooses the _id, and the first copy has "+
			"not been acknowledged and deleted; and readers recognise copies",
			docs+"unique indexes"),
		system.Has(system.PublisherAcks, "w: 0 waits for nothing, 1 for one server, majority for "+
			"a majority of a replica set; a refusal is an error, such as that of a duplicate _id",
			docs+"write concern"),
		system.HasIf(system.RoutingDirect, "a topic for each key", "this package's queue"),
		system.Lacks(system.RoutingPattern, routes, docs+"queries"),
		system.Lacks(system.RoutingHeaders, routes, docs+"queries"),
		system.Lacks(system.MessageTTL, "a TTL index removes documents, once a minute, read or "+
			"not: this queue has none", docs+"TTL indexes"),
		system.Lacks(system.Priorities, "consumers take the smallest _id; a priority would be a "+
			"field before it in index and sort, which this queue does not have",
			"this package's queue"),
		system.HasIf(system.DelayedDelivery, "the publisher writes the lease of the subscription",
			"this package's queue"),
		system.Lacks(system.DeadLetters, "there is no rejection: after its lease a message comes "+
			"again; a consumer may count deliveries in the document and move it itself",
			"this package's queue"),
		system.Lacks(system.FlowControl, "no collection can refuse more: a capped collection "+
			"removes its oldest documents, read or not", docs+"capped collections"),
		system.HasIf(system.Transactions, "a replica set of mongod", docs+"transactions"),
	}
}
