package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	_ system.CapabilityExplainer = (*cluster)(nil)
	_ system.Replayer            = (*cluster)(nil)
	_ system.AckChooser          = (*cluster)(nil)
	_ system.BackPressurer       = (*cluster)(nil)
	_ system.Transactor          = (*cluster)(nil)
	_ system.Deduplicator        = (*cluster)(nil)
)

// Headers of a batch that is stored whole or not at all.
const (
	headerBatch       = "Nats-Batch-Id"
	headerBatchSeq    = "Nats-Batch-Sequence"
	headerBatchCommit = "Nats-Batch-Commit"
)

// ExplainLack says what JetStream has no such thing for.
func (c *cluster) ExplainLack(a system.Capability) string {
	switch a {
	case system.CanShare:
		return "the consumers of a durable consumer share all of it as they are"
	case system.CanPrioritise:
		return "a stream is a log read in its order; urgent messages take a subject or stream of their own, which a consumer reads first"
	case system.CanDeadLetter:
		return "JetStream puts nothing aside: after max_deliver attempts or a +TERM it delivers the message no more, keeps it in the stream and tells of its sequence in an advisory, from which an application can fetch it"
	}
	return ""
}

// OpenReplay deletes the durable consumer, and with it what it remembers.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer, string, error) {
	at := c.cfg.homeOf(o.Topic.Name)
	err := c.js.DeleteConsumer(ctx, at.stream, at.durable(o.Subscription))
	if err != nil {
		return nil, "", fmt.Errorf("delete the durable consumer: %w", err)
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// PublishAcked publishes with and without asking for a PubAck.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind, payload []byte) (string, error) {
	subject := c.cfg.homeOf(t.Name).subject(0)
	switch kind {
	case system.AckNone:
		if err := c.conn.Publish(subject, payload); err != nil {
			return "", err
		}
		return "published without a reply subject, so no PubAck comes", c.conn.FlushWithContext(ctx)
	case system.AckOne:
		return "", &system.NotSupported{Reason: "the stream's replicas decide what a PubAck waits for, not the publisher"}
	case system.AckRefusal:
		_, err := c.js.Publish(ctx, subject, payload, jetstream.WithExpectLastSequence(1<<40))
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			return fmt.Sprintf("PubAck with error %d, %s, for a message that asked for another last sequence", refused.ErrorCode, refused.Description), nil
		}
		return "", fmt.Errorf("the server did not refuse: %w", err)
	}
	ack, err := c.js.Publish(ctx, subject, payload)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PubAck from a stream of %d replicas", c.cfg.stream.Replicas) + ", sequence " + strconv.FormatUint(ack.Sequence, 10), nil
}

// PublishBeyond fills a stream that refuses what is too much.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (system.BackPressure, string, error) {
	limit := n / 2
	b, err := c.openBox(ctx, t, func(s *jetstream.StreamConfig) { s.MaxMsgs, s.Discard = int64(limit), jetstream.DiscardNew })
	if err != nil {
		return system.BackPressure{}, "", err
	}
	p := system.BackPressure{Limit: fmt.Sprintf("max_msgs %d, discard new", limit)}
	for i := range n {
		err := b.Post(ctx, system.Envelope{Payload: []byte(strconv.Itoa(i))})
		var refused *jetstream.APIError
		switch {
		case err == nil:
			p.Accepted++
		case errors.As(err, &refused):
			p.Refused++
			p.Refusal = fmt.Sprintf("error %d, %s", refused.ErrorCode, refused.Description)
		default:
			return p, "", errors.Join(err, b.Close(ctx))
		}
	}
	return p, "a stream with a limit and discard new; the default, discard old, drops the oldest messages instead", b.Close(ctx)
}

// Transact publishes an atomic batch. An aborted one is never committed: the
// servers forget it.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte, commit bool) (string, error) {
	const condition = "allow_atomic on the stream (server 2.12 or later); publishing to one stream only"
	at := c.cfg.homeOf(t.Name)
	info, err := c.streamInfo(ctx, at.stream)
	if err != nil {
		return "", err
	}
	if cfg := info.Config; !cfg.AllowAtomicPublish {
		cfg.AllowAtomicPublish = true
		if _, err := c.js.UpdateStream(ctx, cfg); err != nil {
			return "", fmt.Errorf("set allow_atomic: %w", err)
		}
	}
	batch := nuid.Next()
	for i, payload := range payloads {
		m := nats.NewMsg(at.subject(0))
		m.Data = payload
		m.Header.Set(headerBatch, batch)
		m.Header.Set(headerBatchSeq, strconv.Itoa(i+1))
		last := i == len(payloads)-1
		if last && commit {
			m.Header.Set(headerBatchCommit, "1")
			if _, err := c.js.PublishMsg(ctx, m); err != nil {
				return "", fmt.Errorf("commit the batch: %w", err)
			}
			continue
		}
		// What is not the last one is answered with an empty message.
		answer, err := c.conn.RequestMsgWithContext(ctx, m)
		if err != nil {
			return "", fmt.Errorf("publish in a batch: %w", err)
		}
		if len(answer.Data) > 0 {
			return "", fmt.Errorf("publish in a batch: %s", answer.Data)
		}
	}
	return condition, nil
}

// PublishTwice publishes with the same message id.
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (answer, condition string, err error) {
	id := jetstream.WithMsgID(nuid.Next())
	for range 2 {
		ack, err := c.js.Publish(ctx, c.cfg.homeOf(t.Name).subject(0), payload, id)
		if err != nil {
			return "", "", err
		}
		answer = fmt.Sprintf("the second PubAck says duplicate: %t", ack.Duplicate)
	}
	return answer, "publishers set Nats-Msg-Id and send again within the stream's duplicate_window, 2m by default", nil
}
