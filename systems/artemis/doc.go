// Package artemis has everything about ActiveMQ Artemis: a driver on AMQP 1.0, and two
// servers on this machine from the project's own distribution.
//
// Plimsoll's words on Artemis: a partition is a multicast address, called topic.partition. A
// subscription is a durable queue on each of these addresses, called topic.partition.subscription;
// consumers name it as address::queue. A consumer reads the queues of all partitions. So the
// consumers of a subscription share each partition, and order holds only within one consumer. This
// is so for one subscription and for many; an anycast queue, the usual form of a queue, has room
// for one only. Until the first subscription opens, a queue called plimsoll-unread holds a
// partition's messages, because a server accepts and drops messages to an address without queues.
// plimsoll chooses the partition of a key. Topics and subscriptions are created by messages to
// activemq.management.
//
// # Two servers
//
// One server accepts the clients. The setting replication says how the second server follows it:
//
//	pair       a primary copies its journal to a backup, which takes its place
//	zookeeper  the same, and ZooKeeper decides which of the two is active
//	mirror     a server repeats everything on another one over AMQP; nothing moves the clients
//
// Clients try all endpoints of a pair and find the active server again after a failover. With a
// mirror they use the first endpoint only: the second server accepts clients too, but its messages
// would be on no other server. Of the three nodes that a target has by default, two are servers;
// the third is ZooKeeper or unused.
//
// # What an acknowledgement is worth
//
// A server accepts a durable message when it is written to the journal file and, with
// journal-datasync, when that file is synced. A primary also waits until its backup has received
// the message. A server with a mirror whose sync is true waits until the mirror has accepted it.
//
//	level 1  mirror, sync=true, and journal-datasync=true with journal-type ASYNCIO on both
//	level 2  pair, or mirror with sync=true
//	level 3  mirror, sync=false, and journal-datasync=true with journal-type ASYNCIO on both
//	level 4  mirror, sync=false, and journal-datasync=false
//
// A pair with journal-datasync, which the vendor calls a replicated and synced journal, gives one
// disk and one memory: the backup never syncs. The journal-type decides whether the servers of a
// mirror sync before they answer. A mirror commits each message without requesting a sync, so with
// NIO and MAPPED it answers first. ASYNCIO's library calls fdatasync after every completed write,
// requested or not, and only then sends the answer. This was measured with Artemis 2.44.0,
// journal-datasync and journal-sync-non-transactional true on both servers, and durable messages
// to a multicast address with one queue, sent one after another, while each sync of the mirror
// took 100 ms longer:
//
//	NIO      13 ms, and no fdatasync at the mirror for 20 messages
//	MAPPED   66 ms (30 ms without a delay), and no msync
//	ASYNCIO  124 ms and 306 ms in two runs, and 26 fdatasync for 20 messages
//
// With NIO the first server does not wait either. Of nine messages, sent while each of its syncs
// took 100 ms longer, four were acknowledged within 7 ms; the others waited for the sync of an
// earlier one.
//
// ASYNCIO needs libaio and a file system with direct input and output. A server that lacks one of
// them uses NIO; its management says so, and levels 1 and 3 are refused.
// TestAcknowledgementWaitsFor shows every level.
//
// What no level promises:
//
//   - A primary that lost its backup goes on alone: after connection-ttl, or at once when the
//     connection breaks. An acknowledgement is then worth one server. A server whose mirror's sync
//     is true acknowledges nothing until the mirror is back.
//   - In a pair without ZooKeeper two servers that cannot reach each other both become active.
//   - A backup does not know of a mirror: mirrors of pairs are not made here.
//   - Consumers' acceptances are not confirmed, and are not synced with the messages. Messages
//     accepted shortly before a server failed may be delivered again, also at most once.
//
// # What is read back
//
// Management shows the journal's type, whether the server waits for it, the pair's state and
// the broker connections. It does not show journal-datasync and the mirror's sync. A server on
// this machine is asked to write its configuration into its folder for temporary files
// (exportConfigAsProperties); the file is read and removed. For a server on another machine the
// target states journal-datasync, and the result says so. A backup accepts no clients, so nothing
// is read from it.
//
// # Limits
//
// The server limits producers by credit. When it gives none, as on a full disk, Send blocks, and
// after send_timeout the message's outcome is unknown. Plimsoll's servers deliver a message
// without a limit of attempts (max-delivery-attempts=-1); by default the tenth failure drops it.
package artemis
