// Package mongodb has everything about MongoDB as a queue: a driver on the
// official Go library, and servers on this machine.
//
// MongoDB has no queue. This one is the queue of SoftwareMill's study: a message is a document; a
// consumer takes a document with findOneAndUpdate, which sets a lease, and acknowledges by
// deleting it.
//
// Plimsoll's words on MongoDB: a topic is a collection; a partition is a number in the document; a
// subscription is a numbered field of the document, which holds the lease (l0 for the first
// subscription of the topic). The collection plimsoll.topics has a document for each topic, with
// its partitions and the names of its subscriptions. All topics are in one database. A message is
// one document, however many subscriptions there are.
//
// # Which server is it?
//
// The driver asks the server at the endpoints for its kind (buildInfo). Every result names the
// kind, in the versions and in the facts of the durability:
//
//   - mongod is MongoDB's own server. Only mongod can give levels 1 to 3.
//   - mongo-java-server is a server that speaks the protocol, with an H2 file behind it.
//     It has no replica set, no login and no index except that of _id. It accepts every write
//     concern and honours none, because it writes its file once a second. It serves to test this
//     driver. Figures of speed or of durability from it say nothing of MongoDB.
//   - FerretDB is a proxy to PostgreSQL or SQLite. Version 1.24 hands the same document to
//     several consumers, because its findAndModify is not atomic; see
//     docs/results/MONGODB.md.
//
// No package registry has mongod. plimsoll starts a replica set when mongod is on the PATH,
// and mongo-java-server (from Maven) otherwise. The code that starts a replica set, and the
// code that reads its durability back, have not been tried against a real mongod: no
// machine of this project had one. Tests use the answers that MongoDB documents, to check the
// levels and the refusals.
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
// replica set; with true, a majority's confirmation includes its journals, which level 1 needs.
// replSetGetConfig reads the value back. An elected member has every write of level 1, and every
// write of level 2 unless a majority loses its memory at once. An election may roll back messages
// that were acknowledged at levels 3 and 4.
//
// No level promises that a message is delivered once. An expired lease, and the rollback of a
// lease or a deletion, deliver a message again. Consumers lease and delete with w: 1, because no
// publish acknowledgement depends on it. At most once deletes with the level's write concern.
//
// # Sending
//
// A producer has one insertMany at a time; messages that come meanwhile form the next one. With
// ordered (the default), a refused document stops the rest of its batch, which is refused too. A
// write concern that is not reached leaves the outcome of the batch unknown. While no primary is
// known, a batch is kept for delivery_timeout. With a replica set, whose servers recognise the
// copy, the library repeats a write once after a lost connection. Nothing else is repeated. The
// driver chooses each _id, so that ids grow in the order of sending, across all producers of the
// process.
//
// # Receiving
//
// Taking a message is a round trip. MongoDB cannot wait for a document: a consumer that found
// nothing asks again after poll, which is part of the end-to-end latency. The consumer takes the
// smallest _id without a lease. At least once a second it takes documents with an expired lease.
// Leases use the clients' clocks, which must agree to within a fraction of the lease. At most once
// deletes at once (findOneAndDelete).
//
// With one subscription an acknowledgement is one deleteMany for up to receive_max
// messages. With several subscriptions, it is an update that marks the documents, and a deletion
// of the documents that all subscriptions have marked. Before it deletes, a consumer has read the
// list of subscriptions within the last half second; a new subscription waits that long before it
// is open.
//
// A consumer that closes acknowledges the messages that it took. A consumer that dies, or loses
// the answer to a take, leaves leases. Those messages are redelivered after lease.
package mongodb
