package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// sweeps is the number of times per confirm_timeout that a publisher looks for messages that
	// waited too long. So a timeout is late by at most 1/sweeps of confirm_timeout.
	sweeps = 20
	// renewEvery is the shortest time between two reopenings of channels on which messages were
	// refused.
	renewEvery = time.Second
)

// publisher is one connection of a producer, reopened when it is lost. Its goroutine, run, reads
// the confirms; the lock of p.slots guards its fields.
//
// The client library reports confirms in the order of publishing, so a slow queue would delay the
// answers of all others. But it marks each message's own confirmation on arrival, and waits for
// the server when it has processed everything received. Before that wait its own goroutine ends the
// messages that were confirmed, which saves a switch of threads; run does what may take longer.
type publisher struct {
	p      *producer
	number int
	conn   *amqp.Connection
	wire   atomic.Pointer[wire] // of conn
	closes chan *amqp.Error
	blocks chan amqp.Blocking
	wake   driver.Signal // run must look at the messages in flight
	ended  chan struct{} // closed when run has ended
	spare  []*slot       // run's, to collect ended messages

	lanes   []*lane
	up      bool
	broken  error     // not nil: a message could not be written, so run must reconnect
	blocked bool      // the server holds producers back
	stale   bool      // the channels must be reopened when nothing is in flight
	renewed time.Time // when the channels were last reopened
	given   error     // not nil: no server was reached for too long
	lost    error     // the error of the messages of the last lost connection
	losses  int       // connections lost so far
	now     uint32    // sweeps since the beginning
}

// lane is one channel of a publisher's connection.
type lane struct {
	publisher *publisher
	channel   *amqp.Channel
	closes    chan *amqp.Error
	returns   chan amqp.Return
	inFlight  []*slot // in the order of publishing
	dead      bool    // the channel belongs to a lost connection
}

func newPublisher(p *producer, number int) *publisher {
	return &publisher{p: p, number: number, wake: driver.NewSignal(),
		ended: make(chan struct{})}
}

// ready reports whether messages can be published. The caller holds the slots' lock.
func (l *publisher) ready() bool {
	return l.up && l.broken == nil && !l.blocked && !l.stale
}

// connect opens the connection and its channels, at the endpoint with the publisher's number.
func (l *publisher) connect(ctx context.Context) error {
	w := newWire(l.collector())
	conn, err := l.p.of.dialer.dialOn(ctx, l.number, "plimsoll producer of "+l.p.exchange, w)
	if err != nil {
		return err
	}
	// Room for all of them, so that the library never waits for us.
	blocks := conn.NotifyBlocked(make(chan amqp.Blocking, 64))
	closes := conn.NotifyClose(make(chan *amqp.Error, 1))
	stop := guard(ctx, conn)
	defer stop()
	var lanes []*lane
	for range l.p.of.cfg.Count(setChannels) {
		one, err := l.openLane(conn)
		if err != nil {
			return errors.Join(fmt.Errorf("open a channel to publish on: %w", err),
				hangUp(ctx, conn))
		}
		lanes = append(lanes, one)
	}
	l.wire.Store(w)
	l.p.slots.Lock()
	l.conn, l.closes, l.blocks, l.lanes = conn, closes, blocks, lanes
	l.up, l.broken, l.blocked, l.stale, l.given = true, nil, false, false, nil
	l.p.slots.Unlock()
	l.p.slots.Wake()
	return nil
}

func (l *publisher) openLane(conn *amqp.Connection) (*lane, error) {
	ch, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		return nil, err
	}
	one := &lane{publisher: l, channel: ch, inFlight: make([]*slot, 0, l.p.slots.Most())}
	one.closes = ch.NotifyClose(make(chan *amqp.Error, 1))
	// No more messages can be returned than are in flight.
	one.returns = ch.NotifyReturn(make(chan amqp.Return, l.p.slots.Most()))
	return one, nil
}

// run reads confirms, and reconnects when the connection is lost, until the producer closes.
func (l *publisher) run() {
	defer close(l.ended)
	timeout := l.p.of.cfg.Duration(setConfirmTimeout)
	ticker := time.NewTicker(max(timeout/sweeps, time.Millisecond))
	defer ticker.Stop()
	for {
		var failed error
		select {
		case <-l.p.life.Done():
			l.finish()
			return
		case <-l.wake:
			failed = l.look()
		case <-ticker.C:
			l.p.slots.Lock()
			l.now++
			l.p.slots.Unlock()
			failed = l.look()
		case state, is := <-l.blocks:
			if is {
				l.hold(state.Active)
				continue
			}
			failed = l.reason()
		case err := <-l.closes:
			failed = errors.New("it was closed")
			if err != nil {
				failed = err
			}
		}
		if failed != nil {
			l.lose(failed)
			if !l.reconnect() {
				return
			}
		}
	}
}

// hold stops the producer, or lets it continue, as the server requests.
func (l *publisher) hold(blocked bool) {
	l.p.slots.Lock()
	l.blocked = blocked
	l.p.slots.Unlock()
	l.p.slots.Wake()
}

// collector returns the function that ends confirmed messages on the goroutine of the library that
// reads a connection. That of a lost connection may still run beside its successor.
func (l *publisher) collector() func() {
	var spare []*slot
	return func() {
		var seen sight
		if seen, spare = l.collect(spare); seen != (sight{}) {
			l.wake.Give()
		}
	}
}

// look ends the messages that were confirmed, returned or refused. The error says why the
// connection cannot be used any more.
func (l *publisher) look() error {
	var seen sight
	seen, l.spare = l.collect(l.spare)
	switch {
	case seen.closed || seen.broken:
		return l.reason()
	case seen.late:
		return errTimedOut
	case seen.stale:
		return l.renew()
	}
	return nil
}

// sight is what collect saw that run must see to.
type sight struct{ closed, broken, late, stale bool }

// collect ends the messages that were confirmed, returned or refused. The memory of spare, which it
// returns, is the caller's.
func (l *publisher) collect(spare []*slot) (sight, []*slot) {
	var seen sight
	l.p.slots.Lock()
	ended := spare[:0]
	for _, one := range l.lanes {
		left := one.inFlight[:0]
		for _, s := range one.inFlight {
			if confirmed(s) {
				ended = append(ended, s)
				continue
			}
			left = append(left, s)
			seen.late = seen.late || l.now-s.since > sweeps
		}
		clear(one.inFlight[len(left):])
		one.inFlight = left
		// A returned message arrives before its confirm, and a closing channel reports the close
		// before it marks all open messages as refused.
		one.takeReturns()
		seen.closed = seen.closed || one.channel.IsClosed()
	}
	for _, s := range ended {
		refused := s.returned == nil && !s.confirm.Acked()
		l.stale = l.stale || refused && time.Since(l.renewed) > renewEvery
	}
	seen.stale, seen.broken = l.stale, l.broken != nil
	l.p.slots.Unlock()
	for _, s := range ended {
		err := s.returned
		if err == nil && !s.confirm.Acked() {
			err = errNacked
			if seen.closed {
				err = fmt.Errorf("the channel was closed before the server confirmed: %w",
					system.ErrUnknown)
			}
		}
		l.p.end(s, err)
	}
	clear(ended)
	return seen, ended[:0]
}

// renew reopens the channels after messages were refused: a channel that was opened while a quorum
// queue had no leader refuses all messages to that queue while it is open (RabbitMQ 3.10). renew
// waits until nothing is in flight, so that messages stay in order.
func (l *publisher) renew() error {
	l.p.slots.Lock()
	due := true
	for _, one := range l.lanes {
		due = due && len(one.inFlight) == 0
	}
	old := l.lanes
	l.p.slots.Unlock()
	if !due {
		return nil
	}
	stop := guard(l.p.life, l.conn)
	defer stop()
	lanes := make([]*lane, len(old))
	for i, one := range old {
		fresh, err := l.openLane(l.conn)
		if err == nil {
			err = one.channel.Close()
		}
		if err != nil {
			return fmt.Errorf("open a channel in place of one that refuses messages: %w", err)
		}
		lanes[i] = fresh
	}
	l.p.slots.Lock()
	for i, one := range old {
		// A Send may have been running; its message's answer is in the confirmation.
		one.dead = true
		lanes[i].inFlight = append(lanes[i].inFlight, one.inFlight...)
		one.inFlight = nil
	}
	l.lanes, l.broken, l.stale, l.renewed = lanes, nil, false, time.Now()
	l.lost = fmt.Errorf("the channel was reopened before the server confirmed: %w",
		system.ErrUnknown)
	l.p.slots.Unlock()
	l.p.slots.Wake()
	return nil
}

// outcome returns the result in a message's confirmation. The caller holds the slots' lock.
func (one *lane) outcome(s *slot) error {
	one.takeReturns()
	switch {
	case s.returned != nil:
		return s.returned
	case s.confirm.Acked():
		return nil
	case one.channel.IsClosed():
		// The library marks all open messages as refused when it closes.
		return one.publisher.lost
	}
	return errNacked
}

// takeReturns marks the returned messages. The caller holds the slots' lock.
func (one *lane) takeReturns() {
	for {
		select {
		case r, is := <-one.returns:
			if !is {
				one.returns = nil
				return
			}
			all := one.publisher.p.slots.All()
			i, err := strconv.ParseUint(r.CorrelationId, slotBase, 31)
			if err == nil && int(i) < len(all) {
				all[i].returned = fmt.Errorf(
					"the server returned the message: no queue takes it (%d %s)",
					r.ReplyCode, r.ReplyText)
			}
		default:
			return
		}
	}
}

// reason returns why the connection or one of its channels was closed.
func (l *publisher) reason() error {
	for _, one := range l.lanes {
		select {
		case err := <-one.closes:
			if err != nil {
				return err
			}
		default:
		}
	}
	select {
	case err := <-l.closes:
		if err != nil {
			return err
		}
	default:
	}
	l.p.slots.Lock()
	defer l.p.slots.Unlock()
	return cmp.Or(l.broken, errors.New("it was closed"))
}

// lose gives up the connection: nothing is published on it any more, and messages in flight end
// without an answer.
func (l *publisher) lose(why error) {
	l.p.slots.Lock()
	l.up, l.losses = false, l.losses+1
	l.lost = fmt.Errorf(
		"the connection to %s was lost before the server confirmed, the producer's loss number "+
			"%d (%w): %w",
		l.endpoint(), l.losses, why, system.ErrUnknown)
	l.p.slots.Unlock()
	// Closing also ends a Send that waits for the server to read.
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = hangUp(over, l.conn) // it is given up in any case
	l.endAll(l.lost)
}

func (l *publisher) endpoint() string {
	all := l.p.of.dialer.Endpoints
	return all[l.number%len(all)]
}

// endAll ends the messages in flight: with their answer if there is one, and otherwise with err.
func (l *publisher) endAll(err error) {
	l.p.slots.Lock()
	var ended []*slot
	var outcomes []error
	l.lost = err
	for _, one := range l.lanes {
		one.dead = true
		for _, s := range one.inFlight {
			outcome := err
			if confirmed(s) {
				outcome = one.outcome(s)
			}
			ended, outcomes = append(ended, s), append(outcomes, outcome)
		}
		one.inFlight = nil
	}
	l.p.slots.Unlock()
	for i, s := range ended {
		l.p.end(s, outcomes[i])
	}
}

// reconnect tries one endpoint after another until one answers. After reconnect_timeout, messages
// are refused meanwhile. It returns false if the producer has closed.
func (l *publisher) reconnect() bool {
	patience := l.p.of.cfg.Duration(setReconnect)
	tries := newTries(patience)
	for {
		l.number++
		err := l.connect(l.p.life)
		if err == nil {
			return true
		}
		if l.p.life.Err() != nil {
			return false
		}
		if tries.over() {
			l.p.slots.Lock()
			l.given = fmt.Errorf("no server was reached for %s (%s): %w", patience, setReconnect,
				err)
			l.p.slots.Unlock()
			l.p.slots.Wake()
		}
		if !tries.pause(l.p.life) {
			return false
		}
	}
}

// finish closes the connection and ends its messages in flight.
func (l *publisher) finish() {
	l.p.slots.Lock()
	l.up = false
	l.p.slots.Unlock()
	_ = hangUp(l.p.life, l.conn) // all messages have been answered or never will be
	l.endAll(driver.ErrUnanswered)
}
