package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system"
)

var (
	_ system.Expirer = (*cluster)(nil)
	_ system.Delayer = (*cluster)(nil)
	_ system.Router  = (*cluster)(nil)
)

// box is a stream for one probe.
type box struct {
	of       *cluster
	stream   string
	subject  string // where messages go
	receives string // what the consumer filters by
	reading  []jetstream.ConsumeContext
}

// openBox makes a stream like a topic's, changed.
func (c *cluster) openBox(ctx context.Context, t system.Topic, change func(*jetstream.StreamConfig)) (*box, error) {
	config := c.cfg.stream
	at := ownHome(t.Name)
	config.Name = at.stream
	config.Subjects = []string{config.Name + ".>"}
	change(&config)
	if _, err := c.js.CreateStream(ctx, config); err != nil {
		var refused *jetstream.APIError
		if errors.As(err, &refused) {
			return nil, &system.NotSupported{Reason: fmt.Sprintf("the server refuses the stream: %s", refused.Description)}
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

// Post publishes and waits for the PubAck. A delay is told in whole seconds.
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
		options = append(options, jetstream.WithScheduleAt(time.Now().Add(l.Delay+time.Second)), jetstream.WithScheduleTarget(b.receives))
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
	k, err := b.of.js.CreateConsumer(ctx, b.stream, jetstream.ConsumerConfig{Durable: name, FilterSubject: filter, AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		return fmt.Errorf("create a durable consumer: %w", err)
	}
	reading, err := k.Consume(func(m jetstream.Msg) {
		receive(m.Data())
		_ = m.Ack() // lost, the message comes again
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

// OpenExpiring makes a stream whose messages may say how long they live.
func (c *cluster) OpenExpiring(ctx context.Context, t system.Topic) (system.Mailbox, string, error) {
	b, err := c.openBox(ctx, t, func(s *jetstream.StreamConfig) { s.AllowMsgTTL = true })
	if err != nil {
		return nil, "", err
	}
	return b, "allow_msg_ttl on the stream (server 2.11 or later)", nil
}

// OpenDelaying makes a stream that publishes messages itself at their time.
func (c *cluster) OpenDelaying(ctx context.Context, t system.Topic) (system.Mailbox, string, error) {
	b, err := c.openBox(ctx, t, func(s *jetstream.StreamConfig) {
		s.AllowMsgSchedules, s.AllowRollup, s.Discard = true, true, jetstream.DiscardOld
	})
	if err != nil {
		return nil, "", err
	}
	return b, "allow_msg_schedules on the stream (server 2.12 or later), to the second", nil
}

// OpenRoutes makes a stream with a durable consumer for each binding, which
// filters by subject.
func (c *cluster) OpenRoutes(ctx context.Context, r system.Routing) (system.Publisher, string, error) {
	if r.Kind == system.RouteHeaders {
		return nil, "", &system.NotSupported{Reason: "consumers filter by subject alone; what a header says takes a token of the subject"}
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
