package rabbitmq

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// gatherBytes is how much is gathered at most before it is sent.
const gatherBytes = 64 << 10

// errUnsent is the error of writes after one that failed.
var errUnsent = errors.New("an earlier write failed")

// wire is the connection that the library gets, and a way past the library for messages.
//
// For each message the library allocates and wakes several goroutines. So messages, their
// acknowledgements and confirms do not reach it: what channels publish and settle is appended to
// the bytes that wait, and send writes them together. The library's goroutine that reads calls
// Read, which hands messages and confirms to their channels, on that goroutine, until a frame for
// the library comes. The library has everything else: the beginning and the end of the connection,
// of channels and of consumers, returned messages, and heartbeats, which it need not send less
// often for what it does not see.
type wire struct {
	net.Conn
	idle    func() // called before the connection waits for the server; may be nil
	patient bool   // a write may wait for as long as the server does not read
	conn    *amqp.Connection

	in        frames       // only Read uses it, pass and heard
	pass      []byte       // the rest of a frame for the library
	heard     time.Time    // when Read last moved the deadline
	quietNs   atomic.Int64 // how long the server may send nothing
	frameMost atomic.Int64

	limiting sync.Mutex // guards bound and the deadlines
	bound    bool       // has a deadline that stays

	opening sync.Mutex // held while a channel is opened

	flushing sync.Mutex // held while spare is written
	spare    []byte
	broken   bool // a write failed; guarded by flushing

	mu        sync.Mutex // guards what follows
	out       []byte     // waits for send
	gathering bool
	opened    uint16 // the channel that the library opened last
	channels  map[uint16]*channel
}

// channel is a channel of the library's, whose messages the wire handles.
type channel struct {
	*amqp.Channel
	wire   *wire
	number uint16
	closed bool // nothing may be written on it any more; the wire's lock guards it
	events

	// The message that arrives; only Read uses it.
	part    byte // the type of its next frame; 0: no message arrives
	tag     uint64
	missing uint64 // bytes of its body
	body    []byte // what came of it, if it comes in several frames; reused
}

// events are told what arrives on a channel, on the library's goroutine that reads. They must not
// wait for the library. Where one is nil, the library gets what it would tell.
type events struct {
	delivered func(tag uint64, body []byte) // the body is valid during the call
	confirmed func(tag uint64, multiple, acked bool)
}

func newWire(idle func()) *wire {
	return &wire{idle: idle, channels: make(map[uint16]*channel)}
}

// attach is called once, before the wire is used.
func (w *wire) attach(conn net.Conn, heartbeat time.Duration) {
	w.Conn, w.in = conn, frames{from: conn, wait: w.wait}
	w.agree(heartbeat, frameMost)
}

// agree sets what was negotiated.
func (w *wire) agree(heartbeat time.Duration, frameMost int) {
	w.quietNs.Store(int64(missedHeartbeats * heartbeat))
	w.frameMost.Store(int64(frameMost))
}

func (w *wire) quiet() time.Duration { return time.Duration(w.quietNs.Load()) }

// open opens a channel. The library does not tell its number, so Write looks for it.
func (w *wire) open(e events) (*channel, error) {
	w.opening.Lock()
	defer w.opening.Unlock()
	opened, err := w.conn.Channel()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := &channel{Channel: opened, wire: w, number: w.opened, events: e}
	w.channels[ch.number] = ch
	return ch, nil
}

// Read hands messages to their channels, until there is a frame for the library.
func (w *wire) Read(b []byte) (int, error) {
	for len(w.pass) == 0 {
		f, err := w.in.next(int(w.frameMost.Load()))
		if err != nil {
			return 0, err
		}
		w.mu.Lock()
		ch := w.channels[f.channel()]
		w.mu.Unlock()
		ours := false
		if ch != nil {
			if ours, err = ch.take(f); err != nil {
				return 0, err
			}
		}
		if !ours {
			w.pass = f
		}
	}
	n := copy(b, w.pass)
	w.pass = w.pass[n:]
	return n, nil
}

// wait is called before Read may wait for the server. A server that sends nothing for some
// heartbeats is lost.
func (w *wire) wait() {
	if w.idle != nil {
		w.idle()
	}
	now, quiet := time.Now(), w.quiet()
	if now.Sub(w.heard) < quiet/(4*missedHeartbeats) {
		return
	}
	w.limiting.Lock()
	defer w.limiting.Unlock()
	if !w.bound {
		w.heard = now
		_ = w.Conn.SetReadDeadline(now.Add(quiet)) // Read reports it
	}
}

// take handles a frame of the channel. Those that are not of its messages are the library's.
func (ch *channel) take(f frame) (ours bool, err error) {
	if ch.part != 0 {
		return true, ch.takePart(f)
	}
	switch id, m := f.method(); {
	case id == basicDeliver && ch.delivered != nil:
		m.skipShort() // the consumer's tag
		ch.tag, ch.part = m.number(8), headerFrame
		return true, m.ended()
	case (id == basicAck || id == basicNack) && ch.confirmed != nil:
		tag, multiple := m.number(8), m.number(1)&1 == 1
		if err := m.ended(); err != nil {
			return true, err
		}
		ch.confirmed(tag, multiple, id == basicAck)
		return true, nil
	}
	return false, nil
}

// takePart handles the header or a part of the body of a message.
func (ch *channel) takePart(f frame) error {
	if f.kind() != ch.part {
		return fmt.Errorf("the server sends a frame of type %d within a message, in place of "+
			"type %d", f.kind(), ch.part)
	}
	part := f.payload()
	if ch.part == headerFrame {
		m := fields{rest: part}
		m.take(4) // the class, and two bytes without a meaning
		ch.missing, ch.body, ch.part, part = m.number(8), ch.body[:0], bodyFrame, nil
		if err := m.ended(); err != nil {
			return err
		}
	}
	if ch.missing > bodyMost || uint64(len(part)) > ch.missing {
		return fmt.Errorf("the server sends %d bytes of a message of which %d are missing, and "+
			"at most %d may be", len(part), ch.missing, bodyMost)
	}
	ch.missing -= uint64(len(part))
	if ch.missing > 0 || len(ch.body) > 0 {
		ch.body = append(ch.body, part...)
		part = ch.body
	}
	if ch.missing == 0 {
		ch.part = 0
		ch.delivered(ch.tag, part)
	}
	return nil
}

// publish appends a message to the bytes that wait. It reports whether they are due to be sent. On
// a channel that has closed it does nothing.
func (ch *channel) publish(to *template, correlation string, body []byte) (due bool) {
	w := ch.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ch.closed {
		w.out = appendMessage(w.out, ch.number, to, correlation, body, int(w.frameMost.Load()))
	}
	return !w.gathering || len(w.out) >= gatherBytes
}

// ack acknowledges all messages up to the one with a tag, when the wire sends next.
func (ch *channel) ack(tag uint64) {
	const multiple = 1
	ch.settle(basicAck, tag, multiple)
}

// giveBack gives the message with a tag back to its queue, when the wire sends next.
func (ch *channel) giveBack(tag uint64) {
	const requeue = 2
	ch.settle(basicNack, tag, requeue)
}

func (ch *channel) settle(id uint32, tag uint64, bits byte) {
	payload := settlement(id, tag, bits)
	ch.wire.mu.Lock()
	defer ch.wire.mu.Unlock()
	if !ch.closed {
		ch.wire.out = appendFrame(ch.wire.out, methodFrame, ch.number, payload[:])
	}
}

// gather makes messages wait for flush.
func (w *wire) gather() {
	w.mu.Lock()
	w.gathering = true
	w.mu.Unlock()
}

// flush ends gather, and sends.
func (w *wire) flush() error {
	w.mu.Lock()
	w.gathering = false
	w.mu.Unlock()
	return w.send()
}

// send writes the bytes that wait. If that fails it closes the connection.
func (w *wire) send() error {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	w.mu.Lock()
	w.out, w.spare = w.spare[:0], w.out
	w.mu.Unlock()
	if w.broken {
		return errUnsent
	}
	if len(w.spare) == 0 {
		return nil
	}
	_, err := w.Conn.Write(w.spare)
	if err != nil {
		w.broken = true
		_ = w.Close() // the library learns of it when it reads
	}
	return err
}

// Write writes a frame of the library's after the bytes that wait. Nothing of a channel may follow
// the frame that closes it.
func (w *wire) Write(b []byte) (int, error) {
	if !w.patient {
		w.limitWrites()
	}
	w.mu.Lock()
	w.out = append(w.out, b...)
	if len(b) >= frameRest {
		number := frame(b).channel()
		switch id, _ := frame(b).method(); id {
		case channelOpen:
			w.opened = number
			delete(w.channels, number)
		case channelClose, channelCloseOk:
			if ch := w.channels[number]; ch != nil {
				ch.closed = true
			}
		}
	}
	w.mu.Unlock()
	if err := w.send(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// limitWrites lets writes fail that the server does not read for some heartbeats. The library
// writes heartbeats, so the limit moves until a write waits.
func (w *wire) limitWrites() {
	w.limiting.Lock()
	defer w.limiting.Unlock()
	if !w.bound {
		_ = w.SetWriteDeadline(time.Now().Add(w.quiet())) // Write reports it
	}
}

// SetDeadline sets a deadline that stays until it is removed.
func (w *wire) SetDeadline(t time.Time) error {
	w.limiting.Lock()
	defer w.limiting.Unlock()
	w.bound = !t.IsZero()
	err := w.Conn.SetDeadline(t)
	if err == nil && !w.bound {
		err = w.Conn.SetReadDeadline(time.Now().Add(w.quiet()))
	}
	return err
}

// SetReadDeadline does nothing: wait sets the deadline. The library would move it with each frame
// that it gets, which may be none while messages come.
func (w *wire) SetReadDeadline(time.Time) error { return nil }
