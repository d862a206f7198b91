// Package sqs has everything about Amazon SQS: a driver on aws-sdk-go-v2, and an
// ElasticMQ, which speaks the same protocol, on this machine.
//
// There are two kinds of servers, and every result names the one that was used. A target with a
// region and without endpoints is Amazon SQS, with the usual chain of credentials (environment,
// profile, SSO, role) unless the target names some. For a target without either, plimsoll starts
// ElasticMQ: one node, an imitation for tests. Its figures say nothing about Amazon SQS.
//
// Plimsoll's words on SQS, which has neither topics nor partitions nor subscriptions: a partition
// is a queue, and each subscription has its own queue for each partition. The producers of a
// process send a copy to the queue of each subscription that the process has opened; without a
// subscription, to the topic's own queue, which no consumer reads. So s subscriptions cost s times
// the requests, and a message is acknowledged when all of its copies are; when some are refused
// and others are not, its outcome is unknown. SNS, which could send the copies, is not used. The
// consumers of a subscription share its queues.
//
// # What an acknowledgement is worth
//
// Amazon states that SQS stores a message on servers in several availability zones before it
// answers. It states nothing about syncs. So Amazon SQS is level 2 by the provider's statement:
// there is nothing to read back, and the result says so. ElasticMQ answers when the message is in
// its memory and handed to its H2 database, which writes it to a file within a second and syncs it
// for no message, only before it shortens the file: level 4. It loses acknowledged messages when
// its process is killed within that second, and after a power cut whole queues may be gone. Then it
// refuses further messages, consumers keep polling, and the account shows the rest as lost. Amazon
// SQS loses no queue: there a missing queue was deleted, and its consumers stop with an error.
//
// # Sending
//
// SendMessageBatch takes 10 messages and 256 KiB. A 200 answer may refuse some of them, so each
// entry is checked. A producer has up to requests_in_flight requests to each queue at a time. The
// library repeats nothing (one attempt). A batch that was throttled, or that no server can have
// received because there was no connection, is kept for delivery_timeout. A request without an
// answer, or with an error of the server (5xx), leaves its messages unknown.
//
// A body is text, so a payload is sent in base64: a third more bytes on the wire, in the 256 KiB
// of a request, and in the bill. A binary attribute would save nothing on the wire, because the
// protocol carries it in base64 too. The key is a binary attribute, k.
//
// # Receiving
//
// A consumer polls each of its queues separately (ReceiveMessage, long polling, up to 10
// messages), handles the messages, and then deletes them (DeleteMessageBatch). At most once
// deletes first. A message that is not deleted within visibility_timeout is redelivered, also when
// its consumer is merely slow. A consumer that closes makes its unhandled messages visible at
// once. A consumer that dies, or has no time to close, does not, and the messages of its last poll
// stay invisible for visibility_timeout.
//
// FIFO queues of ElasticMQ are polled without waiting, with a short pause while they are empty,
// because a request that waits for a group with an undeleted message keeps one of ElasticMQ's
// threads busy.
//
// # Order
//
// Standard queues, SQS's default, promise no order, and messages do arrive out of order; no
// verdict counts it against them. With fifo, queues are FIFO queues, which keep the order of each
// message group. A group is a producer, and then plimsoll's order of producer and partition holds,
// or a key, and then only the order of each key holds. A group delivers nothing until its received
// messages are deleted. A FIFO queue drops a message with the deduplication id of an earlier one,
// so each message has its own id.
//
// # Money
//
// Amazon charges for requests, empty receives included, and counts every 64 KiB of a request as
// one. The driver counts every request, by the larger of its body and its answer in the protocol's
// JSON, which is never less than Amazon counts. Amazon's free tier is not deducted. At a limit of
// cost the driver refuses messages while it can still pay for receiving and deleting each sent
// message separately. Only empty receives of the drain can then exceed the limit.
package sqs
