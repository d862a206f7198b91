package fleet

import (
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// relay passes bytes on to an address until it is frozen. A frozen one neither passes anything on
// nor closes a connection, as a stopped process.
type relay struct {
	net.Listener
	frozen atomic.Bool
}

func relayTo(t *testing.T, address string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	ended := make(chan struct{})
	t.Cleanup(func() {
		close(ended)
		_ = l.Close()
	})
	pass := func(from, to net.Conn) {
		_, _ = io.Copy(to, &thaw{from, r, ended})
		if !r.frozen.Load() {
			_, _ = from.Close(), to.Close()
		}
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", address)
			if err != nil {
				_ = near.Close()
				return
			}
			t.Cleanup(func() { _, _ = near.Close(), far.Close() })
			go pass(near, far)
			go pass(far, near)
		}
	}()
	return r
}

// thaw reads from a connection, and waits for the end when its relay is frozen.
type thaw struct {
	net.Conn
	of    *relay
	ended chan struct{}
}

func (f *thaw) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if f.of.frozen.Load() {
		<-f.ended
		return 0, net.ErrClosed
	}
	return n, err
}

// A worker that is stopped, and so closes no connection, is reported as silent.
func TestSilentWorker(t *testing.T) {
	t.Parallel()
	of := newCommon()
	c := listen(t, 1)
	r := relayTo(t, c.Address())
	hireWith(t, WorkerOptions{Coordinator: r.Addr().String(), Token: c.Token(), Name: "stopped",
		Host: "there", Version: version, Cores: 1, Systems: system.NewRegistry(of),
		Clock: clock.Precise()})
	if err := c.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
	job := jobOn(t, of, time.Minute)
	job.Crew = c
	time.AfterFunc(2*time.Second, func() { r.frozen.Store(true) })
	got, _ := ran(t, job)
	if lost := got.Run.Workers[0].Lost; !strings.Contains(lost, "it was silent for ") {
		t.Errorf("the worker is lost because %q", lost)
	}
}
