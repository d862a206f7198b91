package driver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	// ConnectWithin bounds system.System's Connect. The contract allows ten seconds.
	ConnectWithin = 9 * time.Second
	// RetryPause is the pause before a client repeats a request that servers refuse temporarily.
	RetryPause = 50 * time.Millisecond
)

// dialWithin bounds a connection, with its TLS.
const dialWithin = 3 * time.Second

// errSilentTLS is the error of a server that does not answer in TLS: one without TLS may wait for
// the end of a line.
var errSilentTLS = errors.New("no answer in TLS")

// DialAny returns the first endpoint that accepts a connection, over TLS if config is not nil. If
// none does, the error is that of the first.
func DialAny(ctx context.Context, endpoints []string, config *tls.Config) (string, error) {
	var first error
	for _, endpoint := range endpoints {
		conn, err := Dial(ctx, "tcp", endpoint, config)
		if err == nil {
			_ = conn.Close() // nothing was sent
			return endpoint, nil
		}
		first = cmp.Or(first, err)
	}
	return "", first
}

// Dial connects to a server, over TLS if config is not nil. Peer.Explain distinguishes a server
// that does not answer in TLS from an unreachable one.
func Dial(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil || config == nil {
		return conn, err
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address) // the address was dialled
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // the other error says more
		if TimedOut(err) {
			err = fmt.Errorf("%w: %w", errSilentTLS, err)
		}
		return nil, err
	}
	return encrypted, nil
}
