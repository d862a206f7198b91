// Package rabbitmq measures RabbitMQ. It has a driver on amqp091-go, with streams on
// rabbitmq-stream-go-client, and starts clusters on this machine from the distribution's
// package.
//
// # Terms
//
// A topic is an exchange. A subscription is a set of queues, one for each partition, named
// topic.subscription.partition and bound by the partition's routing key or headers. The
// acknowledgement of a publish is a publisher confirm. Until the first subscription opens,
// queues named topic.partition hold the messages, because the servers return messages
// that no queue takes. The first subscription deletes these queues. With streams the topic has
// only these: every subscription reads them from the start, or from the offset stored under its
// name.
//
// Messages without a key go to the partitions in turn. A publisher names the routing key
// of each message, so the client libraries have no rule for messages without a key.
//
// # Consumers
//
// Each queue has one consumer of its subscription, so a partition's messages stay in
// order. The first consumer has all queues, AwaitAssignment distributes them evenly, and
// the queues of a consumer that closes go to the others. Another process that opens the same
// subscription shares the queues like ordinary RabbitMQ consumers, message by message and without
// order. Each queue has a channel of its own on its consumer's connection, because an
// acknowledgement of many messages covers all earlier ones of the channel.
//
// # Producers
//
// Each producer has connections of its own, one by default, and publishes with the
// mandatory flag. A message that is returned or refused (basic.nack) is a failure.
//
// Messages, their confirms and their acknowledgements are written and read below the library
// (wire.go), on its connections and channels, because it allocates and wakes several goroutines for
// each of them. It has everything else. The goroutine that reads a connection handles what arrives,
// so while a consumer handles a message, answers on its connection wait. The messages between
// Gather and Flush leave together, and so do the acknowledgements of deliveries that arrived
// together.
//
// When a connection is lost, producers and consumers continue at another endpoint, and
// unconfirmed messages end with an unknown outcome. When the server blocks producers
// (connection.blocked, or by not reading), Send waits, and the wait counts towards the
// latency of the messages that were due.
//
// With protocol amqp10 queues have the clients of AMQP 1.0 (amqp10.go), of the kit: each message is
// a transfer of its own, and the consumers of a subscription share its queues.
//
// # Delivery
//
// At most once is basic.consume without acknowledgements, for which RabbitMQ has no prefetch, or by
// AMQP 1.0 a link whose messages are settled as they are sent. At least once acknowledges up to
// ack_batch messages together, and when no message waits, ack_delay after the first of them. A
// stream's position is stored every stream_offset_interval; with at most once before each chunk. A
// queue redelivers a message that its consumer has not acknowledged within the server's
// consumer_timeout, half an hour by default. A stream never redelivers (driver.go).
//
// # Durability
//
// Durability follows from the queue type and is read back through the management API
// (durability.go). The API does not show ra's wal_sync_method. The driver infers it from
// whether a server has an advanced configuration at all.
//
// # Versions
//
// Tried with RabbitMQ 3.10.8 and 4.0.5. Version 4 has no mirrored queues, and confirms a classic
// queue's message about 1 ms after it came while all syncs were delayed by 100 ms, with
// x-queue-version 1 as with 2: level 3 is refused there. Its servers find each other in another way
// (looksOf).
package rabbitmq
