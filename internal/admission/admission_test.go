package admission

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// arrivals is a listener whose connections come from addresses that a test names.
type arrivals chan net.Conn

func (a arrivals) Accept() (net.Conn, error) {
	if c, ok := <-a; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (a arrivals) Close() error { close(a); return nil }
func (a arrivals) Addr() net.Addr {
	return &net.TCPAddr{}
}

type from struct {
	net.Conn

	ip string
}

func (f from) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP(f.ip), Port: 7} }

// server accepts everything, and keeps what it accepted.
type server struct {
	arrivals

	accepted chan net.Conn
}

// serve accepts connections within bounds until the test ends.
func serve(t *testing.T, b Bounds) *server {
	t.Helper()
	s := &server{make(arrivals), make(chan net.Conn, 1000)}
	l := Bound(s.arrivals, b)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted <- c
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return s
}

// dial connects from an address. The listener takes the connection at once; alive reports whether
// it is open.
func (s *server) dial(t *testing.T, ip string) (alive func() bool, side net.Conn) {
	t.Helper()
	client, inner := net.Pipe()
	began := time.Now()
	s.arrivals <- from{inner, ip}
	synctest.Wait()
	if waited := time.Since(began); waited > 0 {
		t.Errorf("a connection waits %v for its place", waited)
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, client)
		close(gone)
	}()
	select {
	case side = <-s.accepted:
	default:
	}
	t.Cleanup(func() {
		_ = client.Close()
		_ = inner.Close()
	})
	return func() bool {
		synctest.Wait()
		select {
		case <-gone:
			return false
		default:
			return true
		}
	}, side
}

func TestStrangersOfAnAddressAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Bounds{Connections: 10, Strangers: 3, Wait: time.Minute})
		other, _ := s.dial(t, "192.0.2.1")
		known, c := s.dial(t, "2001:db8::1")
		Authenticated(c)
		first, _ := s.dial(t, "2001:db8::1")
		for range 20 {
			last, _ := s.dial(t, "2001:db8::1")
			if !last() {
				t.Error("a new connection is closed")
			}
		}
		if first() || !other() || !known() {
			t.Errorf("the first stranger is open: %t, another address: %t, authenticated: %t",
				first(), other(), known())
		}
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Bounds{Connections: 3, Strangers: 3, Wait: time.Minute})
		first, _ := s.dial(t, "192.0.2.1")
		var sides []net.Conn
		for _, ip := range []string{"192.0.2.2", "192.0.2.3", "192.0.2.4"} {
			_, side := s.dial(t, ip)
			sides = append(sides, side)
		}
		if first() {
			t.Error("the oldest stranger stays")
		}
		for _, c := range sides {
			Authenticated(c)
		}
		late, side := s.dial(t, "192.0.2.5")
		if late() || side != nil {
			t.Error("there is a place where every one is taken")
		}
		_, _ = sides[0].Close(), sides[0].Close() // the second frees nothing
		for _, c := range []struct {
			ip   string
			open bool
		}{{"192.0.2.5", true}, {"192.0.2.6", true}} {
			if alive, _ := s.dial(t, c.ip); alive() != c.open {
				t.Errorf("%s: open is %t", c.ip, !c.open)
			}
		}
		if l := sides[1].(*conn).from; l.open != 3 || len(l.strangers) != 1 {
			t.Errorf("%d connections, %d strangers", l.open, len(l.strangers))
		}
	})
}

func TestStrangersHaveADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Bounds{Connections: 3, Strangers: 3, Wait: time.Minute})
		stranger, _ := s.dial(t, "192.0.2.1")
		known, c := s.dial(t, "192.0.2.1")
		Authenticated(c)
		time.Sleep(time.Minute - time.Second)
		if !stranger() {
			t.Error("a stranger is closed before its time")
		}
		time.Sleep(2 * time.Second)
		if stranger() || !known() {
			t.Errorf("the stranger is open: %t, the authenticated peer: %t", stranger(), known())
		}
	})
}
