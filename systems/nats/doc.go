// Package nats measures NATS JetStream, and runs it: it connects to a cluster through
// the official client, or starts one: inside this process, or, where its servers are
// to be broken or the setting servers says processes, each server as a child that is
// this program again (NodeCommand). Such a server can be killed, stopped or cut off
// without the others, and comes back at its address on its data; it takes a scheduler
// and a heap of its own, so the two ways are not to be compared with each other.
//
// How plimsoll's words map to JetStream's:
//
//   - A topic is a stream. Its partitions are the subjects <topic>.0, <topic>.1, … of
//     that stream, which takes all of <topic>.*: they order messages, but they are one
//     Raft group with one leader, so more partitions do not spread the load over more
//     servers as they do elsewhere. The topics of a run can share streams
//     (topics_per_stream), as applications on NATS do that have very many: each topic
//     is then the subjects <stream>.<n>.0, … of one, and its subscriptions filter by
//     them.
//   - A message's key only chooses its partition. JetStream stores no key, and
//     none is sent.
//   - A publisher names the subject of each message, so the client has no way of its
//     own of dealing messages without a key: they go to the partitions one by one
//     (the package is no system.Spreader).
//   - A subscription is a durable pull consumer; the consumers of a
//     subscription share it, each with pull requests of its own.
//   - At least once is explicit acknowledgement, one for each message, sent
//     after the message was handled and not waited for. At most once is the
//     acknowledgement policy "none": the server counts a message as handled
//     when it sends it.
//   - An acknowledgement of a publish is the server's PubAck.
//
// Up to 64 producers and 64 consumers have a connection each, which start on the
// endpoints in turn, so that no client waits behind another's bytes. Where there
// are more, they share as many connections.
//
// # Retention
//
// A stream keeps everything by default (retention "limits"), as Kafka's topics
// do: then no system in a comparison is charged for deleting what another
// keeps, and a subscription opened later can read from the beginning. The
// price is disk: rate x size x replicas x seconds. "interest" deletes what all
// subscriptions have acknowledged. When a limit is reached the stream refuses
// the publish (discard "new") instead of silently dropping what nobody has read.
//
// # Publishing
//
// The producer publishes on the connection with a reply subject for each
// message and reads the PubAck itself, instead of calling the client library's
// PublishAsync, for these reasons, each of which would spoil a measurement:
//
//   - PublishAsync publishes again, a quarter of a second later and behind newer
//     messages, when no server answers: it reorders, and it hides the outage.
//   - It leaves a message pending for ever when the connection is closed, or
//     when the leader died with it, unless it is given a timer for each message.
//   - It allocates 18 times for each message, about 970 bytes, against 4 times
//     and about 310 bytes: the reply subject, and what the client library makes
//     for the PubAck that arrives. BenchmarkPublish and
//     BenchmarkPublishAsyncOfTheLibrary measure it; at full speed the two carry
//     the same.
//
// A reply subject is never used twice, because a message may be answered twice:
// a server that becomes leader acknowledges what its predecessor stored and it
// had still to apply, whether the predecessor had acknowledged it or not.
//
// # Consuming
//
// The consumer sends its own pull requests too. The library's Drain and Stop
// end the subscription while requests still stand at the server, and what the
// server sends in that moment is lost until ack_wait: a restarted consumer
// then waits half a minute for messages (50 of 2,000 in a test on one machine).
// This one lets its requests run out before it ends the subscription, and gives
// back what they bring; that is why pull_expires is short. A new request stands
// before the old one expires, so that an idle consumer misses no time.
//
// A message waits for ack_wait nevertheless when its consumer's process or server
// dies, as with any client. It comes again after ack_wait, too, when its
// acknowledgement is lost, which no client hears of (driver.go).
package nats
