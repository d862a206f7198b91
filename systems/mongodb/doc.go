// Package mongodb is all there is to know about MongoDB as a queue: a driver on the
// official Go library, and servers on this machine.
//
// MongoDB has no queue. The queue here is the one of SoftwareMill's study: a message is a
// document, a consumer takes documents by findOneAndUpdate, which leases a document until
// a time, and acknowledges by deleting them.
//
// Plimsoll's words on it: a topic is a collection; a partition is a number in the
// document; a subscription is a numbered field of the document, which holds the lease (l0
// for the first subscription of the topic). The collection plimsoll.topics has a document
// for each topic, with its partitions and the names of its subscriptions. All topics are
// in one database. A message is one document, however many subscriptions there are.
//
// # Which server was behind it
//
// The driver asks the server at the endpoints what it is (buildInfo). Every result says so,
// among the versions and the facts of the durability:
//
//   - mongod is MongoDB's own server. Only it can have levels 1 to 3.
//   - mongo-java-server is a server that speaks the protocol, with an H2 file behind it.
//     It has no replica set, no login and no index but that of _id. It accepts every write
//     concern and honours none: it writes its file once a second. It serves to test this
//     driver. Figures of speed or of durability from it say nothing of MongoDB.
//   - FerretDB is a proxy to PostgreSQL or SQLite. Version 1.24 hands the same document to
//     several consumers, because its findAndModify is not atomic; see
//     docs/results/MONGODB.md.
//
// No package registry has mongod. plimsoll starts a replica set when mongod is on the PATH,
// and mongo-java-server (from Maven) otherwise. The code that starts a replica set, and the
// code that reads its durability back, have not been tried against a real mongod: no
// machine of this project had one. Tests hold the answers that MongoDB documents against
// the levels, and the refusals.
//
// # What an acknowledgement is worth
//
// The level is the write concern of insertMany:
//
//	1  w: majority, j: true   a majority of members has the documents in its journal, synced
//	2  w: majority, j: false  a majority has them in memory
//	3  w: 1, j: true          the primary has them in its journal, synced
//	4  w: 1, j: false         the primary has them in memory; the journal is synced
//	                          every 100 ms
//
// Level 2 also needs writeConcernMajorityJournalDefault: false in the configuration of the
// replica set; with true, the majority's position is that of the journals, and level 1 asks
// for it. Both are read back by replSetGetConfig. The member that an election chooses has
// every write of level 1, and of level 2 as long as no majority loses its memory at once.
// An election may roll back what levels 3 and 4 acknowledged.
//
// What no level promises: that a message comes once. A lease that passes, and the rollback
// of a lease or of a deletion, deliver a message again. Consumers lease and delete at w: 1,
// because no acknowledgement of a publish depends on it. At most once deletes at the
// level's write concern.
//
// # Sending
//
// A producer has one insertMany under way, and what comes meanwhile is the next one. With
// ordered (the default), a document that the server refuses stops the rest of its batch,
// which is refused too. A write concern that is not reached leaves the outcome of the batch
// unknown. A batch is kept while no primary is known, for delivery_timeout. The library
// repeats a write once after a lost connection, where the servers of a replica set recognise
// the copy. Nothing else is repeated. The driver chooses each _id, so that they grow with
// the order of sending, across all producers of the process.
//
// # Receiving
//
// A take is a round trip for each message. MongoDB has no take that waits: a consumer that
// found nothing asks again after poll, which is part of the end-to-end latency. The
// consumer takes the smallest _id without a lease. Once a second or more often it takes
// documents whose lease has passed. Times are of the clients' clocks, which have to agree
// to within a fraction of the lease. At most once deletes at once (findOneAndDelete).
//
// With one subscription an acknowledgement is one deleteMany for up to receive_max
// messages. With several, it is an update that marks the documents, and a deletion of those
// that all subscriptions have marked. A consumer reads the list of subscriptions at least
// every half a second before it deletes; a further subscription waits that long before it
// is open.
//
// A consumer that closes in good order acknowledges what it took. A consumer that dies, or
// loses the answer to a take, leaves leases, whose messages come again after lease.
package mongodb
