package rabbitmq

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestWireRests: the deadline for reading counts from when it is set, and who
// set it is held for a while, or until the connection is closed.
func TestWireRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		heard := 0
		w := &wire{Conn: near, heard: func() { heard++ }, closed: make(chan struct{})}
		began := time.Now()
		if err := w.SetReadDeadline(began.Add(beatRest / 2)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != beatRest {
			t.Errorf("rested for %s, want %s", took, beatRest)
		}
		if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read beyond the deadline: %v", err)
		}
		if heard != 1 {
			t.Errorf("told %d times of one read", heard)
		}
		began = time.Now()
		time.AfterFunc(beatRest/4, func() { w.Close() })
		if err := w.SetReadDeadline(began.Add(time.Hour)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != beatRest/4 {
			t.Errorf("rested for %s on a connection that was closed after %s", took, beatRest/4)
		}
		w.Close() // once more
		if err := w.SetReadDeadline(began); err == nil {
			t.Error("a deadline was set on a closed connection")
		}
	})
}
