package observe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/clock"
)

// loopbackBytes measures the bytes per second that TCP carries within this machine. It uses
// one connection for each two cores.
func loopbackBytes(ctx context.Context, length time.Duration) (bytesPerS float64, err error) {
	pairs := max(runtime.NumCPU()/2, 1)
	ends := make([]pair, 0, pairs)
	defer func() {
		for _, p := range ends {
			p.close()
		}
	}()
	for range pairs {
		p, err := connected(ctx)
		if err != nil {
			return 0, err
		}
		ends = append(ends, p)
	}
	var received atomic.Int64
	began := clock.Now()
	until := began + int64(length)
	var all sync.WaitGroup
	for _, p := range ends {
		all.Go(func() { send(ctx, p.a, until) })
		all.Go(func() { received.Add(receive(p.b)) })
	}
	all.Wait()
	return float64(received.Load()) / time.Duration(clock.Now()-began).Seconds(), ctx.Err()
}

// chunkBytes is the size of one write or read.
const chunkBytes = 256 << 10

// send writes until a time, and then closes its direction.
func send(ctx context.Context, c *net.TCPConn, untilNs int64) {
	chunk := make([]byte, chunkBytes)
	for clock.Now() < untilNs && ctx.Err() == nil {
		if _, err := c.Write(chunk); err != nil {
			break
		}
	}
	_ = c.CloseWrite()
}

// receive reads until the other end closes, and returns the number of bytes.
func receive(c *net.TCPConn) (n int64) {
	chunk := make([]byte, chunkBytes)
	for {
		read, err := c.Read(chunk)
		n += int64(read)
		if err != nil {
			return n
		}
	}
}

// loopbackRoundTrip measures the round trip of a byte to another thread. Both threads wait in
// the kernel, like a client and a server on one machine.
func loopbackRoundTrip(ctx context.Context, length time.Duration) ([]result.Latency, error) {
	p, err := connected(ctx)
	if err != nil {
		return nil, err
	}
	defer p.close()
	near, err := blocking(p.a)
	if err != nil {
		return nil, fmt.Errorf("measure a round trip: %w", err)
	}
	defer near.Close()
	far, err := blocking(p.b)
	if err != nil {
		return nil, fmt.Errorf("measure a round trip: %w", err)
	}
	defer far.Close()
	var all sync.WaitGroup
	all.Go(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for one := make([]byte, 1); pass(far, one, unix.Read) && pass(far, one, unix.Write); {
		}
	})
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took, answered := newTimed(), true
	one := make([]byte, 1)
	until := clock.Now() + int64(length)
	for answered && clock.Now() < until && ctx.Err() == nil {
		before := clock.Now()
		answered = pass(near, one, unix.Write) && pass(near, one, unix.Read)
		took.add(clock.Now() - before)
	}
	// The other thread reads the end of the stream, and ends.
	_ = p.a.CloseWrite()
	all.Wait()
	if !answered {
		return nil, errors.New("measure a round trip: the connection was lost: try again")
	}
	return took.latency(seriesTrip), ctx.Err()
}

// blocking returns a connection as a file in blocking mode.
func blocking(c *net.TCPConn) (*os.File, error) {
	f, err := c.File()
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(int(f.Fd()), false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// pass reads or writes one byte, and reports success.
func pass(f *os.File, one []byte, call func(int, []byte) (int, error)) bool {
	for {
		n, err := call(int(f.Fd()), one)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 1
		}
	}
}

// pair holds the two ends of a connection.
type pair struct{ a, b *net.TCPConn }

func (p pair) close() { _, _ = p.a.Close(), p.b.Close() }

// connected returns a connection within this machine that sends without delay
// (TCP_NODELAY).
func connected(ctx context.Context) (pair, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return pair{}, fmt.Errorf("listen on the loopback interface: %w", err)
	}
	defer listener.Close()
	var dialer net.Dialer
	a, err := dialer.DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return pair{}, fmt.Errorf("connect to this machine: %w", err)
	}
	b, err := listener.Accept()
	if err != nil {
		a.Close()
		return pair{}, fmt.Errorf("connect to this machine: %w", err)
	}
	p := pair{a: a.(*net.TCPConn), b: b.(*net.TCPConn)}
	if err := errors.Join(p.a.SetNoDelay(true), p.b.SetNoDelay(true)); err != nil {
		p.close()
		return pair{}, fmt.Errorf("connect to this machine: %w", err)
	}
	return p, nil
}
