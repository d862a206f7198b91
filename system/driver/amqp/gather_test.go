package amqp

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// gathered returns a gathering connection, and the other end of it.
func gathered(t *testing.T) (*gathering, net.Conn) {
	near, far := net.Pipe() // a write lasts until it was read
	g := gather(near)
	t.Cleanup(func() {
		_ = far.Close()
		_ = g.Close()
	})
	return g, far
}

func write(t *testing.T, g *gathering, text string) {
	t.Helper()
	if n, err := g.Write([]byte(text)); err != nil || n != len(text) {
		t.Fatalf("%d bytes written: %v", n, err)
	}
}

// What comes while a write is under way is written at once, in order.
func TestWritesGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, far := gathered(t)
		write(t, g, "a")
		synctest.Wait()
		write(t, g, "b")
		write(t, g, "c")
		b := make([]byte, 8)
		for _, want := range []string{"a", "bc"} {
			if n, err := far.Read(b); err != nil || string(b[:n]) != want {
				t.Errorf("%q was written, want %q: %v", b[:n], want, err)
			}
		}
	})
}

// No more than gatherMost bytes wait, and one write beyond.
func TestWritesWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, far := gathered(t)
		full := string(make([]byte, gatherMost))
		write(t, g, full)
		synctest.Wait()
		write(t, g, full)
		returned := make(chan error, 1)
		go func() {
			_, err := g.Write([]byte("x"))
			returned <- err
		}()
		synctest.Wait()
		select {
		case err := <-returned:
			t.Fatalf("a write beyond the bound returned: %v", err)
		default:
		}
		if _, err := io.CopyN(io.Discard, far, 2*gatherMost+1); err != nil {
			t.Fatal(err)
		}
		if err := <-returned; err != nil {
			t.Error(err)
		}
	})
}

// A write that fails is the error of the next one, and ends the reads.
func TestWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, far := gathered(t)
		_ = g.SetWriteDeadline(time.Now().Add(time.Minute))
		write(t, g, "a")
		if _, err := g.Read(make([]byte, 1)); err == nil {
			t.Error("the read goes on after a failed write")
		}
		if _, err := g.Write([]byte("b")); err == nil {
			t.Error("a write after a failed one succeeds")
		}
		_ = far.Close()
	})
}

// Close writes what is left, and does not wait for a peer that reads nothing.
func TestCloseWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, far := gathered(t)
		write(t, g, "a")
		synctest.Wait()
		write(t, g, "b")
		read := make(chan string, 1)
		go func() {
			b, _ := io.ReadAll(far)
			read <- string(b)
		}()
		_ = g.Close()
		if text := <-read; text != "ab" {
			t.Errorf("%q was written", text)
		}
		if _, err := g.Write([]byte("c")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write after Close: %v", err)
		}
		stuck, _ := gathered(t)
		write(t, stuck, "a")
		began := time.Now()
		_ = stuck.Close()
		if took := time.Since(began); took != flushWithin {
			t.Errorf("Close took %v", took)
		}
	})
}
