package rabbitmq

import (
	"net"
	"sync"
	"time"
)

// beatRest is how long the library's heartbeats rest after each: well below
// what they may be late by.
const beatRest = 500 * time.Millisecond

// wire is a connection as the library is given it.
//
// With each frame that it reads or writes, the library wakes a goroutine that
// only notes the time, for the heartbeats, and moves the deadline for reading:
// several times for each message. So that goroutine rests when it has moved the
// deadline, and what would have woken it is dropped, as the library does when
// it is busy.
type wire struct {
	net.Conn
	heard   func() // nil: nobody asks
	closing sync.Once
	closed  chan struct{}
}

// Read tells that the library comes to wait for the server.
func (w *wire) Read(b []byte) (int, error) {
	if w.heard != nil {
		w.heard()
	}
	return w.Conn.Read(b)
}

// SetReadDeadline is called by the library's heartbeats only, and returns when
// they have rested.
func (w *wire) SetReadDeadline(t time.Time) error {
	if err := w.Conn.SetReadDeadline(t); err != nil {
		return err
	}
	rest := time.NewTimer(beatRest)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-w.closed:
	}
	return nil
}

func (w *wire) Close() error {
	w.closing.Do(func() { close(w.closed) })
	return w.Conn.Close()
}
