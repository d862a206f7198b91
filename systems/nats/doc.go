// Package nats measures NATS JetStream. It connects to a cluster through the official
// client, or starts one. The servers of a cluster that it starts run in this process, or
// each in a child process of this program (NodeCommand), when faults are to be injected, when
// servers and load have CPUs of their own, or when the setting servers is processes. A server in
// its own process can be killed, paused or isolated alone, and restarts at its address with its
// data. It has its own scheduler and heap, so results with and without processes are not
// comparable.
//
// # Terms
//
//   - A topic is a stream. Its partitions are the subjects <topic>.0, <topic>.1, … of the stream,
//     which has the subjects <topic>.*. A partition keeps the order of its messages, but all
//     partitions are one Raft group with one leader. Unlike elsewhere, more partitions therefore
//     do not spread the load over more servers. The topics of a run can share streams
//     (topics_per_stream), as applications with very many topics do. Each topic is then the
//     subjects <stream>.<n>.0, … of a stream, and its subscriptions filter by them.
//   - A message's key only chooses its partition. JetStream stores no key, and
//     none is sent.
//   - A publisher names the subject of each message, so the client has no rule for
//     messages without a key. They go to the partitions in turn.
//   - A subscription is a durable pull consumer. The consumers of a subscription share
//     it, each with its own pull requests.
//   - At least once acknowledges each message explicitly after it was handled, and does
//     not wait for an answer. At most once is the acknowledgement policy "none": the
//     server counts a message as handled when it sends it.
//   - An acknowledgement of a publish is the server's PubAck.
//
// Up to 64 producers and 64 consumers have their own connection, so that no client waits for
// another's bytes. The connections start on the endpoints in turn. More clients share these
// connections.
//
// # Retention
//
// By default a stream keeps all messages (retention "limits"), like Kafka's topics. So no system
// in a comparison pays for deletions that another does not make, and a later subscription can read
// from the beginning. The cost is disk: rate x size x replicas x seconds. "interest" deletes
// messages that all subscriptions have acknowledged. A full stream refuses publishes (discard
// "new") instead of silently dropping unread messages.
//
// # Publishing
//
// The producer publishes on the connection with a reply subject for each message and reads the
// PubAck itself. It does not use the client library's PublishAsync, because each of these would
// spoil a measurement:
//
//   - PublishAsync publishes again, a quarter of a second later and behind newer
//     messages, when no server answers: it reorders, and it hides the outage.
//   - It leaves a message pending for ever when the connection is closed, or when the leader died
//     with the message, unless each message has a timer.
//   - It allocates 18 times for each message, about 970 bytes, against 4 times
//     and about 310 bytes: the reply subject, and what the client library makes
//     for the PubAck that arrives. BenchmarkPublish and
//     BenchmarkPublishAsyncOfTheLibrary measure it; at full speed the two carry
//     the same.
//
// A reply subject is never used twice, because a message may be answered twice: a new leader
// acknowledges stored messages that it had not yet applied, whether its predecessor had
// acknowledged them or not.
//
// With linger, producers publish atomic batches (nats-server 2.12 and later): the servers keep the
// messages of a batch aside until its last one, store all of them or none, and answer once. A
// producer has one batch under way. A batch whose answer was lost is not sent again, and all its
// messages count as unanswered. A server takes 50 open batches of a stream by default; the servers
// that plimsoll starts take more, so that no producer's batch is refused because of others'.
//
// # Consuming
//
// The consumer sends its own pull requests too. The library's Drain and Stop end the subscription
// while requests are open at the server. Messages that the server sends at that moment are lost
// until ack_wait: a restarted consumer waits half a minute for them (50 of 2,000 in a test on one
// machine). This consumer lets its requests expire before it ends the subscription, and returns
// their messages; that is why pull_expires is short. A new request is sent before the old one
// expires, so that an idle consumer always has one open.
//
// As with any client, a message waits for ack_wait when its consumer's process or server dies. It
// is also redelivered after ack_wait when its acknowledgement is lost, which no client can notice
// (driver.go).
package nats
