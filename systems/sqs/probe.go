package sqs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// post sends a message to every queue of partition 0, and returns the last queue's answer.
func (c *cluster) post(ctx context.Context, t system.Topic, payload []byte,
	change func(m *awssqs.SendMessageInput)) (got *awssqs.SendMessageOutput, err error) {
	topic, err := c.topic(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, url := range (*topic.places.Load())[0] {
		m := &awssqs.SendMessageInput{QueueUrl: &url,
			MessageBody: aws.String(base64.StdEncoding.EncodeToString(payload))}
		if c.Bool(setFIFO) {
			m.MessageGroupId = aws.String("probe")
			m.MessageDeduplicationId = aws.String(driver.Secret())
		}
		if change != nil {
			change(m)
		}
		if got, err = c.client.SendMessage(ctx, m); err != nil {
			return nil, err
		}
	}
	return got, nil
}

// PublishAcked publishes a message. Every request has an answer with the same meaning.
func (c *cluster) PublishAcked(
	ctx context.Context, t system.Topic, kind system.AckKind, payload []byte,
) (string, error) {
	switch {
	case kind == system.AckNone:
		return "", system.Lacks("every request has an answer")
	case kind == system.AckRefusal:
		_, err := c.post(ctx, t, nil, nil) // SQS refuses an empty body
		if codeOf(err) == "" {
			return "", fmt.Errorf("the server did not refuse: %w", err)
		}
		return "an empty body: " + codeOf(err), nil
	case kind == system.AckReplicas && !c.amazon:
		return "", system.Lacks(
			"ElasticMQ is one node; Amazon states that SQS stores a message in " +
				"several availability zones before it answers")
	case kind == system.AckOne && c.amazon:
		return "", system.Lacks(
			"Amazon states that SQS answers when several availability zones have " +
				"the message; there is no weaker kind")
	}
	got, err := c.post(ctx, t, payload, nil)
	if err != nil {
		return "", fmt.Errorf("publish: %w", c.explain(err))
	}
	return "SendMessage answered MessageId " + aws.ToString(got.MessageId), nil
}

// OpenRoutes uses a queue for each key, or for each receiver.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (
	system.Publisher, string, error,
) {
	x, _, err := c.OpenKeyRoutes(ctx, c, r,
		func(ctx context.Context, topic string, payload []byte) error {
			_, err := c.post(ctx, system.Topic{Name: topic, Partitions: 1}, payload, nil)
			return err
		})
	condition := "a queue for each key"
	if r.Kind == system.RouteFanout {
		condition = "the publisher sends a copy to a queue for each receiver (SNS does, outside " +
			"SQS)"
	}
	return x, condition, err
}

// OpenMailbox creates a queue with delays. Only standard queues have a delay for each message.
func (c *cluster) OpenMailbox(ctx context.Context, t system.Topic, f system.Feature) (
	system.Mailbox, string, error,
) {
	switch {
	case f != system.FeatureDelay:
		return c.Lacks.OpenMailbox(ctx, t, f)
	case c.Bool(setFIFO):
		return nil, "", &system.NotSupported{Reason: "messages of a FIFO queue have the delay of " +
			"the queue (DelaySeconds)", Condition: "standard queues"}
	}
	of := driver.TopicMailbox{Cluster: c, Topic: t, Subscription: mailboxReader}
	return &mailbox{of, c}, "DelaySeconds, at most 15 minutes", c.CreateTopic(ctx, t)
}

// mailbox is a queue whose messages have delays.
type mailbox struct {
	driver.TopicMailbox
	of *cluster
}

// mailboxReader is the name of a mailbox's subscription.
const mailboxReader = "reader"

// Post publishes with the delay, in whole seconds.
func (b *mailbox) Post(ctx context.Context, e system.Envelope) error {
	if err := b.reserve(ctx); err != nil {
		return err
	}
	_, err := b.of.post(ctx, b.Topic, e.Payload, func(m *awssqs.SendMessageInput) {
		m.DelaySeconds = int32(math.Ceil(e.Delay.Seconds()))
	})
	return err
}

// reserve creates the reader's queue before the first message.
func (b *mailbox) reserve(ctx context.Context) error {
	topic, err := b.of.topic(ctx, b.Topic)
	if err != nil || len(topic.subscriptions) > 0 {
		return err
	}
	urls, err := b.of.createQueues(ctx, b.Topic, mailboxReader)
	if err == nil {
		b.of.queues.subscribe(topic, mailboxReader, urls)
	}
	return err
}

// PublishTwice publishes twice with one deduplication id.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (
	answer, condition string, err error,
) {
	condition = "FIFO queues and a deduplication id, for five minutes"
	if !c.Bool(setFIFO) {
		return "", "", &system.NotSupported{
			Reason: "standard queues do not compare messages", Condition: condition}
	}
	id := driver.Secret()
	var got [2]*awssqs.SendMessageOutput
	for i := range got {
		got[i], err = c.post(ctx, t, payload, func(m *awssqs.SendMessageInput) {
			m.MessageDeduplicationId = &id
		})
		if err != nil {
			return "", "", fmt.Errorf("publish: %w", c.explain(err))
		}
	}
	return fmt.Sprintf("MessageId %s, and the second time %s", aws.ToString(got[0].MessageId),
		aws.ToString(got[1].MessageId)), condition, nil
}

// deadAfter is the number of receives after which a message goes to the dead-letter queue.
const deadAfter = 2

// OpenRejecting creates a queue with a dead-letter queue.
func (c *cluster) OpenRejecting(
	ctx context.Context, t system.Topic, rejected, dead func([]byte),
) (system.Publisher, string, error) {
	dlq := system.Topic{Name: t.Name + "-dead", Partitions: 1}
	if err := c.CreateTopic(ctx, dlq); err != nil {
		return nil, "", err
	}
	if err := c.CreateTopic(ctx, t); err != nil {
		return nil, "", errors.Join(err, c.DeleteTopic(ctx, dlq))
	}
	r := &rejecting{of: c, topic: t, dead: dlq}
	from, to := c.queues.of(t).own[0], c.queues.of(dlq).own[0]
	have, err := c.readAttributes(ctx, to)
	if err == nil {
		_, err = c.client.SetQueueAttributes(ctx, &awssqs.SetQueueAttributesInput{QueueUrl: &from,
			Attributes: map[string]string{"RedrivePolicy": fmt.Sprintf(
				`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, have["QueueArn"], deadAfter)}})
	}
	if err != nil {
		return nil, "", errors.Join(c.explain(err), r.Close(ctx))
	}
	r.begin(from, func(p *poll, got []types.Message) {
		p.each(got, rejected)
		p.giveBack(got)
	})
	r.begin(to, func(p *poll, got []types.Message) {
		p.each(got, dead)
		p.delete(got)
	})
	return r, fmt.Sprintf("a RedrivePolicy, here with maxReceiveCount %d", deadAfter), nil
}

// rejecting is a queue and its dead-letter queue.
type rejecting struct {
	of          *cluster
	topic, dead system.Topic
	polls       []*consumer
}

// begin polls a queue.
func (r *rejecting) begin(url string, take func(*poll, []types.Message)) {
	one := newConsumer(r.of, system.ConsumerOptions{})
	p := &poll{consumer: one, url: url}
	p.taking = func(got []types.Message) { take(p, got) }
	one.begin(p)
	r.polls = append(r.polls, one)
}

// Post publishes to the queue.
func (r *rejecting) Post(ctx context.Context, e system.Envelope) error {
	_, err := r.of.post(ctx, r.topic, e.Payload, nil)
	return err
}

// Close ends the polls and deletes the queues.
func (r *rejecting) Close(ctx context.Context) error {
	var errs []error
	for _, one := range r.polls {
		errs = append(errs, one.Close(ctx))
	}
	return errors.Join(errors.Join(errs...), r.of.DeleteTopic(ctx, r.topic),
		r.of.DeleteTopic(ctx, r.dead))
}

// each hands over the payloads.
func (p *poll) each(got []types.Message, to func(payload []byte)) {
	for i := range got {
		if payload, err := base64.StdEncoding.DecodeString(aws.ToString(got[i].Body)); err == nil {
			to(payload)
		}
	}
}

// lacks has what is instead of a capability.
var lacks = driver.Lacks{
	Sharing: driver.SharedAsTheyAre,
	Routes: driver.NoRoutes("a queue does not choose among its messages; SNS filters what it " +
		"sends to queues, outside SQS"),
	Replay: "a queue forgets a message when it is deleted, which is its acknowledgement",
	Features: map[system.Feature]string{
		system.FeatureTTL: "a message has no time to live of its own; MessageRetentionPeriod is " +
			"the queue's, from 60 seconds to 14 days",
		system.FeaturePriority: "a queue has no priorities; urgent messages take a queue of " +
			"their own, which a consumer polls first",
	},
	Bounds: "a queue takes any number of messages; Amazon bounds those that were received and " +
		"not deleted (120,000, and 20,000 of a FIFO queue), and throttles requests",
	Transactions: "there are no transactions: SendMessageBatch answers for each message by " +
		"itself, and may refuse some",
}
