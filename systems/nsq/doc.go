// Package nsq has everything about NSQ: a driver in NSQ's own protocol, and nsqd servers on this
// machine, which are part of plimsoll.
//
// Plimsoll's words on NSQ: a partition is a topic, called topic.partition, on one of the servers in
// turn, because servers know nothing of each other and nothing is copied between them; a
// subscription is a channel of each of these topics; a consumer has a connection for each. All
// consumers of a channel share its messages. A message has no key.
//
// # What an acknowledgement is worth
//
// nsqd answers OK when a message is in the memory of the topic, or, beyond mem_queue_size, in the
// file of its disk queue. The file is synced every sync_every messages or sync_timeout, after the
// answer: with sync_every 1 and every message on disk, an answer came 0.5 ms after the command
// while each sync was delayed by 100 ms. So the level is 4, with all settings. A server that is
// killed loses the messages in its memory; one that ends in good order writes them to the file.
//
// # Sending
//
// A producer has a connection to each server with partitions, and sends what is due together as
// one MPUB for each partition. A message to a server that cannot be reached is refused. When a
// connection ends before an answer, its messages are unknown, and nothing is sent again.
//
// # Receiving
//
// A consumer asks for max_in_flight messages at each connection (RDY) and ends each with FIN, or
// with REQ if it gives it back. At most once FIN leaves before the message is handled; it has no
// answer, so if the connection breaks with it on its way the message comes again. A server delivers
// a message again that was not ended within msg_timeout, also when its consumer's connection has
// ended: it gives a dead consumer's messages to nobody before that. A consumer that closes with
// time returns what it has not handled. The server keeps messages for a connection, to write
// several at once, for output_buffer_timeout.
//
// nsqd keeps no order: messages in memory and on disk, returned and timed-out ones mix.
//
// # The client
//
// The driver speaks the protocol itself, because the consumer of go-nsq cannot be closed without
// time, and its producer waits for ever if it is stopped amid answers.
package nsq
