package authority

import (
	"crypto/tls"
	"testing"
)

// A client reaches a server only at the address in its certificate, and only when the
// client trusts the authority that signed it.
func TestAuthority(t *testing.T) {
	ours, theirs := must(New())(t), must(New())(t)
	for _, c := range []struct {
		name, address string
		client        *Authority
		reaches       bool
	}{
		{"its own server", "127.0.0.1", ours, true},
		{"another authority's client", "127.0.0.1", theirs, false},
		{"a server at another address", "127.0.0.2", ours, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, certificate, err := ours.Issue("n1", c.address)
			if err != nil {
				t.Fatal(err)
			}
			pair, err := tls.X509KeyPair(certificate, key)
			if err != nil {
				t.Fatal(err)
			}
			config := &tls.Config{Certificates: []tls.Certificate{pair}}
			listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				if conn, err := listener.Accept(); err == nil {
					_ = conn.(*tls.Conn).Handshake()
					conn.Close()
				}
			}()
			conn, err := tls.Dial("tcp", listener.Addr().String(), c.client.ClientConfig())
			if (err == nil) != c.reaches {
				t.Errorf("got handshake error %v, want success %t", err, c.reaches)
			}
			if err == nil {
				conn.Close()
			}
			listener.Close()
			<-served
		})
	}
}

func must(a *Authority, err error) func(t *testing.T) *Authority {
	return func(t *testing.T) *Authority {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
}
