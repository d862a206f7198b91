package rabbitmq

import (
	"net"
	"sync"
	"time"
)

// wire is the connection that the library gets.
//
// With each frame that it reads or writes, the library wakes its heartbeat goroutine, which notes
// the time and moves the read deadline, several times for each message. wire lets that goroutine
// sleep after it has moved the deadline. Meanwhile sent frames go unnoticed, which costs at most
// one needless heartbeat, and the next move of the deadline waits.
type wire struct {
	net.Conn
	heard   func() // may be nil
	rest    time.Duration
	closing sync.Once
	closed  chan struct{}

	mu    sync.Mutex
	bound bool // has a deadline that the heartbeats must not move
}

// restOf returns how long the heartbeats rest. A due heartbeat is delayed by this time, and again
// each time that a deadline happens to be moved first.
func restOf(heartbeat time.Duration) time.Duration {
	const longest, share = 500 * time.Millisecond, 16
	return min(longest, heartbeat/share)
}

func newWire(conn net.Conn, heartbeat time.Duration, heard func()) *wire {
	return &wire{Conn: conn, heard: heard, rest: restOf(heartbeat), closed: make(chan struct{})}
}

// Read reports that the library begins to wait for the server.
func (w *wire) Read(b []byte) (int, error) {
	if w.heard != nil {
		w.heard()
	}
	return w.Conn.Read(b)
}

// SetDeadline sets a deadline that heartbeats do not move until it is removed.
func (w *wire) SetDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bound = !t.IsZero()
	return w.Conn.SetDeadline(t)
}

// SetReadDeadline is called by the library's heartbeats only. It returns after their rest.
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
