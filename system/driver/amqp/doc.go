// Package amqp is the kit's part for servers that speak AMQP 1.0, on the library
// github.com/Azure/go-amqp.
//
//	Dialer a connection to the endpoint that accepts clients, and the meaning of its refusals
//	Producer   system.Producer: a link for each partition, answers to each message
//	Consumer   system.Consumer: a link for each partition, credit, acceptance of each message
//
// A driver provides the addresses of the partitions, and does the rest in the servers' own way:
// topics, subscriptions, durability.
//
// # A message
//
// The payload is the message's only data section. A key is the message's correlation id, in
// binary, which servers carry unchanged; messages without a key have no properties. The header
// says durable if the driver asks for it. Only the library allocates for a message.
//
// # Sending
//
// Each producer has a connection. Send returns when the library has written the message. The
// library writes each message and each acceptance by itself; what it writes while the connection is
// busy goes together into the next write (gathering). One goroutine for each partition reads the
// answers, in the order of sending.
// Accepted is the acknowledgement. Rejected, released and modified are refusals, because the
// server has not accepted the message. A message that was handed to the library before the
// connection or the link was lost has an unknown outcome, and so has a message without an answer
// for ProducerOptions.Timeout. Nothing is sent again.
//
// # Receiving
//
// Each consumer has a connection, and all of its partitions share one Receive. At least once
// accepts each message after Receive has returned. At most once has links whose messages the server
// settles as it sends them, so those that wait for a consumer are lost with it; where a server does
// not, each is accepted before Receive is called, and the server has read that. Acceptance is one
// frame for each message, and the server does not confirm that it is stored: a message accepted
// shortly before a server failed may be redelivered, also at most once. A consumer that closes
// waits until the server has read all acceptances.
//
// # When servers fail
//
// After a lost connection, clients reconnect to the next endpoint that accepts clients, so they
// follow a failover from a primary to its backup. Producers block meanwhile. After Dialer.Patience
// without a server, producers refuse messages while they keep trying, and consumers fail.
package amqp
