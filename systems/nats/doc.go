// Package nats measures NATS JetStream. It connects to a cluster through the official
// client, or starts one. The servers of a cluster that it starts run in this process, or
// each in a child process of this program (NodeCommand), when faults are to be injected, when
// servers and load have CPUs of their own, or when the setting servers is processes. A server
// in its own process can be killed, paused or cut off without the others, and restarts at its
// address with its data. It has its own scheduler and heap, so results of the two ways are not
// comparable.
//
// # Terms
//
//   - A topic is a stream. Its partitions are the subjects <topic>.0, <topic>.1, … of
//     the stream, which takes all of <topic>.*. A partition keeps the order of its
//     messages, but all partitions are one Raft group with one leader. More partitions
//     therefore do not spread the load over more servers, as they do elsewhere. The
//     topics of a run can share streams (topics_per_stream), as applications with very
//     many topics do. Each topic is then the subjects <stream>.<n>.0, … of a stream, and
//     its subscriptions filter by them.
//   - A message's key only chooses its partition. JetStream stores no key, and
//     none is sent.
//   - A publisher names the subject of each message, so the client has no rule for
//     messages without a key. They go to the partitions in turn, and the package is no
//     system.Spreader.
//   - A subscription is a durable pull consumer. The consumers of a subscription share
//     it, each with its own pull requests.
//   - At least once acknowledges each message explicitly after it was handled, and does
//     not wait for an answer. At most once is the acknowledgement policy "none": the
//     server counts a message as handled when it sends it.
//   - An acknowledgement of a publish is the server's PubAck.
//
// Up to 64 producers and 64 consumers have a connection each, so that no client waits
// behind another's bytes. The connections start on the endpoints in turn. More clients
// share these connections.
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
