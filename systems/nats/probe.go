package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Headers of an atomic batch.
const (
	headerBatch       = "Nats-Batch-Id"
	headerBatchSeq    = "Nats-Batch-Sequence"
	headerBatchCommit = "Nats-Batch-Commit"
)

// OpenReplay deletes the durable consumer and its state.
func (c *cluster) OpenReplay(ctx context.Context, o system.ConsumerOptions) (system.Consumer,
	string, error) {
	at := c.cfg.homeOf(o.Topic.Name)
	err := c.js.DeleteConsumer(ctx, at.stream, at.durable(o.Subscription))
	if err != nil {
		return nil, "", fmt.Errorf("delete the durable consumer: %w", err)
	}
	k, err := c.OpenConsumer(ctx, o)
	return k, "", err
}

// PublishAcked publishes with and without asking for a PubAck.
func (c *cluster) PublishAcked(ctx context.Context, t system.Topic, kind system.AckKind,
	payload []byte) (string, error) {
	subject := c.cfg.homeOf(t.Name).subject(0)
	switch kind {
	case system.AckNone:
		if err := c.conn.Publish(subject, payload); err != nil {
			return "", err
		}
		return "published without a reply subject, so no PubAck comes", c.conn.FlushWithContext(ctx)
	case system.AckOne:
		return "", &system.NotSupported{
			Reason: "the stream's replicas decide what a PubAck waits for, not the publisher"}
	case system.AckRefusal:
		_, err := c.js.Publish(ctx, subject, payload, jetstream.WithExpectLastSequence(1<<40))
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			return fmt.Sprintf(
				"PubAck with error %d, %s, for a message that asked for another last sequence",
				refused.ErrorCode, refused.Description), nil
		}
		return "", fmt.Errorf("the server did not refuse: %w", err)
	}
	ack, err := c.js.Publish(ctx, subject, payload)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PubAck from a stream of %d replicas", c.cfg.stream.Replicas) +
		", sequence " + strconv.FormatUint(ack.Sequence, 10), nil
}

// PublishBeyond fills a stream that refuses messages beyond its limit.
func (c *cluster) PublishBeyond(ctx context.Context, t system.Topic, n int) (system.BackPressure,
	string, error) {
	limit := n / 2
	b, err := c.openBox(ctx, t,
		func(s *jetstream.StreamConfig) {
			s.MaxMsgs, s.Discard = int64(limit),
				jetstream.DiscardNew
		})
	if err != nil {
		return system.BackPressure{}, "", err
	}
	p := system.BackPressure{Limit: fmt.Sprintf("max_msgs %d, discard new", limit)}
	err = driver.Overfill(ctx, b, n, &p, func(err error) string {
		var refused *jetstream.APIError
		if !errors.As(err, &refused) {
			return ""
		}
		return fmt.Sprintf("error %d, %s", refused.ErrorCode, refused.Description)
	})
	return p, "a stream with a limit and discard new; the default, discard old, drops the oldest " +
		"messages instead", errors.Join(err, b.Close(ctx))
}

// Transact publishes an atomic batch. An aborted one is never committed: the
// servers forget it.
func (c *cluster) Transact(ctx context.Context, t system.Topic, payloads [][]byte,
	commit bool) (string, error) {
	const condition = "allow_atomic on the stream (server 2.12 or later); publishing to one " +
		"stream only"
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
		// Each message except the last is answered with an empty message.
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
func (c *cluster) PublishTwice(ctx context.Context, t system.Topic, payload []byte) (answer,
	condition string, err error) {
	id := jetstream.WithMsgID(nuid.Next())
	for range 2 {
		ack, err := c.js.Publish(ctx, c.cfg.homeOf(t.Name).subject(0), payload, id)
		if err != nil {
			return "", "", err
		}
		answer = fmt.Sprintf("the second PubAck says duplicate: %t", ack.Duplicate)
	}
	return answer,
		"publishers set Nats-Msg-Id and send again within the stream's duplicate_window, 2m by " +
			"default", nil
}

// box is a stream for one probe.
type box struct {
	of       *cluster
	stream   string
	subject  string // where messages go
	receives string // what the consumer filters by
	reading  []jetstream.ConsumeContext
}

// openBox creates a stream like a topic's, with changes.
func (c *cluster) openBox(
	ctx context.Context, t system.Topic, change func(*jetstream.StreamConfig),
) (*box, error) {
	config := c.cfg.stream
	at := ownHome(t.Name)
	config.Name = at.stream
	config.Subjects = []string{config.Name + ".>"}
	change(&config)
	if _, err := c.js.CreateStream(ctx, config); err != nil {
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			return nil, &system.NotSupported{Reason: fmt.Sprintf("the server refuses the stream: "+
				"%s", refused.Description)}
		}
		return nil, explainCreate(config, err)
	}
	b := &box{of: c, stream: config.Name, subject: at.subject(0), receives: at.subject(0)}
	waiting, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if _, err := c.settleStream(waiting, b.stream); err != nil {
		return nil, errors.Join(err, b.Close(ctx))
	}
	return b, nil
}

// Post publishes and waits for the PubAck. It sends a delay in whole seconds.
func (b *box) Post(ctx context.Context, l system.Envelope) error {
	var options []jetstream.PublishOpt
	subject := b.subject
	if l.Key != "" {
		subject = b.stream + "." + l.Key
	}
	if l.TTL > 0 {
		options = append(options, jetstream.WithMsgTTL(l.TTL))
	}
	if l.Delay > 0 {
		options = append(options, jetstream.WithScheduleAt(time.Now().Add(l.Delay+time.Second)),
			jetstream.WithScheduleTarget(b.receives))
		subject = b.stream + ".schedules"
	}
	_, err := b.of.js.Publish(ctx, subject, l.Payload, options...)
	return err
}

// Open receives through a durable consumer.
func (b *box) Open(ctx context.Context, receive func(payload []byte)) error {
	return b.bind(ctx, "reader", b.receives, receive)
}

func (b *box) bind(ctx context.Context, name, filter string, receive func(payload []byte)) error {
	k, err := b.of.js.CreateConsumer(ctx, b.stream, jetstream.ConsumerConfig{Durable: name,
		FilterSubject: filter, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return fmt.Errorf("create a durable consumer: %w", err)
	}
	reading, err := k.Consume(func(m jetstream.Msg) {
		receive(m.Data())
		_ = m.Ack() // if this is lost, the message is redelivered
	})
	if err != nil {
		return fmt.Errorf("consume: %w", err)
	}
	b.reading = append(b.reading, reading)
	return nil
}

// Close ends the consumers and deletes the stream.
func (b *box) Close(ctx context.Context) error {
	for _, reading := range b.reading {
		reading.Stop()
		<-reading.Closed()
	}
	if err := b.of.js.DeleteStream(ctx, b.stream); err != nil {
		return fmt.Errorf("delete stream %s: %w", b.stream, err)
	}
	return nil
}

// OpenMailbox creates a stream that heeds the messages' headers.
func (c *cluster) OpenMailbox(
	ctx context.Context, t system.Topic, f system.Feature,
) (system.Mailbox, string, error) {
	condition, change := "", func(*jetstream.StreamConfig) {}
	switch f {
	case system.FeatureTTL:
		condition = "allow_msg_ttl on the stream (server 2.11 or later)"
		change = func(s *jetstream.StreamConfig) { s.AllowMsgTTL = true }
	case system.FeatureDelay:
		// The stream itself publishes delayed messages when they are due.
		condition = "allow_msg_schedules on the stream (server 2.12 or later), to the second"
		change = func(s *jetstream.StreamConfig) {
			s.AllowMsgSchedules, s.AllowRollup, s.Discard = true, true, jetstream.DiscardOld
		}
	case system.FeaturePriority:
		return c.Lacks.OpenMailbox(ctx, t, f)
	}
	b, err := c.openBox(ctx, t, change)
	if err != nil {
		return nil, "", err
	}
	return b, condition, nil
}

// OpenRoutes creates a stream, and for each binding a durable consumer that filters by subject.
func (c *cluster) OpenRoutes(
	ctx context.Context, r system.Routing,
) (system.Publisher, string, error) {
	if r.Kind == system.RouteHeaders {
		return nil, "", &system.NotSupported{Reason: "consumers filter by subject alone; put the " +
			"header into a token of the subject"}
	}
	b, err := c.openBox(ctx, r.Topic, func(*jetstream.StreamConfig) {})
	if err != nil {
		return nil, "", err
	}
	for i, binding := range r.Bindings {
		filter := b.stream + "." + binding.Key // * is one token, as in the bindings
		if r.Kind == system.RouteFanout {
			filter = b.stream + ".>"
		}
		if err := b.bind(ctx, fmt.Sprintf("binding-%d", i), filter, binding.Receive); err != nil {
			return nil, "", errors.Join(err, b.Close(ctx))
		}
	}
	return b, "", nil
}

// lacks holds the reasons for missing capabilities and their substitutes.
var lacks = driver.Lacks{
	Sharing: "the consumers of a durable consumer share all of it as they are",
	Features: map[system.Feature]string{
		system.FeaturePriority: "a stream is a log read in its order; urgent messages take a " +
			"subject or stream of their own, which a consumer reads first",
	},
	Rejection: "JetStream puts nothing aside: after max_deliver attempts or a +TERM it delivers " +
		"the message no more, keeps it in the stream and sends its sequence in an advisory, " +
		"from which an application can fetch it",
}
