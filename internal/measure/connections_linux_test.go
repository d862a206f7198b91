package measure

import (
	"net"
	"testing"
)

// Connections that this process makes are counted once, at its own end, also to a server in this
// process; those that it accepts, and closed ones, are not.
func TestConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var accepted []net.Conn
	dial := func() net.Conn {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		a, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		accepted = append(accepted, a)
		return c
	}
	early := dial()
	defer early.Close()
	before := ReadConnections()
	first, second := dial(), dial()
	defer first.Close()
	if n := ReadConnections().Since(before); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	second.Close()
	if n := ReadConnections().Since(before); n != 1 {
		t.Errorf("%d connections after one was closed, want 1", n)
	}
	if n := ReadConnections().Since(nil); n < 2 {
		t.Errorf("%d connections in all", n)
	}
	for _, a := range accepted {
		a.Close()
	}
}
