// Package rabbitmq is all there is to know about RabbitMQ: a driver on
// amqp091-go, with streams on rabbitmq-stream-go-client, and a cluster on this
// machine from the distribution's package.
//
// Plimsoll's words on it. A topic is an exchange. A subscription is a set of
// queues, one for each partition, named topic.subscription.partition and bound
// by the partition's routing key (or headers); an acknowledgement of a publish
// is a publisher confirm. Until a subscription opens, queues named
// topic.partition hold the messages for nobody, because the servers send back
// what no queue takes; the first subscription deletes them. With streams those
// are all there is: every subscription reads them from the start, or from the
// offset stored under its name.
//
// Messages without a key go to the partitions one by one: a publisher names the
// routing key of each message, so the client libraries have no way of their own of
// dealing them (the package is no system.Spreader).
//
// Consumers. Each queue is received by one consumer of its subscription, so
// that a partition's messages stay in order: the first has all, Settle shares
// them out evenly, and what a consumer leaves goes to the others. Another
// process that opens the same subscription shares the queues as RabbitMQ's
// consumers do, message by message and without order. Each queue has a channel
// of its own on its consumer's connection, because one acknowledgement for many
// messages means all that came on the channel before.
//
// Producers. Each has connections of its own, one by default, and publishes
// with the mandatory flag: a message that comes back is a failure, as is one
// that is refused (basic.nack). Confirms are taken as they come and not in the
// order of publishing, in which the library tells of them, so that a slow queue
// does not colour the latency of the others.
//
// When a connection is lost, producers and consumers go on at another endpoint;
// what was not confirmed ends with an unknown outcome. When the server holds
// producers back (connection.blocked, or by not reading), Send waits, and the
// wait is charged to the messages that were due.
//
// Delivery. At most once is basic.consume without acknowledgements, for which
// RabbitMQ has no prefetch; at least once acknowledges up to ack_batch messages
// at once, and at once when none waits. A stream's position is stored every
// stream_offset_interval, at most once before each chunk. A queue's message that its
// consumer has not acknowledged for the server's consumer_timeout, half an hour by
// default, comes again; a stream's never does (driver.go).
//
// Durability follows from the queue type, and is read back through the
// management API (durability.go). What it cannot read, ra's wal_sync_method, is
// known by whether a server has an advanced configuration at all.
package rabbitmq
