// Package eventstore is all there is to know about EventStoreDB, which is called KurrentDB since
// 2024: a driver on the vendor's Go client. It was not tried against a real server, because no
// package registry has one. Its tests run against a server of their own that speaks the published
// gRPC protocol, and keeps nothing on a disk. Plimsoll starts no servers of it: a target names
// endpoints.
//
// Plimsoll's words on it: a partition is a stream, called topic-0-0, topic-0-1 and so on; a
// subscription is a persistent subscription (a group) on each stream of the topic; a consumer is a
// subscriber of all of these groups, so the consumers of a subscription share each partition, and
// order holds within one consumer only. The key of a message is the metadata of its event. The
// leader takes all writes and serves all groups. It is found by gossip, again after each lost
// connection.
//
// # What an acknowledgement is worth
//
// The vendor's server source says (ClusterStorageWriterService, StorageWriterService,
// LeaderReplicationService and ReplicationTrackingService, each read in one stored version, not
// all of the same release): the leader takes as replicated what its own log has flushed
// and a majority of the nodes, itself included, has confirmed, and then answers the append. A
// follower confirms what it has written, and the leader counts that position (WriterLogPosition).
// The follower asks for a flush first, and that flush is put off while more writes wait, until
// min-flush-delay-ms has passed. So the acknowledgement of a cluster is a sync on the leader and
// a write on a majority. That is level 2 and a sync more, and not level 1: when the leader is
// destroyed and a follower loses its power, what that follower had not flushed is gone. One node
// alone gives level 3, and with unsafe-disable-flush-to-disk level 4.
//
// The number of nodes and the leader are read by gossip. Whether the nodes flush is read from
// GET /info/options, which needs a user of the group $admins; otherwise the evidence says that it
// is stated and not read.
//
// # Sending
//
// A producer has up to append_connections connections, each with one append under way, and each
// partition belongs to one of them, so that order within a partition holds. What comes meanwhile
// goes with the next append, up to append_max events and append_bytes: an append is one atomic
// write to one stream. Appends expect no revision (Any).
//
// The library repeats nothing, and the driver repeats only what no server can have taken:
// there was no connection, or the node answered that it is not the leader. Each message has an
// event id of its own, a random number of the producer and a count, which stays the same when it
// is sent again. The server answers a repeated append as it answered the first when it still finds
// the event ids; with Any the vendor calls that best effort.
//
// The library takes a client out of service for good when it cannot find a node, blocks the calls
// that run beside that one for ever, and panics when it is closed beside a call. So a client of
// the library has one call at a time here, and is replaced after each error of its connection.
//
// # Receiving
//
// Delivery is at least once. There is no mode without acknowledgements, and no acknowledgement is
// answered: what a group has processed is saved now and then (checkpoint_after, checkpoint_min,
// checkpoint_max), and a leader that ends or loses its place has the group begin at the last
// checkpoint. So copies arrive after a failover, and at most once is not offered. A message
// without an acknowledgement comes again after message_timeout, or at once when its consumer
// disconnects. After max_retries it is parked and comes to no consumer any more: the account of
// the run shows it as lost.
//
// Acknowledgements go out together, all that were handled while the last ones were written. A
// consumer that closes gives its last ones a moment, because the library cancels its stream and
// the server does not answer them.
//
// # Credentials
//
// The library sends user and password over TLS only. It takes no client certificate but from
// files, and no other server name than the endpoint's, so targets with these are refused. Managing
// persistent subscriptions takes a user of the group $ops or $admins.
package eventstore
