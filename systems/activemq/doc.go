// Package activemq is all there is to know about ActiveMQ Classic: a driver over AMQP 1.0,
// and brokers on this machine, with the store that the setting store names:
//
//	leveldb  5.14.5, replicated LevelDB: three or more brokers, one of which is the master,
//	         and a ZooKeeper server through which they elect it
//	kahadb   5.18.3, KahaDB: one broker
//
// Replicated LevelDB was removed in ActiveMQ 5.17. The published measurements of 2017 have it.
//
// # Terms
//
// A partition is the virtual topic VirtualTopic.topic.partition. A subscription is a queue on
// each of them, Consumer.subscription.VirtualTopic.topic.partition, into which the broker
// copies what producers send. All subscriptions, the first one too, are made by this rule.
// When a producer opens before the first of them, queues of the subscription plimsoll-holds keep
// the messages until then, because a virtual topic drops what no queue takes. With the setting
// destination at queue a partition is a queue, and a topic has one subscription: the broker makes
// one copy less.
//
// Each producer and each consumer has a connection. A consumer has a link from every queue of
// its subscription, so that the consumers of a subscription share each partition, and order
// holds within one consumer only. Everything beside the messages goes through JMX, which the
// brokers show over HTTP by Jolokia: in their web console, or, in the brokers that plimsoll
// starts, by Jolokia's agent at the same port and path.
//
// # What an acknowledgement is worth
//
// A durable message is accepted when the store of the master has it. A broker carries out one
// message of a connection after another, so a producer has one write to the store at a time,
// whatever it has in flight: more producers, and not more messages in flight, give a higher
// rate. Replicated LevelDB's sync decides what the store waits for:
//
//	level 1  quorum_disk  the master's sync, and a majority of the brokers in all
//	level 2  quorum_mem   a majority, without the master's sync
//	level 3  local_disk   the master's sync
//	level 4  local_mem    the master's memory
//
// A slave syncs what it writes before it answers, at quorum_mem too (levels_test.go delays
// syncs on both sides). KahaDB gives level 3 by journalDiskSyncStrategy always, and level 4 by
// periodic or never. Both are read from the live stores through JMX. A KahaDB store does not
// show its strategy there by itself: the configuration exports the store's bean to JMX as
// plimsoll:type=KahaDB, and servers that plimsoll has not started need the same lines.
//
// What no level promises:
//
//   - The brokers elect the one with the newest store among a majority. At levels 3 and 4 that
//     may be a store without acknowledged messages, when the master is gone.
//   - One ZooKeeper server runs, so nobody is elected while it is gone, and a master that loses
//     its session gives up its place and may end. A machine whose processors are taken for
//     seconds needs a longer zk_session_timeout.
//   - Brokers that start at the same time sometimes end at once, because they meet one another
//     half started in ZooKeeper. A testbed starts them in turn and tries again; after a fault
//     that has ended all of them, a broker may stay away.
//   - A LevelDB store whose broker ends without a clean stop replays its log. In 5.14.5 it writes
//     the removal of a queue as one number and reads it back as a record: the replay ends there
//     with an EOFException in the broker's output, and all that the log has behind it stays out of
//     the store, on every broker, although it is synced to every disk. So a queue that is deleted
//     after the store's last snapshot costs all messages since, when all brokers end at once.
//   - Acceptance of a received message is not answered. What a consumer had accepted just
//     before the master failed may come again.
//   - A virtual topic copies to the queues that exist. A queue that was never written to may
//     be gone after a failover, until its consumer is back: then messages of that partition
//     are acknowledged and reach no subscription.
//
// # When the master moves
//
// Only the master opens its port to clients, so clients try every endpoint, again and again
// until failover_timeout. Messages without an answer end with an unknown outcome, and nothing
// is sent twice.
//
// # Security
//
// Clients show a user and a password (simpleAuthenticationPlugin), to Jolokia too, over TLS
// with security tls. Brokers show each other a security token; what they replicate is not
// encrypted, and ZooKeeper asks for no password. ZooKeeper holds addresses and no messages.
package activemq
