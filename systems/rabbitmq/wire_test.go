package rabbitmq

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func wireOn(conn net.Conn, heard func()) *wire {
	w := newWire(heard)
	w.attach(conn, 10*time.Second)
	return w
}

// The read deadline counts from the call that sets it, and that call blocks during the pause, or
// until the connection is closed.
func TestWireRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		heard := 0
		w := wireOn(near, func() { heard++ })
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
		w := wireOn(near, nil)
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

// writes is a connection that notes each write, and fails when it is broken.
type writes struct {
	net.Conn
	each   []string
	broken bool
	closed bool
}

func (w *writes) Write(b []byte) (int, error) {
	if w.broken {
		return 0, io.ErrClosedPipe
	}
	w.each = append(w.each, string(b))
	return len(b), nil
}

func (w *writes) Close() error {
	w.closed = true
	return nil
}

// What is written between gather and flush is sent in one piece and in order, before any later
// write, and no more than gatherBytes are kept back.
func TestWireGathers(t *testing.T) {
	to := &writes{}
	w := wireOn(to, nil)
	write := func(all ...string) {
		for _, b := range all {
			if n, err := w.Write([]byte(b)); n != len(b) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
	}
	large := strings.Repeat("x", gatherBytes)
	write("a")
	w.gather()
	write("b", "c")
	w.flush()
	w.flush()
	write("d")
	w.gather()
	write("e", large, "f")
	w.flush()
	if want := []string{"a", "bc", "d", "e", large, "f"}; !slices.Equal(to.each, want) {
		t.Errorf("%d writes: %.40q", len(to.each), to.each)
	}
}

// A consumer's wire sends what was kept back when the library begins to wait for the server.
func TestWireFlushesBeforeItWaits(t *testing.T) {
	near, far := net.Pipe()
	w := wireOn(near, nil)
	w.heard = w.flush
	w.gather()
	if _, err := w.Write([]byte("ack")); err != nil {
		t.Error(err)
	}
	if w.waiting.Load() {
		t.Error("waits before it reads")
	}
	ended := make(chan error, 1)
	go func() {
		_, err := w.Read(make([]byte, 1))
		ended <- err
	}()
	got := make([]byte, 3)
	if _, err := io.ReadFull(far, got); err != nil || string(got) != "ack" || !w.waiting.Load() {
		t.Errorf("%q, %v, waiting: %v", got, err, w.waiting.Load())
	}
	far.Close()
	if err := <-ended; !errors.Is(err, io.EOF) || w.waiting.Load() {
		t.Errorf("%v, waiting: %v", err, w.waiting.Load())
	}
}

// No acknowledgement is kept back while a message is handled that may take long.
func TestSlowHandlingKeepsNothingBack(t *testing.T) {
	to := &writes{}
	f := flow{wire: wireOn(to, nil)}
	ack := func() {
		if _, err := f.wire.Write([]byte("ack")); err != nil {
			t.Error(err)
		}
	}
	f.keep(slowHandling - 1)
	ack()
	if len(to.each) > 0 {
		t.Errorf("sent %q", to.each)
	}
	f.keep(slowHandling)
	ack()
	if len(to.each) != 2 {
		t.Errorf("sent %q", to.each)
	}
}

// The library believes what was kept back to be sent, so a flush that fails closes the connection.
func TestFailedFlushCloses(t *testing.T) {
	to := &writes{broken: true}
	w := wireOn(to, nil)
	w.gather()
	if _, err := w.Write([]byte("a")); err != nil {
		t.Error(err)
	}
	w.flush()
	to.broken = false
	if _, err := w.Write([]byte("b")); !errors.Is(err, errFlush) || len(to.each) > 0 || !to.closed {
		t.Errorf("%v, closed: %v, written: %q", err, to.closed, to.each)
	}
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
