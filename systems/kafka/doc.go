// Package kafka measures Apache Kafka and systems that speak its protocol. It has a
// driver on franz-go, and starts KRaft clusters on this machine from pinned Maven
// coordinates.
//
// # Terms
//
// Topic and partition are Kafka's own. A subscription is a consumer group, and a
// consumer is a member of it. The acknowledgement of a publish is the leader's answer to
// the produce request. Each producer and each consumer has a client, and therefore
// connections, of its own.
//
// # Durability
//
// Durability follows from the topic's configuration and the producers' acks
// (durability.go). It is read back from the live cluster before any load. A cluster that changes
// the requested configuration is refused if the changed configuration does not give the level.
//
// # Delivery
//
// At most once commits the position before messages are handled. At least once commits
// the position of handled messages every auto_commit_interval. Exactly once sends in
// transactions and reads committed messages. A publish then counts as acknowledged when
// its transaction is committed. Exactly once covers the path from the producer to the
// reader: a reader that dies between handling a message and committing its position
// receives that message again.
//
// # Types of groups
//
// A subscription is a classic consumer group, unless group_type says otherwise (grouptype.go). The
// brokers assign the partitions of a group of type consumer, whose heartbeats (1s where plimsoll
// starts the brokers) and time-outs are the brokers' settings. The members of a share group
// (share.go) take single records, acknowledge each by itself or give it back, and get a record
// again that nobody acknowledged within record_lock_duration; after five deliveries the brokers
// drop it, acknowledged or not.
//
// A running member of a consumer group receives nothing twice (driver.go):
// acknowledgements do not time out, and positions only go forward.
//
// Messages without a key stay with one partition for the time linger, like the Java client's
// batches (driver.go).
package kafka
