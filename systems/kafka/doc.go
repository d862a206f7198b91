// Package kafka is all there is to know about Apache Kafka and what speaks its
// protocol: a driver on franz-go, and a KRaft cluster on this machine from
// pinned Maven coordinates.
//
// Plimsoll's words on it: topic and partition are Kafka's own, a subscription
// is a consumer group, a consumer is a member of it, an acknowledgement of a
// publish is the leader's answer to the produce request. Each producer and each
// consumer has a client of its own, and so connections of its own to each
// broker.
//
// Durability follows from the topic's configuration and the producers' acks
// (durability.go); it is read back from the live cluster before any load.
//
// Delivery. At most once commits the position before messages are handled, at
// least once commits it every auto_commit_interval for what was handled. Exactly
// once sends in transactions and reads what was committed; a publish then counts
// as acknowledged when its transaction is. It covers the way from the producer
// to the reader: a reader that dies between handling a message and committing
// its position sees that message again.
//
// A consumer that runs gets nothing twice (driver.go): no acknowledgement times
// out, and positions only go forward.
//
// Messages without a key stay with a partition for linger, in the way of the Java
// client's batches (driver.go).
//
// The package promises nothing about clusters that rewrite what is asked: what
// such a cluster reports is held against the level, and it is refused when they
// differ.
package kafka
