// Package eventstore has everything about EventStoreDB, which is called KurrentDB since
// 2024: a driver on the vendor's Go client. The driver was not tried against a real server,
// because no package registry has one. Its tests run against a server of their own, which speaks
// the published gRPC protocol and writes nothing to disk. Plimsoll starts no EventStoreDB servers:
// a target names endpoints.
//
// Plimsoll's words on EventStoreDB: a partition is a stream, called topic-0-0, topic-0-1 and so
// on; a subscription is a persistent subscription (a group) on each stream of the topic; a
// consumer subscribes to all of these groups, so the consumers of a subscription share each
// partition, and order holds only within one consumer. The key of a message is the metadata of its
// event. The leader takes all writes and serves all groups. plimsoll finds the leader by gossip,
// and again after each lost connection.
//
// # What an acknowledgement is worth
//
// The vendor's server source says (ClusterStorageWriterService, StorageWriterService,
// LeaderReplicationService and ReplicationTrackingService, each read in one stored version, not
// all of the same release): the leader answers an append when its own log has flushed it and a
// majority of the nodes, itself included, has confirmed it. A follower confirms its written
// position (WriterLogPosition). It requests a flush before, but postpones the flush while more
// writes wait, until min-flush-delay-ms has passed. So a cluster acknowledges after a sync on the
// leader and a write on a majority. That is level 2 with an additional sync, not level 1: if the
// leader is destroyed and a follower loses its power, the messages that the follower had not
// flushed are lost. A single node gives level 3, and with unsafe-disable-flush-to-disk level 4.
//
// The number of nodes and the leader are read by gossip. Whether the nodes flush is read from
// GET /info/options, which needs a user of the group $admins; otherwise the evidence says that the
// value is stated and not read.
//
// # Sending
//
// A producer has up to append_connections connections, each with one append at a time. Each
// partition belongs to one connection, so that order within a partition holds. Messages that come
// during an append go with the next one, up to append_max events and append_bytes. An append is
// one atomic write to one stream. Appends expect no revision (Any).
//
// The library repeats nothing. The driver repeats only an append that no server can have written:
// there was no connection, or the node answered that it is not the leader. Each message has its
// own event id, a random number of the producer and a count, which stays the same when the message
// is sent again. The server answers a repeated append like the first if it still finds the event
// ids; with Any the vendor calls that best effort.
//
// A client of the library that cannot find a node stops working for good and blocks its other
// calls for ever; it panics when it is closed during a call. So the driver makes one call at a
// time on each client, and replaces the client after each error of its connection.
//
// # Receiving
//
// Delivery is at least once. There is no mode without acknowledgements, and the server does not
// confirm an acknowledgement. It saves a group's position now and then (checkpoint_after,
// checkpoint_min, checkpoint_max), and after a change of the leader the group begins at its last
// checkpoint. So copies arrive after a failover, and at most once is not offered. A message
// without an acknowledgement is redelivered after message_timeout, or at once when its consumer
// disconnects. After max_retries it is parked and reaches no consumer any more: the run's account
// shows it as lost.
//
// Acknowledgements are batched: events handled while a batch is written go with the next one. A
// consumer that closes waits a moment after its last batch, because the library cancels the stream
// and the server does not confirm acknowledgements.
//
// # Credentials
//
// The library sends user and password over TLS only. It takes client certificates only from files,
// and no server name other than the endpoint's, so targets that ask for these are refused.
// Managing persistent subscriptions needs a user of the group $ops or $admins.
package eventstore
