package rabbitmq

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/message"
	"github.com/rabbitmq/rabbitmq-stream-go-client/pkg/stream"

	"github.com/plimsoll-bench/plimsoll/system"
)

// Bounds of what goes to the stream library.
const (
	// maxStreamFrame keeps a batch within the frame that servers take by
	// default (1 MiB).
	maxStreamFrame = 900 << 10
	// streamQueue is more than is ever in flight, so that the library never
	// waits: it may wait without end.
	streamQueue = 1_000_000
)

// streamProducer publishes to the streams of a topic, each by its leader.
type streamProducer struct {
	of           *cluster
	limit        int // most messages in flight
	parts        []*streamPart
	environments environments
	life         context.Context
	cancel       context.CancelFunc // ends the parts

	mu       sync.Mutex
	changed  sync.Cond // a message ended, a part changed, or the producer closed
	closed   bool
	inFlight int
	ended    chan struct{} // closed when Close has ended
}

// streamPart is one stream of a producer. Its goroutine, run, sends what waits
// and makes a new session when one is lost; p.mu guards what is changed.
type streamPart struct {
	p     *streamProducer
	name  string
	wake  chan struct{} // holds one note that messages wait
	ended chan struct{} // closed when run has ended

	session *streamSession // nil: there is none now
	given   error          // not nil: there was none for too long
	losses  int
}

// streamSession is one publisher of the library and its messages. Confirms that
// come when it is over belong to nobody.
type streamSession struct {
	part        *streamPart
	environment *stream.Environment
	publisher   *stream.Producer
	closes      stream.ChannelClose
	confirmed   chan struct{} // closed when the last confirm was taken

	letters []*letter // all
	free    []*letter
	waiting []message.StreamMessage
	sending []message.StreamMessage // run's
	lost    error                   // not nil: it is over
}

// openStreamProducer opens a producer for the streams of a topic.
func (c *cluster) openStreamProducer(ctx context.Context, o system.ProducerOptions) (system.Producer, error) {
	if o.MessageMax > maxStreamFrame-64 {
		return nil, fmt.Errorf("messages of %d bytes do not fit into a frame of the stream protocol, which takes %d: send smaller ones, or take another queue type", o.MessageMax, maxStreamFrame-64)
	}
	if o.InFlight >= streamQueue {
		return nil, fmt.Errorf("%d messages in flight are more than the client library can hold: allow at most %d", o.InFlight, streamQueue-1)
	}
	life, cancel := context.WithCancel(context.Background())
	p := &streamProducer{
		of: c, limit: max(o.InFlight, 1), life: life, cancel: cancel, ended: make(chan struct{}),
		environments: environments{of: c, number: o.Index},
	}
	p.changed.L = &p.mu
	for i := range o.Topic.Partitions {
		part := &streamPart{p: p, name: queueName(o.Topic, unread, i), wake: make(chan struct{}, 1), ended: make(chan struct{})}
		err := part.connect(nil)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			part.finish()
			return nil, errors.Join(fmt.Errorf("publishing to stream %s: %w", part.name, err), p.Close(ctx))
		}
		p.parts = append(p.parts, part)
		go part.run()
	}
	if err := c.clients.Keep(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// connect makes a session, in an environment other than the one that failed.
func (part *streamPart) connect(failed *stream.Environment) error {
	p := part.p
	environment, err := p.environments.get(failed)
	if err != nil {
		return err
	}
	publisher, err := environment.NewProducer(part.name, stream.NewProducerOptions().
		SetBatchSize(p.of.cfg.streamBatch).SetQueueSize(streamQueue).SetConfirmationTimeOut(p.of.cfg.confirmTimeout).
		SetClientProvidedName("plimsoll producer of "+part.name))
	if err != nil {
		_, _ = p.environments.get(environment) // the next attempt takes this one
		return err
	}
	s := &streamSession{part: part, environment: environment, publisher: publisher, closes: publisher.NotifyClose(), confirmed: make(chan struct{})}
	go s.takeConfirms(publisher.NotifyPublishConfirmation())
	p.mu.Lock()
	part.session, part.given = s, nil
	p.mu.Unlock()
	p.changed.Broadcast()
	return nil
}

// takeConfirms ends the messages that the library has an answer for, until it
// closes the channel.
func (s *streamSession) takeConfirms(confirms stream.ChannelPublishConfirm) {
	defer close(s.confirmed)
	p := s.part.p
	var ended []*system.Message
	for all := range confirms {
		ended = ended[:0]
		p.mu.Lock()
		for _, one := range all {
			l, ours := one.GetMessage().(*letter)
			if !ours || s.lost != nil || l.m == nil {
				ended = append(ended, nil)
				continue
			}
			ended = append(ended, l.m)
			l.m = nil
			s.free = append(s.free, l)
		}
		p.mu.Unlock()
		told := 0
		for i, m := range ended {
			if m != nil {
				m.Done(streamOutcome(all[i]))
				told++
			}
		}
		p.end(told)
	}
}

// end notes that messages have been told their end.
func (p *streamProducer) end(n int) {
	p.mu.Lock()
	p.inFlight -= n
	p.mu.Unlock()
	p.changed.Broadcast()
}

// streamOutcome is what the library's word on a message means.
func streamOutcome(one *stream.ConfirmationStatus) error {
	err := one.GetError()
	switch {
	case one.IsConfirmed():
		return nil
	case errors.Is(err, stream.ConfirmationTimoutError):
		return errTimedOut
	case errors.Is(err, stream.AlreadyClosed):
		return errUnanswered
	}
	return fmt.Errorf("the server refused the message: %w", err)
}

// Send has the message sent with the next batch. It blocks while too many are
// in flight, and while a lost connection is made anew.
func (p *streamProducer) Send(m *system.Message) {
	if int(m.Partition) >= len(p.parts) || m.Partition < 0 {
		m.Done(fmt.Errorf("partition %d: the topic has %d", m.Partition, len(p.parts)))
		return
	}
	part := p.parts[m.Partition]
	s, l, err := p.take(part)
	if err != nil {
		m.Done(err)
		return
	}
	l.encode(m.Payload)
	p.mu.Lock()
	lost := s.lost
	if lost == nil {
		l.m = m
		s.waiting = append(s.waiting, l)
	}
	p.mu.Unlock()
	if lost != nil {
		m.Done(lost)
		p.end(1)
		return
	}
	part.poke()
}

// take waits for room, and for a session to send in.
func (p *streamProducer) take(part *streamPart) (*streamSession, *letter, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && part.given == nil && (p.inFlight >= p.limit || part.session == nil) {
		p.changed.Wait()
	}
	if p.closed {
		return nil, nil, errProducerClosed
	}
	if part.given != nil {
		return nil, nil, part.given
	}
	p.inFlight++
	s := part.session
	if len(s.free) == 0 {
		l := newLetter()
		s.letters, s.free = append(s.letters, l), append(s.free, l)
	}
	l := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return s, l, nil
}

// poke has run look at what waits.
func (part *streamPart) poke() {
	select {
	case part.wake <- struct{}{}:
	default:
	}
}

// run sends what waits, until the producer closes.
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

// send hands what waits to the library, a batch at a time.
func (s *streamSession) send() error {
	p := s.part.p
	p.mu.Lock()
	s.waiting, s.sending = s.sending[:0], s.waiting
	p.mu.Unlock()
	defer func() { clear(s.sending) }()
	for rest := s.sending; len(rest) > 0; {
		n, size := 0, 0
		for n < len(rest) && n < p.of.cfg.streamBatch {
			size += len(rest[n].(*letter).encoded)
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

// over ends a session, and what it has in flight without an answer.
func (s *streamSession) over(why error) {
	part := s.part
	part.p.mu.Lock()
	part.session = nil
	part.losses++
	lost := fmt.Errorf("the connection of stream %s was lost before the server confirmed, loss number %d (%w): %w", part.name, part.losses, why, system.ErrUnknown)
	part.p.mu.Unlock()
	s.endAll(lost)
	s.hangUp()
}

// endAll ends the messages in flight.
func (s *streamSession) endAll(lost error) {
	p := s.part.p
	var ended []*system.Message
	p.mu.Lock()
	s.lost = lost
	for _, l := range s.letters {
		if l.m != nil {
			ended = append(ended, l.m)
			l.m = nil
		}
	}
	p.mu.Unlock()
	for _, m := range ended {
		m.Done(lost)
	}
	p.end(len(ended))
}

// hangUp closes the library's publisher and waits for its last word.
func (s *streamSession) hangUp() {
	_ = s.publisher.Close() // when it was closed already, it says so
	<-s.confirmed
}

// reconnect makes a new session. After reconnect_timeout messages are refused
// meanwhile. False: the producer has closed.
func (part *streamPart) reconnect(failed *stream.Environment) bool {
	p := part.p
	since, pause := time.Now(), firstPause
	for {
		if !sleep(p.life, pause) {
			return false
		}
		err := part.connect(failed)
		if err == nil {
			return true
		}
		failed = nil
		if time.Since(since) > p.of.cfg.patience {
			p.mu.Lock()
			part.given = fmt.Errorf("stream %s was not reached for %s (%s): %w", part.name, p.of.cfg.patience, setReconnect, err)
			p.mu.Unlock()
			p.changed.Broadcast()
		}
		pause = min(2*pause, longestPause)
	}
}

// finish ends the session that there is.
func (part *streamPart) finish() {
	part.p.mu.Lock()
	s := part.session
	part.session = nil
	part.p.mu.Unlock()
	if s != nil {
		s.endAll(errUnanswered)
		s.hangUp()
	}
}

// Close refuses further messages, waits within ctx for the confirms under way,
// and ends the rest with an error. It is idempotent and safe to call while Send
// runs.
func (p *streamProducer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	p.changed.Broadcast()
	if !first {
		<-p.ended
		return nil
	}
	defer close(p.ended)
	defer p.of.clients.Forget(p)
	left := p.awaitEmpty(ctx)
	p.cancel()
	for _, part := range p.parts {
		<-part.ended
	}
	p.awaitEmpty(context.Background()) // a Send may still be under way
	p.environments.close()
	if left > 0 {
		return fmt.Errorf("closing the producer: %d messages were not confirmed: %w", left, ctx.Err())
	}
	return nil
}

// awaitEmpty waits until nothing is in flight or ctx ends, and returns how much
// is.
func (p *streamProducer) awaitEmpty(ctx context.Context) int {
	wake := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer wake()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.inFlight > 0 && ctx.Err() == nil {
		p.changed.Wait()
	}
	return p.inFlight
}
