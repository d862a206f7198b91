// Package rocketmq has everything about Apache RocketMQ 5: a driver that speaks to name servers
// and brokers, and a name server, a master and its slaves on this machine, from the project's own
// jars.
//
// Plimsoll's words on RocketMQ: a partition is a queue of a topic. Each master has an equal share
// of a topic's queues, and its slaves copy it. A subscription is a consumer group, called
// topic--subscription, because a group is not of one topic. A consumer is a member of the group
// and has its queues for itself: order holds across the consumers. The endpoints of a target are
// name servers, and may be brokers too. The name servers name the brokers, which must be reachable
// from here.
//
// # The client
//
// plimsoll's own client sends the requests that it needs in RocketMQ's remoting protocol, with
// JSON headers. The vendor's clients cannot keep plimsoll's contract. That of version 5 speaks to
// a proxy and does not let a sender choose the queue; it logs to files in the user's home, for the
// whole process, and would make plimsoll 2.6 MB larger. That of version 4 has global state, too,
// and sends a message again by itself.
//
// Consumers pull, and commit the group's offset with the next pull. The other way, POP, which the
// proxy uses, keeps no order between consumers: it writes a message to the commit log for what it
// lends and for what is acknowledged, and takes back what was not, by a timer. The messages that
// plimsoll sends have no UNIQ_KEY, so that brokers have no index to write.
//
// # What an acknowledgement is worth
//
// A broker appends a message to its commit log, a file in memory. With flushDiskType SYNC_FLUSH it
// answers when it has synced that file. With brokerRole SYNC_MASTER it answers when inSyncReplicas
// brokers, itself among them, have the message. inSyncReplicas is 1 by default, so SYNC_MASTER
// alone waits for no slave (CommitLog.handleHA of 5.5.0). A slave reports what it has appended,
// and syncs later, whatever its flushDiskType (DefaultHAClient.dispatchReadRequest): there is no
// level 1.
//
//	level 2  SYNC_MASTER, and inSyncReplicas a majority of the copies
//	level 3  ASYNC_MASTER, and SYNC_FLUSH on the master
//	level 4  ASYNC_MASTER, and ASYNC_FLUSH on the master
//
// TestAcknowledgementWaitsFor shows each with delayed syncs and paused slaves. A broker that has
// not synced within syncFlushTimeout, or has not heard from enough slaves within slaveTimeout,
// says so (FLUSH_DISK_TIMEOUT, FLUSH_SLAVE_TIMEOUT). It has stored the message, and the message's
// outcome is unknown. The levels are read back from each broker (GET_BROKER_CONFIG), and the
// slaves that follow from each master.
//
// What no level promises:
//
//   - No slave takes the place of a lost master. The controller of RocketMQ 5, which elects one, is
//     not part of plimsoll's servers.
//   - With ASYNC_FLUSH the file is synced every half second. A master that loses its power comes
//     back without the messages since, at level 2 too: in four rounds of plimsoll verify 0, 154,
//     903 and 1,108 of 35,000 acknowledged messages were lost so. The slaves have them, and the
//     master does not ask. With flushDiskType SYNC_FLUSH two rounds lost none of 69,841.
//   - After that the slaves' logs are longer than the master's. Until its log is as long as theirs,
//     it counts them as having what they have not, and where its log passes theirs they go on with
//     it: the logs differ from then on. This is read from the source (DefaultHAConnection of 5.5.0:
//     a slave's offset alone is compared), and was not tried.
//   - The offsets of groups are saved every five seconds. A broker that dies delivers messages
//     again that were acknowledged before, also at most once.
//   - A master counts connections of slaves, not slaves.
//   - Slaves copy topics and groups once a minute, not with the messages.
//
// # Sending
//
// A producer has one batch under way to each broker: one request for each partition
// (SEND_BATCH_MESSAGE). A broker's threads handle requests of one connection in no order, so that
// more of them would change the order of messages. A message of which no broker has anything,
// because there was no connection, the broker does not write yet, or the request waited for a
// thread for more than waitTimeMillsInSendQueue (200 ms; SYSTEM_BUSY), is kept for
// delivery_timeout. Nothing else is repeated.
//
// # Receiving
//
// Members tell the brokers of themselves by heartbeats, ask for the list of members, and compute
// who has which queue, as the vendor's clients do. When a member joins, messages that the previous
// owner of a queue has not committed yet may arrive twice. A message cannot be given back here:
// the vendor's clients send it to another topic of the group.
//
// # Servers on this machine
//
// Brokers listen for their slaves on every address of the machine (haListenPort), without TLS and
// without a password, whatever the setting security says: RocketMQ cannot do otherwise. The name
// server asks for no password either.
package rocketmq
