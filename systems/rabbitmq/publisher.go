package rabbitmq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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

// publisher is one connection of a producer, reopened when it is lost. Its goroutine, run, watches
// over it; the lock of p.slots guards its fields. The goroutine that reads a connection ends the
// messages that are confirmed on it.
type publisher struct {
	p      *producer
	number int
	wire   atomic.Pointer[wire]
	closes chan *amqp.Error
	blocks chan amqp.Blocking
	wake   driver.Signal // run must look at the connection
	ended  chan struct{} // closed when run has ended
	able   func() (bool, error)

	lanes   []*lane
	up      bool
	broken  error     // not nil: messages could not be written, so run must reconnect
	blocked bool      // the server holds producers back
	stale   bool      // the channels must be reopened when nothing is in flight
	renewed time.Time // when the channels were last reopened
	given   error     // not nil: no server was reached for too long
	losses  int       // connections lost so far
	now     uint32    // sweeps since the beginning
}

// lane is one channel of a publisher's connection.
type lane struct {
	publisher *publisher
	channel   *channel
	closes    chan *amqp.Error
	returns   chan amqp.Return
	// inFlight has the messages by their delivery tags, from the tag first on; nil: confirmed. The
	// first gone of them are.
	inFlight []*slot
	first    uint64
	gone     int
	ended    []*slot // that a confirm ends
}

func newPublisher(p *producer, number int) *publisher {
	l := &publisher{p: p, number: number, wake: driver.NewSignal(), ended: make(chan struct{})}
	l.able = func() (bool, error) { return l.ready(), l.given }
	return l
}

// ready reports whether messages can be published. The caller holds the slots' lock.
func (l *publisher) ready() bool {
	return l.up && l.broken == nil && !l.blocked && !l.stale
}

// publish waits for a free slot and a usable connection, and publishes a message on it. due: the
// wire must send now.
func (l *publisher) publish(m *system.Message) (w *wire, due bool, err error) {
	slots := l.p.slots
	slots.Lock()
	defer slots.Unlock()
	s, err := slots.Take(l.able)
	if err != nil {
		return nil, false, err
	}
	s.m, s.since, s.returned = m, l.now, nil
	one := l.lanes[int(m.Partition)/len(l.p.publishers)%len(l.lanes)]
	one.inFlight = append(one.inFlight, s)
	due = one.channel.publish(&l.p.templates[m.Partition], s.name, m.Payload)
	return one.channel.wire, due, nil
}

// sent notes that a wire could not send, so that no further message is published on it.
func (l *publisher) sent(w *wire, err error) {
	if err == nil {
		return
	}
	l.p.slots.Lock()
	if w == l.wire.Load() && l.broken == nil {
		l.broken = fmt.Errorf("write messages: %w", err)
		l.wake.Give()
	}
	l.p.slots.Unlock()
}

// connect opens the connection and its channels, at the endpoint with the publisher's number.
func (l *publisher) connect(ctx context.Context) error {
	w := newWire(nil)
	w.idle, w.patient = func() { l.watch(w) }, true
	err := l.p.of.dialer.connect(ctx, l.number, "plimsoll producer of "+l.p.exchange, w)
	if err != nil {
		return err
	}
	// Room for all of them, so that the library never waits for us.
	blocks := w.conn.NotifyBlocked(make(chan amqp.Blocking, 64))
	closes := w.conn.NotifyClose(make(chan *amqp.Error, 1))
	stop := guard(ctx, w.conn)
	defer stop()
	var lanes []*lane
	for range l.p.of.cfg.Count(setChannels) {
		one, err := l.openLane(w)
		if err != nil {
			return errors.Join(fmt.Errorf("open a channel to publish on: %w", err),
				hangUp(ctx, w.conn))
		}
		lanes = append(lanes, one)
	}
	l.p.slots.Lock()
	l.wire.Store(w)
	l.closes, l.blocks, l.lanes = closes, blocks, lanes
	l.up, l.broken, l.blocked, l.stale, l.given = true, nil, false, false, nil
	l.p.slots.Unlock()
	l.p.slots.Wake()
	l.wake.Give() // a channel may have closed meanwhile
	return nil
}

func (l *publisher) openLane(w *wire) (*lane, error) {
	one := &lane{publisher: l, first: 1}
	ch, err := w.open(events{confirmed: one.confirmed})
	if err != nil {
		return nil, err
	}
	if err := ch.Confirm(false); err != nil {
		return nil, err
	}
	one.channel = ch
	one.closes = ch.NotifyClose(make(chan *amqp.Error, 1))
	// No more messages can be returned than are in flight.
	one.returns = ch.NotifyReturn(make(chan amqp.Return, l.p.slots.Most()))
	return one, nil
}

// run reconnects when the connection is lost, until the producer closes.
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

// watch wakes run when one of the channels has closed. It runs before a wire waits for the server,
// when the library has processed everything received so far.
func (l *publisher) watch(w *wire) {
	l.p.slots.Lock()
	defer l.p.slots.Unlock()
	if w == l.wire.Load() && l.closed() {
		l.wake.Give()
	}
}

// closed reports whether a channel has closed. The caller holds the slots' lock.
func (l *publisher) closed() bool {
	return slices.ContainsFunc(l.lanes, func(one *lane) bool { return one.channel.IsClosed() })
}

// look renews channels when that is due. The error says why the connection cannot be used any more.
func (l *publisher) look() error {
	l.p.slots.Lock()
	lost, flying, late := l.broken != nil || l.closed(), false, false
	for _, one := range l.lanes {
		if s := one.oldest(); s != nil {
			flying, late = true, late || l.now-s.since > sweeps
		}
	}
	renew, awaited := l.stale && !flying, l.stale && flying
	l.p.slots.Unlock()
	if awaited {
		// A Send that waits for the renewal keeps what was gathered before it.
		w := l.wire.Load()
		l.sent(w, w.send())
	}
	switch {
	case lost:
		return l.reason()
	case late:
		return errTimedOut
	case renew:
		return l.renew()
	}
	return nil
}

// oldest returns the message that has waited longest for its confirm; nil: none waits. The caller
// holds the slots' lock.
func (one *lane) oldest() *slot {
	if one.gone == len(one.inFlight) {
		return nil
	}
	return one.inFlight[one.gone]
}

// confirmed ends the message with a delivery tag, or all messages up to it.
func (one *lane) confirmed(tag uint64, multiple, acked bool) {
	l := one.publisher
	l.p.slots.Lock()
	one.takeReturns() // a returned message arrives before its confirm
	one.ended = one.take(tag, multiple, one.ended[:0])
	for _, s := range one.ended {
		refused := !acked && s.returned == nil
		l.stale = l.stale || refused && time.Since(l.renewed) > renewEvery
	}
	if l.stale {
		l.wake.Give()
	}
	l.p.slots.Unlock()
	for _, s := range one.ended {
		err := s.returned
		if err == nil && !acked {
			err = errNacked
		}
		l.p.end(s, err)
	}
}

// take removes the message with a delivery tag, or all messages up to it, and appends them to
// ended. The caller holds the slots' lock.
func (one *lane) take(tag uint64, multiple bool, ended []*slot) []*slot {
	at := tag - one.first // a large number if tag is smaller
	if at >= uint64(len(one.inFlight)) {
		return ended
	}
	from := int(at)
	if multiple {
		from = one.gone
	}
	for i := from; i <= int(at); i++ {
		if s := one.inFlight[i]; s != nil {
			one.inFlight[i], ended = nil, append(ended, s)
		}
	}
	for one.gone < len(one.inFlight) && one.inFlight[one.gone] == nil {
		one.gone++
	}
	if 2*one.gone >= len(one.inFlight) {
		one.inFlight = slices.Delete(one.inFlight, 0, one.gone)
		one.first, one.gone = one.first+uint64(one.gone), 0
	}
	return ended
}

// renew reopens the channels after messages were refused: a channel that was opened while a quorum
// queue had no leader refuses all messages to that queue while it is open (RabbitMQ 3.10). Nothing
// is in flight then, so messages stay in order.
func (l *publisher) renew() error {
	w := l.wire.Load()
	stop := guard(l.p.life, w.conn)
	defer stop()
	lanes := make([]*lane, len(l.lanes))
	for i, one := range l.lanes {
		fresh, err := l.openLane(w)
		if err == nil {
			err = one.channel.Close()
		}
		if err != nil {
			return fmt.Errorf("open a channel in place of one that refuses messages: %w", err)
		}
		lanes[i] = fresh
	}
	l.p.slots.Lock()
	l.lanes, l.stale, l.renewed = lanes, false, time.Now()
	l.p.slots.Unlock()
	l.p.slots.Wake()
	return nil
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
	l.p.slots.Unlock()
	// Closing also ends a Send that waits for the server to read.
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = hangUp(over, l.wire.Load().conn) // it is given up in any case
	l.endAll(fmt.Errorf(
		"the connection to %s was lost before the server confirmed, the producer's loss number "+
			"%d (%w): %w",
		l.endpoint(), l.losses, why, system.ErrUnknown))
}

func (l *publisher) endpoint() string {
	all := l.p.of.dialer.Endpoints
	return all[l.number%len(all)]
}

// endAll ends the messages in flight with an error.
func (l *publisher) endAll(err error) {
	l.p.slots.Lock()
	var ended []*slot
	for _, one := range l.lanes {
		if n := len(one.inFlight); n > 0 {
			ended = one.take(one.first+uint64(n-1), true, ended)
		}
	}
	l.p.slots.Unlock()
	for _, s := range ended {
		l.p.end(s, err)
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
	_ = hangUp(l.p.life, l.wire.Load().conn) // all messages have been answered or never will be
	l.endAll(driver.ErrUnanswered)
}
