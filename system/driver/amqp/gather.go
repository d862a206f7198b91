package amqp

import (
	"net"
	"sync"
	"time"
)

const (
	// gatherMost is how many bytes wait before Write blocks.
	gatherMost = 64 << 10
	// flushWithin bounds the last write of a connection that closes.
	flushWithin = time.Second
)

// gathering is a connection whose Write returns before the bytes are written. The library writes
// each message and each acceptance by itself, and the next one only when that was written; here
// those that come while a write is under way go together into the next one. Without such bytes
// nothing waits. Close writes what is left.
type gathering struct {
	net.Conn
	ended chan struct{} // closed when flush has ended

	mu      sync.Mutex // guards what follows
	changed sync.Cond
	out     []byte // waits for flush
	closed  bool
	err     error // of a write; all later ones fail with it
}

func gather(conn net.Conn) *gathering {
	g := &gathering{Conn: conn, ended: make(chan struct{})}
	g.changed.L = &g.mu
	go g.flush()
	return g
}

// Write takes all of b, unless an earlier write failed. It blocks while too many bytes wait.
func (g *gathering) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.out) >= gatherMost && g.err == nil && !g.closed {
		g.changed.Wait()
	}
	switch {
	case g.err != nil:
		return 0, g.err
	case g.closed:
		return 0, net.ErrClosed
	}
	g.out = append(g.out, b...)
	g.changed.Broadcast()
	return len(b), nil
}

// flush writes what waits, until the connection is closed or a write fails.
func (g *gathering) flush() {
	defer close(g.ended)
	var writing []byte
	for {
		g.mu.Lock()
		for len(g.out) == 0 && !g.closed {
			g.changed.Wait()
		}
		writing, g.out = g.out, writing[:0]
		g.changed.Broadcast()
		g.mu.Unlock()
		if len(writing) == 0 {
			return
		}
		if _, err := g.Conn.Write(writing); err != nil {
			_ = g.Conn.Close() // it ends the reads
			g.mu.Lock()
			g.err = err
			g.changed.Broadcast()
			g.mu.Unlock()
			return
		}
	}
}

// Close writes what waits, for at most flushWithin, and closes the connection.
func (g *gathering) Close() error {
	_ = g.SetWriteDeadline(time.Now().Add(flushWithin)) // it fails only on a closed connection
	g.mu.Lock()
	g.closed = true
	g.changed.Broadcast()
	g.mu.Unlock()
	<-g.ended
	return g.Conn.Close()
}
