// Package activemq has everything about ActiveMQ Classic: a driver over AMQP 1.0,
// and brokers on this machine, with the store that the setting "store" selects:
//
//	leveldb  5.14.5, replicated LevelDB: three or more brokers, one of which is the master,
//	         and a ZooKeeper server through which they elect it
//	kahadb   5.18.3, KahaDB: one broker
//
// Replicated LevelDB was removed in ActiveMQ 5.17. The published measurements of 2017 have it.
//
// # Terms
//
// A partition is the virtual topic VirtualTopic.topic.partition. A subscription has a queue for
// each partition, Consumer.subscription.VirtualTopic.topic.partition, into which the broker copies
// the producers' messages. This holds for the first subscription too. A virtual topic without a
// queue drops its messages. So when a producer opens before the first subscription, the queues of
// a subscription plimsoll-holds keep the messages until then. With destination=queue a partition
// is a queue, a topic has one subscription, and the broker makes one copy less.
//
// Each producer and each consumer has a connection. A consumer has a link from every queue of its
// subscription. So the consumers of a subscription share each partition, and order holds only
// within one consumer. Administration goes through JMX, which the brokers serve over HTTP with
// Jolokia: in their web console or, in brokers that plimsoll starts, with Jolokia's agent at the
// same port and path.
//
// # What an acknowledgement is worth
//
// A durable message is accepted when the master's store has it. A broker handles the messages of a
// connection one by one, so a producer has one write to the store at a time, however many messages
// it has in flight. Only more producers raise the rate. Replicated LevelDB's sync decides what the
// store waits for:
//
//	level 1  quorum_disk  the master's sync, and a majority of the brokers in all
//	level 2  quorum_mem   a majority, without the master's sync
//	level 3  local_disk   the master's sync
//	level 4  local_mem    the master's memory
//
// A slave syncs its writes before it answers, also with quorum_mem (levels_test.go delays syncs on
// both sides). KahaDB gives level 3 with journalDiskSyncStrategy always, and level 4 with periodic
// or never. Both stores' settings are read from the live brokers through JMX. KahaDB does not show
// its strategy by itself: the configuration exports the store's bean to JMX as
// plimsoll:type=KahaDB. Brokers that plimsoll did not start need the same lines.
//
// What no level promises:
//
//   - A majority of the brokers elects its member with the newest store. At levels 3 and 4, when
//     the master is gone, that store may lack acknowledged messages.
//   - Only one ZooKeeper server runs. While it is down no master is elected, and a master that
//     loses its session steps down and may exit. A machine that starves its processes for seconds
//     needs a longer zk_session_timeout.
//   - Brokers that start at the same time sometimes exit, because they read each other's
//     unfinished entries in ZooKeeper. A testbed starts them in turn and retries; after a fault
//     that ended all of them, a broker may not come back.
//   - A LevelDB store replays its log when its broker did not stop cleanly. 5.14.5 writes the
//     removal of a queue as a number and reads it back as a record. The replay stops there with an
//     EOFException in the broker's output, and every later entry is lost on every broker, although
//     it is synced to every disk. So if a queue was deleted after the store's last snapshot and
//     all brokers end at once, all messages since are lost.
//   - The broker does not confirm that a consumer accepted a message. Messages accepted just
//     before the master failed may be delivered again.
//   - A virtual topic copies to the queues that exist. A queue that never had a message may be
//     gone after a failover until its consumer reconnects. Meanwhile messages of that partition
//     are acknowledged and reach no subscription.
//
// # When the master moves
//
// Only the master opens its port to clients, so clients try all endpoints in turn until
// failover_timeout. A message without an answer has an unknown outcome and is not sent again.
//
// # Security
//
// Clients authenticate with a user and a password (simpleAuthenticationPlugin), to Jolokia too;
// with security=tls over TLS. Brokers authenticate to each other with a security token.
// Replication is not encrypted, and ZooKeeper asks for no password. ZooKeeper holds addresses and
// no messages.
package activemq
