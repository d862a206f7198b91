// Package pulsar measures Apache Pulsar. It has a driver on pulsar-client-go, and starts
// clusters on this machine from the pinned distribution.
//
// # Terms
//
//   - A topic is a partitioned topic in a namespace of its durability level, because a
//     namespace's persistence policy gives the level (durability.go). The first topic
//     creates the namespace. The connection that created it deletes it when it closes and
//     the namespace is empty.
//   - plimsoll chooses the partition, through the library's message router. The producer is a
//     partitioned one, as in applications. The library batches each partition separately in any
//     case.
//   - A subscription is durable and begins at the earliest message. By default its type
//     is failover: each partition has one active consumer and keeps its order, as in a
//     Kafka group. With shared, the messages of a partition go to all consumers in turn
//     and arrive out of order.
//   - An acknowledgement of a publish is the broker's send receipt.
//   - Messages without a key stay with one partition for ten times batching_max_publish_delay, as
//     with the Java client (driver.go).
//
// Each producer and each consumer has a client, and therefore connections, of its own.
//
// # Delivery
//
// At least once acknowledges each message after it was handled. The library groups
// acknowledgements for ack_grouping_max_time. A batch is acknowledged when all of its messages
// are, so the whole batch is redelivered if its consumer dies or closes before.
//
// At most once acknowledges the messages that have arrived, up to a thousand together,
// waits for the brokers' answer, and then handles them. It needs
// acknowledgmentAtBatchIndexLevelEnabled on the brokers, which plimsoll's own clusters
// have. Without it a batch is redelivered if its consumer dies before the batch's end.
//
// A consumer that stays connected receives nothing twice (driver.go): the client has no
// ackTimeout and never acknowledges negatively.
//
// Exactly once is not offered, because the Go client's transactions have not been tested.
//
// # Limits of the library
//
//   - Its batching clock ticks for each partition of each producer, idle or
//     not: 100 partitions and 4 producers at 1ms are 400,000 wake-ups a second on
//     the generator. The generator's own load is in each result; if it is too high, set a longer
//     batching_max_publish_delay.
//   - It does not report the result of messages that are queued when it closes, and
//     reports late on messages that wait for a connection. So the driver's producer keeps the time
//     and a copy of each message itself.
//   - It leaves a goroutine behind for each partition of a producer whose topic
//     is deleted before it is closed.
//   - It allocates for each message, several times.
//
// # The testbed
//
// ZooKeeper, bookies and brokers are processes on their nodes' loopback addresses. The brokers
// require a token, at the binary port and at the admin API. ZooKeeper and the bookies require no
// credentials and listen on loopback only, so only processes of this machine can connect to them.
// On hosts, whoever reaches their addresses can.
// Each cluster has its own certificates and keys, deleted with it.
//
// The configuration is the distribution's own, except for addresses, security, settings
// and three values: bookies do not recover automatically, which would copy ledgers during
// a fault; disks may fill to 99%; racks are not enforced.
//
// Seven Java processes compile their code during about a minute of load. On few cores that
// takes most of the CPU, and consumers that fall behind read from the bookies instead of
// the brokers' memory. A run therefore needs a warm-up of a minute, or a testbed that has
// carried load already.
//
// With as many bookies as the ensemble, 3 by default, the death of a bookie stalls all
// writes until it is back. That is how Pulsar keeps the level. Give the testbed a fourth
// bookie (bookies) to test faults. A bookie that was killed and restarted accepts writes
// when ZooKeeper has ended its earlier session, half a minute after its death. A bookie
// that was paused until ZooKeeper ended its session accepts writes half a minute after it
// resumes.
package pulsar
