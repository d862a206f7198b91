package rabbitmq

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// gatherBytes bounds what a wire keeps back.
const gatherBytes = 16 << 10

// errFlush is the error of writes after a flush that failed.
var errFlush = errors.New("an earlier write failed")

// wire is the connection that the library gets.
//
// The library writes each message by itself. Between gather and flush, wire keeps these writes
// back and joins them.
//
// With each frame that it reads or writes, the library wakes its heartbeat goroutine, which notes
// the time and moves the read deadline, several times for each message. wire lets that goroutine
// sleep after it has moved the deadline. Meanwhile sent frames go unnoticed, which costs at most
// one needless heartbeat, and the next move of the deadline waits.
type wire struct {
	net.Conn
	heard   func()      // may be nil
	waiting atomic.Bool // the library waits for the server
	rest    time.Duration
	closing sync.Once
	closed  chan struct{}

	mu    sync.Mutex
	bound bool // has a deadline that the heartbeats must not move

	writing   sync.Mutex // guards the following fields, and is held during a write
	gathering bool
	kept      []byte // written by the library and not yet sent
	broken    bool   // a write of kept failed
}

// restOf returns how long the heartbeats rest. A due heartbeat is delayed by this time, and again
// each time that a deadline happens to be moved first.
func restOf(heartbeat time.Duration) time.Duration {
	const longest, share = 500 * time.Millisecond, 16
	return min(longest, heartbeat/share)
}

func newWire(heard func()) *wire { return &wire{heard: heard, closed: make(chan struct{})} }

// attach is called once, before the wire is used.
func (w *wire) attach(conn net.Conn, heartbeat time.Duration) {
	w.Conn, w.rest = conn, restOf(heartbeat)
}

// gather makes Write keep back up to gatherBytes until flush. Whoever calls it, or writes
// meanwhile, calls flush before it waits for anything.
func (w *wire) gather() {
	w.writing.Lock()
	w.gathering = true
	w.writing.Unlock()
}

// flush sends what was kept back. When that fails it closes the connection, because the library
// believes these bytes sent.
func (w *wire) flush() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.gathering = false
	_ = w.sendKept() // the library learns of it when it reads
}

// Write may return before the bytes are sent; see gather.
func (w *wire) Write(b []byte) (int, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if w.broken {
		return 0, errFlush
	}
	if w.gathering && len(w.kept)+len(b) <= gatherBytes {
		w.kept = append(w.kept, b...)
		return len(b), nil
	}
	if err := w.sendKept(); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// sendKept is called with writing locked.
func (w *wire) sendKept() error {
	if len(w.kept) == 0 {
		return nil
	}
	_, err := w.Conn.Write(w.kept)
	w.kept = w.kept[:0]
	if err != nil {
		w.broken = true
		_ = w.Close()
	}
	return err
}

// Read reports that the library begins to wait for the server.
func (w *wire) Read(b []byte) (int, error) {
	w.waiting.Store(true)
	defer w.waiting.Store(false)
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
