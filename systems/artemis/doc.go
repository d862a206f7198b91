// Package artemis is all there is to know about ActiveMQ Artemis: a driver on AMQP 1.0, and two
// servers on this machine from the project's own distribution.
//
// Plimsoll's words on it: a partition is a multicast address, called topic.partition; a
// subscription is a durable queue on each of these addresses, called
// topic.partition.subscription, which its consumers name as address::queue; a consumer reads
// the queues of all partitions, so that the consumers of a subscription share each of them and
// order holds within one consumer only. The same rule holds for one subscription and for
// many: an anycast queue, the usual form of a queue, has room for one. Until the first
// subscription a queue called plimsoll-unread holds a partition's messages, because a server
// accepts a message to an address without queues, and drops it. Which partition a key goes to
// is the engine's rule. Topics and subscriptions are made by messages to activemq.management.
//
// # Two servers
//
// One server takes the clients. The setting replication says how the second one follows it:
//
//	pair       a primary copies its journal to a backup, which takes its place
//	zookeeper  the same, and ZooKeeper decides which of the two is active
//	mirror     a server repeats everything on another one over AMQP; nothing moves the clients
//
// Clients try all endpoints of a pair and find the active server again after a failover. Of a
// mirror they use the first endpoint only: the second one takes clients as well, and what it
// were sent would be nowhere else. Of the three nodes that a target has by default, servers
// take two and ZooKeeper the third, where there is one.
//
// # What an acknowledgement is worth
//
// A server accepts a durable message when its journal file has it, and with journal-datasync
// when that is synced. A primary also waits until its backup has received the message, and a
// server with a mirror whose sync is true until the mirror has accepted it.
//
//	level 1  mirror, sync=true, and journal-datasync=true with journal-type ASYNCIO on both
//	level 2  pair, or mirror with sync=true
//	level 3  mirror, sync=false, and journal-datasync=true with journal-type ASYNCIO on both
//	level 4  mirror, sync=false, and journal-datasync=false
//
// What the vendor calls a replicated and synced journal, a pair with journal-datasync, is
// worth one disk and one memory: the backup never syncs. Whether the servers of a mirror sync
// before they answer is decided by their journal-type. A mirror commits each message without
// asking for a sync. NIO and MAPPED therefore answer first. ASYNCIO leaves syncing to its
// library, which calls fdatasync after every write that has ended, asked for or not, and only
// then lets the answer go. This was measured with Artemis 2.44.0, journal-datasync and
// journal-sync-non-transactional true on both servers, and durable messages to a multicast
// address with one queue, sent one after another, while each sync of the mirror took 100 ms
// longer:
//
//	NIO      13 ms, and no fdatasync at the mirror for 20 messages
//	MAPPED   66 ms (30 ms without a delay), and no msync
//	ASYNCIO  124 ms and 306 ms in two runs, and 26 fdatasync for 20 messages
//
// With NIO the first server is no better. Of nine messages, sent while each of its syncs took
// 100 ms longer, four were acknowledged within 7 ms; the others waited for the sync of an
// earlier one.
//
// ASYNCIO takes libaio and a file system with direct input and output. Where a server lacks
// one of them it takes NIO; its management says so, and levels 1 and 3 are refused.
// TestAcknowledgementWaitsFor shows every level.
//
// What no level promises:
//
//   - A primary that lost its backup goes on alone, after connection-ttl, or at once when the
//     connection breaks, and then an acknowledgement is worth what one server is. A server
//     whose mirror's sync is true acknowledges nothing until the mirror is back.
//   - In a pair without ZooKeeper two servers that cannot reach each other both become active.
//   - A backup does not know of a mirror: mirrors of pairs are not made here.
//   - Consumers' acceptances are not answered, and are not synced with the messages: what was
//     accepted shortly before a server failed may come again, also at most once.
//
// # What is read back
//
// Management shows the journal's type, whether the server waits for it, the pair's state and
// the broker connections. It does not show journal-datasync and the mirror's sync. A server
// on this machine is told to write its configuration into its folder for temporary files
// (exportConfigAsProperties); the file is read and removed. For a server on another machine
// the target states journal-datasync, and the result says so. A backup takes no clients, so
// nothing is read from it.
//
// # Limits
//
// The server bounds what producers send by credit: when it has none, as on a full disk, Send
// blocks, and after send_timeout the message is unknown. Plimsoll's servers deliver a message
// for as often as it takes (max-delivery-attempts=-1); by default the tenth failure drops it.
package artemis
