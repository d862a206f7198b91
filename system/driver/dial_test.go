package driver

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
)

// A server that waits for a line is not mistaken for an unreachable one, and a certificate is
// compared with the dialled address.
func TestDial(t *testing.T) {
	signs, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	key, certificate, err := signs.Issue("n1", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	encrypted := tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{pair}})
	dial := func(config *tls.Config) error {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		conn, err := Dial(ctx, "tcp", plain.Addr().String(), config)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	if err := dial(nil); err != nil {
		t.Error(err)
	}
	peer := Peer{Endpoints: []string{"h:1"}, Encrypted: true}
	if err := dial(signs.ClientConfig()); err == nil ||
		!strings.Contains(peer.Explain(err).Error(), "h:1 does not speak TLS: remove tls") {
		t.Errorf("nobody answers: %v", err)
	}
	go func() {
		for {
			conn, err := encrypted.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).Handshake() // the client tells
			conn.Close()
		}
	}()
	if err := dial(signs.ClientConfig()); err != nil {
		t.Error(err)
	}
}
