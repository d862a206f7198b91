// Package pulsar is all there is to know about Apache Pulsar: a driver on
// pulsar-client-go, and clusters on this machine from the pinned distribution.
//
// How plimsoll's words map to Pulsar's:
//
//   - A topic is a partitioned topic, in a namespace of its level's own, because
//     a namespace's persistence policy makes the level (durability.go). The
//     namespace is made with the first topic and deleted when the connection that
//     made it closes and nothing is left in it.
//   - plimsoll chooses the partition, through the library's message router. The
//     producer is a partitioned one, as users have it: the library gathers batches
//     for each partition by itself either way.
//   - A subscription is a durable one that begins at the earliest message. By
//     default its type is failover: each partition has one active consumer and
//     keeps its order, as in a Kafka group. Shared deals the messages of a
//     partition out to all consumers, and they arrive out of order.
//   - An acknowledgement of a publish is the broker's send receipt.
//   - Messages without a key stay with a partition for ten times
//     batching_max_publish_delay, as in the Java client (driver.go).
//
// Each producer and each consumer has a client of its own, and so connections
// of its own to each broker.
//
// # Delivery
//
// At least once acknowledges each message after it was handled; the library
// gathers acknowledgements for ack_grouping_max_time. A batch is acknowledged
// when all of its messages are, so a consumer that dies amid one has all of it
// delivered again.
//
// At most once acknowledges what has arrived, up to a thousand messages
// together, waits for the brokers' answer, and then handles it. It needs
// acknowledgmentAtBatchIndexLevelEnabled on the brokers, which those that
// plimsoll starts have: without it a consumer that dies amid a batch has that
// batch delivered again.
//
// A consumer that stays connected gets nothing twice (driver.go): the client has
// no ackTimeout, and nothing is acknowledged negatively.
//
// Exactly once is not offered: what transactions of the Go client promise was
// not put to the test.
//
// # Limits of the library
//
//   - Its batching clock ticks for each partition of each producer, idle or
//     not: 100 partitions and 4 producers at 1ms are 400,000 wake-ups a second on
//     the generator. The generator's own load is in each result; where it shows,
//     take a longer batching_max_publish_delay.
//   - It does not tell the end of messages that are queued when it closes, and
//     late of those that wait for a connection, so the producer here keeps the
//     time of each message itself, with a copy of it.
//   - It leaves a goroutine behind for each partition of a producer whose topic
//     is deleted before it is closed.
//   - It allocates for each message, several times.
//
// # The testbed
//
// ZooKeeper, bookies and brokers are a process each, on loopback addresses of
// their nodes' own. The brokers ask for a token, at the binary port and at the
// admin API. ZooKeeper and the bookies have no such thing switched on: any
// process of this machine can talk to them, and nobody else, because they listen
// on loopback alone. Certificates and keys are made for each cluster and gone
// with it.
//
// Configuration is the distribution's own, but for addresses, security, what
// settings say, and: no automatic recovery of bookies, which would copy ledgers
// during a test of a failure; disks may fill to 99%; racks are not asked for.
//
// Seven Javas compile themselves for about a minute of load. On few cores that
// takes most of the CPU, and consumers that fall behind meanwhile read from the
// bookies instead of the brokers' memory; so a run wants a warm-up of a minute, or
// a testbed that stays up and has carried load already.
//
// With as many bookies as a ledger is spread over, 3 by default, one that dies
// stalls all writes until it is back. That is how Pulsar keeps the level; give
// the testbed a fourth one (bookies) for tests of failures. A bookie that was
// killed and started again takes writes once ZooKeeper has given up the session
// of its dead self, half a minute after its death; one that was stopped until
// ZooKeeper gave it up, half a minute after it goes on.
package pulsar
