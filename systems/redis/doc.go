// Package redis has everything about Redis Streams: a driver on go-redis, and a primary with its
// replicas on this machine, from the distribution's redis-server. With server: valkey they are
// Valkey's, and every result names it a stand-in.
//
// Plimsoll's words on Redis: a partition is a stream, called topic:partition; a subscription is a
// consumer group on each stream of the topic; a consumer is a consumer of the group, and reads all
// partitions. So the consumers of a subscription share each partition, and order holds only within
// one consumer. Each producer and each consumer has a connection. All streams are on one primary.
// plimsoll finds it among the endpoints when a run connects, and does not follow it to another
// server. Redis Cluster is refused.
//
// # What an acknowledgement is worth
//
// An XADD is answered when the primary has it in memory and in the append-only file and, with
// appendfsync always, has synced the file. WAIT is answered when a given number of replicas have
// done the same. Levels 1 and 2 end each pipeline with one WAIT. If a WAIT times out, the
// pipeline's messages are unknown, because they are not undone. The levels are read back from the
// primary and from each replica that it names. The replicas must be reachable from here with the
// same credentials.
//
// What no level promises:
//
//   - WAIT is not consensus: it counts replicas and elects none. Without Sentinel no replica
//     replaces a lost primary. With Sentinel the new primary may lack messages that others
//     acknowledged, so a failover can lose acknowledged messages at every level.
//   - A replica becomes a copy of its primary, whatever data it has. A primary that loses its
//     power at level 2 or 4 comes back without the writes of the last second, and the replicas
//     drop them too. So level 2 loses acknowledged messages when a single server, the primary,
//     loses its power. Levels 1 and 3 do not.
//   - With everysec a write may also wait in the server's own memory, up to two seconds,
//     while a slow disk syncs: then even a crash of the process loses the write.
//   - A group's position is ordinary data. A primary that loses its last writes redelivers
//     messages, also at most once.
//
// # Sending
//
// A producer has one pipeline at a time. Messages that come meanwhile form the next one, up to
// pipeline_max. A message that no server can have received, because there was no connection or the
// primary is still loading its data, is kept for delivery_timeout. Nothing else is repeated. A
// message that the server answers with an error is refused; a message that it does not answer is
// unknown. XADD has NOMKSTREAM, so that a topic that was deleted stays deleted.
//
// # Receiving
//
// A consumer reads all of its streams with one XREADGROUP. At most once reads with NOACK. At least
// once sends the acknowledgements (XACK) of handled entries with the next read. Redis never takes
// an entry back from a dead consumer: the others claim it (XAUTOCLAIM) when it has been pending
// for claim_after. A consumer that closes first handles and acknowledges what it has read; what a
// consumer holds that dies, or has no time to close, waits for claim_after. A consumer that is
// merely slower than claim_after also loses messages to others, and they arrive twice.
//
// # Memory
//
// Streams are in memory, whole, and acknowledged entries stay. A run ends with refusals
// when maxmemory is full; plimsoll's servers have 1 GB each, and noeviction. max_length
// trims streams to their newest entries instead, read or not: the run's account shows entries
// trimmed unread as lost.
//
// # Versions
//
// Tried with Redis 7.0.15 and 8.0.2, and Valkey 8.1.1. When the primary of version 8.0.2 is killed
// at level 2 and returns, its consumer groups get every entry again that they had acknowledged
// before, while the entries themselves are all there.
package redis
