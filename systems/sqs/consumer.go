package sqs

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
	"github.com/plimsoll-bench/plimsoll/system/driver"
	"github.com/plimsoll-bench/plimsoll/workload"
)

// deleteAttempts bounds the attempts of a deletion. Repeating it is safe, and a message that is
// not deleted is merely redelivered.
const deleteAttempts = 3

// consumer polls the queues of a subscription, each with its own goroutines.
type consumer struct {
	driver.Receiver
	of          *cluster
	closing     driver.Closing
	deleteFirst bool // at most once

	handling  sync.Mutex      // held while Receive runs
	strangers map[string]bool // messages that are not base64, by id
	requests  context.Context // ends when requests must end at once
	abort     context.CancelFunc
}

// OpenConsumer creates the subscription's queues, unless they exist, and polls them.
func (c *cluster) OpenConsumer(ctx context.Context, o system.ConsumerOptions) (
	system.Consumer, error,
) {
	topic, err := c.topic(ctx, o.Topic)
	if err != nil {
		return nil, err
	}
	if n := len(c.queueName(o.Topic, o.Topic.Partitions-1, o.Subscription)); n > maxName {
		return nil, fmt.Errorf("the queue of subscription %s would have a name of %d characters, "+
			"and %d is the most: choose shorter names", o.Subscription, n, maxName)
	}
	urls, err := c.createQueues(ctx, o.Topic, o.Subscription)
	if err != nil {
		return nil, fmt.Errorf("make subscription %s: %w", o.Subscription, err)
	}
	c.queues.subscribe(topic, o.Subscription, urls)
	r := newConsumer(c, o)
	var polls []*poll
	for partition, url := range urls {
		for range c.Count(setPolls) {
			p := &poll{consumer: r, url: url, partition: int32(partition)}
			p.taking = p.take
			polls = append(polls, p)
		}
	}
	r.begin(polls...)
	return r, c.clients.Keep(ctx, r)
}

func newConsumer(c *cluster, o system.ConsumerOptions) *consumer {
	r := &consumer{
		Receiver: driver.Receiver{Options: o}, of: c,
		deleteFirst: o.Delivery == workload.AtMostOnce,
	}
	r.requests, r.abort = context.WithCancel(context.Background())
	return r
}

// begin starts the polls, which Close ends.
func (r *consumer) begin(all ...*poll) {
	r.Begin(func() {
		var polls sync.WaitGroup
		for _, p := range all {
			polls.Go(p.run)
		}
		polls.Wait()
	})
}

// poll receives from one queue, repeatedly.
type poll struct {
	*consumer
	url       string
	partition int32
	taking    func(got []types.Message) // handles the received messages
	payload   []byte                    // of the message being handled
}

// missingFor is how long the queue of an imitation may be missing: one that restarts loads its
// queues from a file.
const missingFor = time.Minute

// run takes messages until the consumer closes or cannot go on.
func (p *poll) run() {
	seen := time.Now() // the queue
	for p.Life.Err() == nil {
		got, err := p.receive()
		switch {
		case err == nil:
			seen = time.Now()
			p.taking(got)
		case p.requests.Err() != nil:
			return
		case isMissing(err) && !p.of.amazon && time.Since(seen) < missingFor:
			clock.Sleep(p.Life, driver.RetryPause)
		case final(err):
			p.Fail(p.of.explain(err))
			return
		default:
			clock.Sleep(p.Life, driver.RetryPause)
		}
	}
}

// final reports whether an error is an answer that a retry cannot change.
func final(err error) bool {
	status := statusOf(err)
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError &&
		!isThrottled(err)
}

// fifoPause is how long a poll of an imitation's FIFO queue pauses after an empty answer.
const fifoPause = 20 * time.Millisecond

// receive sends one ReceiveMessage. With FIFO queues of an imitation it uses no long polling:
// while a group waits for a deletion, ElasticMQ 1.7.1 retries a waiting request without a pause,
// and a few such queues occupy all of its threads.
func (p *poll) receive() ([]types.Message, error) {
	wait := p.of.Duration(setWait)
	short := !p.of.amazon && p.of.Bool(setFIFO)
	if short {
		wait = 0
	}
	ctx, cancel := context.WithTimeout(p.requests, wait+p.of.Duration(setRequest))
	defer cancel()
	got, err := p.of.client.ReceiveMessage(ctx, &awssqs.ReceiveMessageInput{
		QueueUrl: &p.url, MaxNumberOfMessages: batchMost, WaitTimeSeconds: int32(wait.Seconds()),
		MessageAttributeNames: []string{keyAttribute},
	})
	if err != nil {
		return nil, err
	}
	if short && len(got.Messages) == 0 {
		clock.Sleep(p.Life, fifoPause)
	}
	return got.Messages, nil
}

// take hands messages over and deletes them, in the order that the delivery guarantee requires.
func (p *poll) take(got []types.Message) {
	if len(got) == 0 {
		return
	}
	if p.deleteFirst {
		if p.Life.Err() != nil {
			p.giveBack(got)
			return
		}
		strange := func(m types.Message) bool {
			_, err := base64.StdEncoding.DecodeString(aws.ToString(m.Body))
			return err != nil
		}
		p.handle(slices.DeleteFunc(slices.Clone(got), func(m types.Message) bool {
			return !strange(m)
		}))
		p.handle(p.delete(slices.DeleteFunc(got, strange)))
		return
	}
	handled, rest := p.handle(got)
	p.delete(handled)
	p.giveBack(rest)
}

// handle hands over messages until the consumer stops. It returns the messages to delete, in the
// memory of the argument, and those that were not handed over or are given back. A body that is
// not base64 was damaged or not sent by plimsoll: its readable part is handed over once, for the
// account. The message stays in the queue and is redelivered after visibility_timeout.
func (p *poll) handle(got []types.Message) (handled, rest []types.Message) {
	p.handling.Lock()
	defer p.handling.Unlock()
	handled = got[:0]
	for i, m := range got {
		body, err := base64.StdEncoding.AppendDecode(p.payload[:0], []byte(aws.ToString(m.Body)))
		p.payload = body
		if err != nil && p.hadStranger(aws.ToString(m.MessageId)) {
			continue
		}
		out := system.Received{Payload: body, Partition: p.partition}
		if key, has := m.MessageAttributes[keyAttribute]; has {
			out.Key = key.BinaryValue
		}
		taken, back := p.Take(out)
		switch {
		case !taken:
			return handled, append(rest, got[i:]...)
		case back:
			rest = append(rest, m)
		case err == nil:
			handled = append(handled, m)
		}
	}
	return handled, rest
}

// strangersMost bounds the strangers that a consumer remembers. Further strangers are handed over
// at each delivery.
const strangersMost = 10_000

// hadStranger reports whether a message that is not base64 was received before, and remembers it.
// The caller holds handling.
func (r *consumer) hadStranger(id string) bool {
	if r.strangers[id] {
		return true
	}
	if r.strangers == nil {
		r.strangers = make(map[string]bool)
	}
	if len(r.strangers) < strangersMost {
		r.strangers[id] = true
	}
	return false
}

// delete acknowledges messages, and returns those that were deleted.
func (p *poll) delete(some []types.Message) (deleted []types.Message) {
	for attempt := 0; len(some) > 0 && attempt < deleteAttempts; attempt++ {
		if attempt > 0 && !clock.Sleep(p.requests, driver.RetryPause) {
			break
		}
		entries := make([]types.DeleteMessageBatchRequestEntry, len(some))
		for i := range some {
			entries[i] = types.DeleteMessageBatchRequestEntry{Id: &entryIDs[i],
				ReceiptHandle: some[i].ReceiptHandle}
		}
		ctx, cancel := context.WithTimeout(p.requests, p.of.Duration(setRequest))
		got, err := p.of.client.DeleteMessageBatch(ctx, &awssqs.DeleteMessageBatchInput{
			QueueUrl: &p.url, Entries: entries,
		})
		cancel()
		if err != nil {
			continue
		}
		failed := make(map[string]bool)
		for _, f := range got.Failed {
			failed[aws.ToString(f.Id)] = true
		}
		var left []types.Message
		for i, m := range some {
			if failed[entryIDs[i]] {
				left = append(left, m)
			} else {
				deleted = append(deleted, m)
			}
		}
		some = left
	}
	p.of.meter.settle(int64(len(deleted)))
	return deleted
}

// giveBack makes messages visible to other consumers at once. If that fails, they become visible
// after visibility_timeout.
func (p *poll) giveBack(some []types.Message) {
	if len(some) == 0 {
		return
	}
	entries := make([]types.ChangeMessageVisibilityBatchRequestEntry, len(some))
	for i := range some {
		entries[i] = types.ChangeMessageVisibilityBatchRequestEntry{Id: &entryIDs[i],
			ReceiptHandle: some[i].ReceiptHandle}
	}
	ctx, cancel := context.WithTimeout(p.requests, p.of.Duration(setRequest))
	defer cancel()
	_, _ = p.of.client.ChangeMessageVisibilityBatch(ctx,
		&awssqs.ChangeMessageVisibilityBatchInput{QueueUrl: &p.url, Entries: entries})
}

// Close stops receiving, and waits within ctx until the received messages are handled and deleted.
// If ctx ends first, the rest goes to other consumers after visibility_timeout.
func (r *consumer) Close(ctx context.Context) error {
	return r.closing.Once(&r.of.clients, r, func() error {
		err := r.End(ctx)
		r.abort()
		return err
	})
}
