// Package mqtt has everything about MQTT 5: a driver in the protocol, and HiveMQ CE on this
// machine, one server. Other servers are measured by their endpoint.
//
// Plimsoll's words on MQTT, whose topics exist by being named: a partition is a topic, called
// topic/partition; a subscription is a shared subscription of each of these topics
// ($share/subscription/topic/partition), and its consumers share the messages. A message has no
// key. A topic of plimsoll's exists as long as the server has a session of its name. That session
// outlives its connection and has all subscriptions of the topic, so that the server keeps messages
// for these while no consumer is there. DeleteTopic ends the session, and publishes to
// topic/deleted, to which every consumer listens.
//
// # Which servers?
//
// The server must keep the messages of a shared subscription for all of its clients together, as
// HiveMQ does. Mosquitto gives each message to one client as it arrives, in turn, also to clients
// that are away: a share of the messages would wait for ever for the topic's session and for
// consumers that have closed. No setting of Mosquitto's changes that, so plimsoll does not start
// it, and Connect tries every server and refuses those that do so.
//
// # What an acknowledgement is worth
//
// HiveMQ CE acknowledges a message (PUBACK, or PUBREC of QoS 2) when the queue of each subscription
// has it. With persistence: file the queues are files (Xodus, and RocksDB for payloads) which are
// written before the answer and synced once a second, in no relation to the answers: an answer came
// 1 ms after a message while each sync was delayed by 100 ms. No setting changes that (durable
// writes are a constant of its source), so the level is 4. A server that was killed comes back with
// its messages; one that lost its power loses those of the last second, or its files are damaged.
// With persistence: in-memory it comes back with nothing, not even its topics; clients go on.
//
// A message without a subscription is acknowledged and kept nowhere. A queue of max_queue_size
// messages drops further ones, which are acknowledged. HiveMQ's own bound is 1000, so plimsoll
// raises it.
//
// What HiveMQ CE 2025.5 does not promise, as the last test of this package shows: it notes in its
// files which messages are on their way to a consumer. After a kill or a power cut it still counts
// them as on their way and never delivers them: plimsoll verify saw 49 of 18,972 messages lost in
// one round with a kill, and none in another. HiveMQ looks for a consumer when a message
// comes to an empty queue, and a queue with such messages is never empty. So an idle consumer gets
// nothing more from it until it subscribes anew, or acknowledges a message of another partition.
// In a round with a power cut nothing was delivered after it, while new messages were acknowledged.
//
// # Sending
//
// Messages are sent as they come, up to the server's Receive Maximum ahead of their answers (10 by
// default in HiveMQ, so plimsoll raises it too). Those that come while a write is under way leave
// together with the next. QoS 2 is a handshake of four packets; the last (PUBCOMP) is the
// acknowledgement. A message is never sent again, with either: when a connection ends, what it had
// under way is unknown. While the server cannot be reached, messages are refused. QoS 0 has no
// answer, and is refused, because nothing could be counted.
//
// # Receiving
//
// A consumer acknowledges with PUBACK after it has handled a message. At most once it does so
// before, for the messages that have arrived together, and waits for the answer to a ping: PUBACK
// has none, and a server may end a broken connection without reading what it still holds. Its
// session ends with its connection, and the server gives what was not acknowledged to others, at
// once. A message cannot be given back: an answer with an error is an acknowledgement too. HiveMQ
// sends a consumer up to 50 messages, and more when all of these are acknowledged. Shared
// subscriptions have QoS 1 there, also where messages are sent with QoS 2.
//
// # The client
//
// The driver has connections of its own. paho.golang's client starts a goroutine and a write for
// each message, copies it into a store, and tells nobody when a message that was sent without
// waiting is answered. From that library come the packets that are sent once in a connection;
// those of messages are written and read here, without allocations.
//
// # Servers on this machine
//
// HiveMQ CE without an extension refuses all clients. Launcher.java, a main class of two lines,
// turns that off; Janino compiles it, since not every Java has a compiler.
package mqtt
