// Package amqp is the kit's part for servers that speak AMQP 1.0, on the library
// github.com/Azure/go-amqp.
//
//	Dialer     a connection to the endpoint that takes clients, and the meaning of its refusals
//	Producer   system.Producer: a link for each partition, answers to each message
//	Consumer   system.Consumer: a link for each partition, credit, acceptance of each message
//
// A driver says which addresses the partitions have, and does everything else by the
// servers' own means: topics, subscriptions, durability.
//
// # A message
//
// The payload is the message's only data section. A key is the message's correlation id, in
// binary, which servers carry unchanged; messages without a key have no properties. The
// header says durable where the driver asks for it. A message costs no allocation but the
// library's.
//
// # Sending
//
// Each producer has a connection. Send returns when the library has written the message to
// the connection; one goroutine takes the answers, in the order of sending. Accepted is the
// acknowledgement. Rejected, released and modified are refusals, because the server has not
// taken the message. A message that was handed to the library before the connection or the
// link was lost has an unknown outcome, and so has a message without an answer for
// ProducerOptions.Timeout. Nothing is sent again.
//
// # Receiving
//
// Each consumer has a connection, and all of its partitions share one Receive. At least once
// accepts each message after Receive has returned, at most once before it is called.
// Acceptance is one frame for each message, and the server does not answer it: a message
// that was accepted shortly before a server failed may come again, also at most once.
//
// # When servers fail
//
// A lost connection is made anew with the next endpoint that takes clients, so that clients
// follow a failover from a primary to its backup. Producers block meanwhile. After
// Dialer.Patience without a server producers refuse messages, though they go on looking, and
// consumers fail.
package amqp
