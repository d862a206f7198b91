package fleet

import (
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// dropping is a listener that drops its first connection.
type dropping struct {
	net.Listener
	dropped atomic.Bool
}

func (d *dropping) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err == nil && !d.dropped.Swap(true) {
		_ = conn.Close()
		return d.Accept()
	}
	return conn, err
}

// A connection that the coordinator drops before it knows whose it was is made again.
func TestDroppedConnectionsAreMadeAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(
		func(_ any, s grpc.ServerStream) error { <-s.Context().Done(); return nil }))
	d := &dropping{Listener: listener}
	go func() { _ = server.Serve(d) }() // Stop ends it
	defer server.Stop()
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := openStream(t.Context(), conn); err != nil || !d.dropped.Load() {
		t.Errorf("%v, dropped: %t", err, d.dropped.Load())
	}
}
