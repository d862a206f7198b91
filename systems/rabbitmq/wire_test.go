package rabbitmq

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// The read deadline counts from the call that sets it, and that call blocks during the pause, or
// until the connection is closed.
func TestWireRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		heard := 0
		w := newWire(near, 10*time.Second, func() { heard++ })
		began := time.Now()
		if err := w.SetReadDeadline(began.Add(w.rest / 2)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 500*time.Millisecond {
			t.Errorf("rested for %s", took)
		}
		if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read beyond the deadline: %v", err)
		}
		if heard != 1 {
			t.Errorf("told %d times of one read", heard)
		}
		began = time.Now()
		time.AfterFunc(w.rest/4, func() { w.Close() })
		if err := w.SetReadDeadline(began.Add(time.Hour)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != w.rest/4 {
			t.Errorf("rested for %s on a connection that was closed after %s", took, w.rest/4)
		}
		w.Close() // a second close
		if err := w.SetReadDeadline(began); err == nil {
			t.Error("a deadline was set on a closed connection")
		}
	})
}

// A deadline for reads and writes stays until it is removed, whatever the heartbeats do.
func TestWireStaysBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		w := newWire(near, 10*time.Second, nil)
		defer w.Close()
		for _, c := range []struct {
			until, want time.Duration // 0: removed; how long a read waits
		}{{2 * time.Second, 2 * time.Second}, {0, 15 * time.Second}} {
			began, until := time.Now(), time.Time{}
			if c.until > 0 {
				until = began.Add(c.until)
			}
			if err := w.SetDeadline(until); err != nil {
				t.Error(err)
			}
			if err := w.SetReadDeadline(began.Add(15 * time.Second)); err != nil {
				t.Error(err)
			}
			if _, err := w.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			if waited := time.Since(began); waited != c.want {
				t.Errorf("read for %s, want %s", waited, c.want)
			}
		}
	})
}

// The pause must be short compared with the heartbeat interval.
func TestRestIsShort(t *testing.T) {
	for heartbeat, want := range map[time.Duration]time.Duration{
		time.Second: 62500 * time.Microsecond, 10 * time.Second: 500 * time.Millisecond,
		time.Hour: 500 * time.Millisecond} {
		if got := restOf(heartbeat); got != want {
			t.Errorf("heartbeat %s: rests for %s, want %s", heartbeat, got, want)
		}
	}
}
