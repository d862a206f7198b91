package rabbitmq

import (
	"context"
	"errors"
	"fmt"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/message"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

// Bounds of the batches for the stream library.
const (
	// maxStreamFrame keeps a batch within the frame that servers take by
	// default (1 MiB).
	maxStreamFrame = 900 << 10
	// Bounds of the library's room for unconfirmed messages. Beyond its room it waits, possibly
	// without end.
	leastStreamQueue = 500
	mostStreamQueue  = 1_000_000
)

// streamProducer publishes to the streams of a topic, each through its leader.
type streamProducer struct {
	of           *cluster
	batch        int // most messages of a frame
	queue        int // most messages of a stream in flight
	parts        []*streamPart
	environments environments
	life         context.Context
	cancel       context.CancelFunc // ends the parts

	flight  *driver.Flight // its lock guards the parts too
	closing driver.Closing
}

// streamPart is one stream of a producer. Its goroutine, run, sends waiting messages and opens a
// new session when one is lost; the lock of p.flight guards its fields.
type streamPart struct {
	p     *streamProducer
	name  string
	wake  driver.Signal // messages wait
	ended chan struct{} // closed when run has ended

	session *streamSession // nil: there is none now
	given   error          // not nil: there was no session for too long
	losses  int
}

// streamSession is one publisher of the library and its messages. Confirms that arrive after its
// end are ignored.
type streamSession struct {
	part        *streamPart
	environment *stream.Environment
	publisher   *stream.Producer
	closes      stream.ChannelClose
	confirmed   chan struct{} // closed when the last confirm was handled

	messages []*streamMessage // all
	free     []*streamMessage
	waiting  []message.StreamMessage
	sending  []message.StreamMessage // run's
	lost     error                   // not nil: the session is over
}

// openStreamProducer opens a producer for the streams of a topic.
func (c *cluster) openStreamProducer(ctx context.Context,
	o system.ProducerOptions) (system.Producer, error) {
	if o.MessageMax > maxStreamFrame-64 {
		return nil, fmt.Errorf(
			"messages of %d bytes do not fit into a frame of the stream protocol, which takes "+
				"%d: send smaller ones, or take another queue type", o.MessageMax,
			maxStreamFrame-64)
	}
	if o.InFlight > mostStreamQueue {
		return nil, fmt.Errorf(
			"%d messages in flight are more than the client library can hold: allow at most %d",
			o.InFlight, mostStreamQueue)
	}
	life, cancel := context.WithCancel(context.Background())
	p := &streamProducer{
		of: c, flight: driver.NewFlight(o.InFlight), life: life, cancel: cancel,
		environments: environments{of: c, number: o.Index}, batch: int(c.cfg.Count(setStreamBatch)),
		queue: max(o.InFlight, leastStreamQueue),
	}
	for i := range o.Topic.Partitions {
		part := &streamPart{p: p, name: queueName(o.Topic, unread, i), wake: driver.NewSignal(),
			ended: make(chan struct{})}
		err := part.connect(nil)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			part.finish()
			return nil, errors.Join(fmt.Errorf("publish to stream %s: %w", part.name, err),
				p.Close(ctx))
		}
		p.parts = append(p.parts, part)
		go part.run()
	}
	return p, c.clients.Keep(ctx, p)
}

// connect opens a session, in another environment than the failed one.
func (part *streamPart) connect(failed *stream.Environment) error {
	p := part.p
	environment, err := p.environments.get(failed)
	if err != nil {
		return err
	}
	publisher, err := environment.NewProducer(part.name, stream.NewProducerOptions().
		SetBatchSize(p.batch).SetQueueSize(p.queue).
		SetConfirmationTimeOut(p.of.cfg.Duration(setConfirmTimeout)).
		SetClientProvidedName("plimsoll producer of "+part.name))
	if err != nil {
		_, _ = p.environments.get(environment) // the next attempt takes this one
		return err
	}
	s := &streamSession{part: part, environment: environment, publisher: publisher,
		closes: publisher.NotifyClose(), confirmed: make(chan struct{})}
	go s.takeConfirms(publisher.NotifyPublishConfirmation())
	p.flight.Lock()
	part.session, part.given = s, nil
	p.flight.Unlock()
	p.flight.Wake()
	return nil
}

// takeConfirms ends the messages that were answered, until the library closes the channel.
func (s *streamSession) takeConfirms(confirms stream.ChannelPublishConfirm) {
	defer close(s.confirmed)
	p := s.part.p
	var ended []*system.Message
	for all := range confirms {
		ended = ended[:0]
		p.flight.Lock()
		for _, one := range all {
			l, ours := one.GetMessage().(*streamMessage)
			if !ours || s.lost != nil || l.m == nil {
				ended = append(ended, nil)
				continue
			}
			ended = append(ended, l.m)
			l.m = nil
			s.free = append(s.free, l)
		}
		p.flight.Unlock()
		told := 0
		for i, m := range ended {
			if m != nil {
				m.Done(streamOutcome(all[i]))
				told++
			}
		}
		p.flight.Leave(told)
	}
}

// streamOutcome returns a message's result from the library's answer.
func streamOutcome(one *stream.ConfirmationStatus) error {
	err := one.GetError()
	switch {
	case one.IsConfirmed():
		return nil
	case errors.Is(err, stream.ConfirmationTimoutError):
		return errTimedOut
	case errors.Is(err, stream.AlreadyClosed):
		return driver.ErrUnanswered
	}
	return fmt.Errorf("the server refused the message: %w", err)
}

// Send queues the message for the next batch. It blocks while too many are in flight, and while a
// lost connection is reopened.
func (p *streamProducer) Send(m *system.Message) {
	if err := driver.CheckPartition(m, len(p.parts)); err != nil {
		m.Done(err)
		return
	}
	part := p.parts[m.Partition]
	s, l, err := p.take(part)
	if err != nil {
		m.Done(err)
		return
	}
	l.encode(m.Payload)
	p.flight.Lock()
	lost := s.lost
	if lost == nil {
		l.m = m
		s.waiting = append(s.waiting, l)
	}
	p.flight.Unlock()
	if lost != nil {
		m.Done(lost)
		p.flight.Leave(1)
		return
	}
	part.wake.Give()
}

// take waits for room, and for a session.
func (p *streamProducer) take(part *streamPart) (*streamSession, *streamMessage, error) {
	p.flight.Lock()
	defer p.flight.Unlock()
	err := p.flight.Enter(func() (bool, error) { return part.session != nil, part.given })
	if err != nil {
		return nil, nil, err
	}
	s := part.session
	if len(s.free) == 0 {
		l := newStreamMessage()
		s.messages, s.free = append(s.messages, l), append(s.free, l)
	}
	l := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return s, l, nil
}

// run sends waiting messages until the producer closes.
func (part *streamPart) run() {
	defer close(part.ended)
	defer part.finish()
	for {
		s := part.session // only run changes it
		var failed error
		select {
		case <-part.p.life.Done():
			return
		case <-part.wake:
			failed = s.send()
		case event := <-s.closes:
			failed = fmt.Errorf("the server ended the publisher: %s", event.Reason)
		}
		if failed != nil {
			s.over(failed)
			if !part.reconnect(s.environment) {
				return
			}
		}
	}
}

// send hands waiting messages to the library, a batch at a time.
func (s *streamSession) send() error {
	p := s.part.p
	p.flight.Lock()
	s.waiting, s.sending = s.sending[:0], s.waiting
	p.flight.Unlock()
	defer func() { clear(s.sending) }()
	for rest := s.sending; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && n < p.batch {
			size += len(rest[n].(*streamMessage).encoded)
			if n > 0 && size > maxStreamFrame {
				break
			}
			n++
		}
		if err := s.publisher.BatchSend(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// over ends a session, and its messages in flight without an answer.
func (s *streamSession) over(why error) {
	part := s.part
	part.p.flight.Lock()
	part.session = nil
	part.losses++
	lost := fmt.Errorf(
		"the connection of stream %s was lost before the server confirmed, loss number %d (%w): %w",
		part.name, part.losses, why, system.ErrUnknown)
	part.p.flight.Unlock()
	s.endAll(lost)
	s.hangUp()
}

// endAll ends the messages in flight.
func (s *streamSession) endAll(lost error) {
	p := s.part.p
	var ended []*system.Message
	p.flight.Lock()
	s.lost = lost
	for _, l := range s.messages {
		if l.m != nil {
			ended = append(ended, l.m)
			l.m = nil
		}
	}
	p.flight.Unlock()
	for _, m := range ended {
		m.Done(lost)
	}
	p.flight.Leave(len(ended))
}

// hangUp closes the library's publisher and waits for its last confirms.
func (s *streamSession) hangUp() {
	_ = s.publisher.Close() // fails if it is closed already
	<-s.confirmed
}

// reconnect opens a new session. After reconnect_timeout, messages are refused meanwhile. It
// returns false if the producer has closed.
func (part *streamPart) reconnect(failed *stream.Environment) bool {
	p := part.p
	patience := p.of.cfg.Duration(setReconnect)
	tries := newTries(patience)
	for {
		if !tries.pause(p.life) {
			return false
		}
		err := part.connect(failed)
		if err == nil {
			return true
		}
		failed = nil
		if tries.over() {
			p.flight.Lock()
			part.given = fmt.Errorf("stream %s was not reached for %s (%s): %w", part.name,
				patience, setReconnect, err)
			p.flight.Unlock()
			p.flight.Wake()
		}
	}
}

// finish ends the current session.
func (part *streamPart) finish() {
	part.p.flight.Lock()
	s := part.session
	part.session = nil
	part.p.flight.Unlock()
	if s != nil {
		s.endAll(driver.ErrUnanswered)
		s.hangUp()
	}
}

// Close refuses further messages, waits within ctx for outstanding confirms, and ends the
// remaining messages with an error. It is idempotent and safe to call while Send runs.
func (p *streamProducer) Close(ctx context.Context) error {
	return p.closing.Once(&p.of.clients, p, func() error {
		p.flight.Shut()
		err := p.flight.Drain(ctx)
		p.cancel()
		for _, part := range p.parts {
			<-part.ended
		}
		_ = p.flight.Drain(context.Background()) // a Send may still be running
		p.environments.close()
		return err
	})
}
