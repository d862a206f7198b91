package admission

import (
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

// Bounds are the bounds of a listener.
type Bounds struct {
	Connections int           // open at a time
	Strangers   int           // of these, from one remote address without authentication
	Wait        time.Duration // for a connection's authentication
}

// Bound returns a listener whose strangers are bounded.
func Bound(l net.Listener, b Bounds) net.Listener { return &listener{Listener: l, bounds: b} }

type listener struct {
	net.Listener

	bounds Bounds

	mu        sync.Mutex
	open      int
	strangers []*conn // the oldest first
}

// conn is a connection that tells its listener when it is closed.
type conn struct {
	net.Conn

	from    *listener
	address string
	limit   *time.Timer // closes a stranger
	closed  bool        // under the listener's lock
}

// Accept waits for a connection, and not for a place.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c, excess := l.add(inner)
		if excess != nil {
			_ = excess.Close() // nothing is written to it any more
		}
		if excess != c {
			return c, nil
		}
	}
}

// add gives a connection a place, and returns the stranger that has to go for it; nil: none.
func (l *listener) add(inner net.Conn) (c, excess *conn) {
	c = &conn{Conn: inner, from: l, address: host(inner.RemoteAddr())}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.limit = time.AfterFunc(l.bounds.Wait, func() { _ = c.Close() })
	l.open++
	l.strangers = append(l.strangers, c)
	same := 0
	for _, s := range slices.Backward(l.strangers) {
		if s.address == c.address {
			same++
			excess = s
		}
	}
	switch {
	case same > l.bounds.Strangers:
		return c, excess
	case l.open > l.bounds.Connections:
		return c, l.strangers[0]
	}
	return c, nil
}

// host is an address without its port.
func host(a net.Addr) string {
	if name, _, err := net.SplitHostPort(a.String()); err == nil {
		return name
	}
	return a.String()
}

// Authenticated says that the peer of a connection has authenticated: the connection stays until
// the server or the peer closes it. The connection is the listener's, or TLS over it.
func Authenticated(c net.Conn) {
	if over, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = over.NetConn()
	}
	if c, ok := c.(*conn); ok {
		c.from.mu.Lock()
		defer c.from.mu.Unlock()
		c.known()
	}
}

// known takes a connection from the strangers. The caller holds the lock.
func (c *conn) known() {
	c.limit.Stop()
	if at := slices.Index(c.from.strangers, c); at >= 0 {
		c.from.strangers = slices.Delete(c.from.strangers, at, at+1)
	}
}

// Close closes the connection and frees its place.
func (c *conn) Close() error {
	c.from.mu.Lock()
	if !c.closed {
		c.closed = true
		c.from.open--
		c.known()
	}
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the stream to the peer, which so receives the last answer even if the server
// has not read everything from it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
