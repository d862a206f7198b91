// Package redis is all there is to know about Redis Streams: a driver on go-redis, and a
// primary with its replicas on this machine, from the distribution's redis-server.
//
// Plimsoll's words on it: a partition is a stream, called topic:partition; a subscription
// is a consumer group on each stream of the topic; a consumer is a consumer of the group,
// and reads all partitions, so that the consumers of a subscription share each of them and
// order holds within one consumer only. Each producer and each consumer has a connection.
// All streams are on one primary. It is found among the endpoints when a run connects, and
// is not followed when it moves. Redis Cluster is refused.
//
// # What an acknowledgement is worth
//
// An XADD is answered when the primary has it in memory, has written it to the append-only
// file, and with appendfsync always has synced that. WAIT is answered when so many
// replicas have said the same. Levels 1 and 2 end each pipeline with one WAIT; the
// messages of a pipeline whose WAIT runs out are unknown, because nothing takes them back.
// The levels are read back from the primary and from each replica that it names: these
// must be reachable from here, by the same credentials.
//
// What no level promises:
//
//   - WAIT is no consensus. It counts replicas and elects none. Without Sentinel no
//     replica takes the place of a primary that is gone, and with it one may that lacks
//     what others acknowledged: an acknowledged message can be lost by a failover at every
//     level.
//   - A replica copies its primary, whatever it has itself. A primary that loses its power
//     at level 2 or 4 comes back without the writes of the last second, and replicas that
//     have them drop them. So level 2 loses acknowledged messages when one server, the
//     primary, loses its power. Levels 1 and 3 do not.
//   - With everysec a write may also wait in the server's own memory, up to two seconds,
//     while a slow disk syncs: then even the end of the process loses it.
//   - A group's position is data like any other. A primary that loses its last writes
//     delivers again what it had delivered, also at most once.
//
// # Sending
//
// A producer has one pipeline under way, and what comes meanwhile is the next one, up to
// pipeline_max messages. A message that no server can have got, because there was no connection or
// the primary still loads its data, is kept for delivery_timeout. Nothing else is repeated. A
// message that the server answers with an error is refused; a message that it does not answer is
// unknown. XADD has NOMKSTREAM, so that a topic that was deleted stays deleted.
//
// # Receiving
//
// A consumer asks by XREADGROUP for all of its streams at once. At most once reads with NOACK. At
// least once acknowledges (XACK) together with the next read what was handled. Redis never takes an
// entry back from a consumer that is gone: the others claim it (XAUTOCLAIM) when it is pending for
// claim_after. A consumer that closes in good order makes its unhandled entries look that old, so
// that they move at once; a consumer that dies, or has no time to close, does not. A consumer that
// is merely slower than claim_after loses messages to others too, and they arrive twice.
//
// # Memory
//
// Streams are in memory, whole, and acknowledged entries stay. A run ends with refusals
// when maxmemory is full; plimsoll's servers have 1 GB each, and noeviction. max_length
// trims streams to their newest entries instead, whether they were read or not: the
// account of the run shows as lost what was trimmed unread.
package redis
