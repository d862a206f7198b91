package rabbitmq

import (
	"net"
	"sync"
	"time"
)

// wire is a connection as the library is given it.
//
// With each frame that it reads or writes, the library wakes the goroutine of
// its heartbeats, which notes the time and moves the deadline for reading:
// several times for each message. So that goroutine rests when it has moved the
// deadline. Meanwhile what is sent goes unnoted, at worst for a heartbeat too
// many, and one deadline waits to be moved.
type wire struct {
	net.Conn
	heard   func() // nil: nobody asks
	rest    time.Duration
	closing sync.Once
	closed  chan struct{}

	mu    sync.Mutex
	bound bool // by a deadline that the heartbeats must not move
}

// restOf is how long the heartbeats rest: a heartbeat that is due waits as long,
// and again as often as chance has a deadline moved before it.
func restOf(heartbeat time.Duration) time.Duration {
	const longest, share = 500 * time.Millisecond, 16
	return min(longest, heartbeat/share)
}

func newWire(conn net.Conn, heartbeat time.Duration, heard func()) *wire {
	return &wire{Conn: conn, heard: heard, rest: restOf(heartbeat), closed: make(chan struct{})}
}

// Read tells that the library comes to wait for the server.
func (w *wire) Read(b []byte) (int, error) {
	if w.heard != nil {
		w.heard()
	}
	return w.Conn.Read(b)
}

// SetDeadline sets a deadline that heartbeats do not move until it is taken back.
func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bound = !t.IsZero()
	return w.Conn.SetDeadline(t)
}

// SetReadDeadline is called by the library's heartbeats only, and returns when
// they have rested.
func (w *wire) SetReadDeadline(t time.Time) error {
	if err := w.move(t); err != nil {
		return err
	}
	rest := time.NewTimer(w.rest)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-w.closed:
	}
	return nil
}

func (w *wire) move(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bound {
		return nil
	}
	return w.Conn.SetReadDeadline(t)
}

func (w *wire) Close() error {
	w.closing.Do(func() { close(w.closed) })
	return w.Conn.Close()
}
