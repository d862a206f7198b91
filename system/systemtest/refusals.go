package systemtest

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-bench/plimsoll/internal/authority"
	"github.com/plimsoll-bench/plimsoll/system"
)

// answersWithin is the time within which a wrong target must be refused.
const answersWithin = 10 * time.Second

// Refused checks that an error came in time, is one sentence, and says what to check.
func Refused(t testing.TB, began time.Time, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("it was accepted")
	}
	if took := time.Since(began); took > answersWithin {
		t.Errorf("it took %s", took)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one sentence: %v", err)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("does not say %q: %v", part, err)
		}
	}
	t.Logf("after %s: %v", time.Since(began).Round(time.Millisecond), err)
}

// Refusal is a connection that a system must refuse.
type Refusal struct {
	Of     func(t testing.TB) system.Options
	Change func(o *system.Options) // nil: Of has the change
	Says   []string                // parts of the error
}

// Refusals connects with options that are wrong, and checks what the system says.
func Refusals(t *testing.T, s system.System, all map[string]Refusal) {
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			o := c.Of(t)
			if c.Change != nil {
				c.Change(&o)
			}
			began, err := TryConnect(t, s, o)
			Refused(t, began, err, c.Says...)
		})
	}
}

// UsualRefusals are those of a wrong login and of the wrong encryption. plain returns options with
// a password and without TLS, and secured those with TLS.
func UsualRefusals(t *testing.T,
	plain, secured func(testing.TB) system.Options) map[string]Refusal {
	t.Helper()
	stranger, err := authority.New()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Refusal{
		"wrong password": {plain, func(o *system.Options) { o.Credentials.Password = "wrong" },
			[]string{"refuses the user or password", "check the target's credentials"}},
		"no password": {plain, func(o *system.Options) { o.Credentials = system.Credentials{} },
			[]string{"refuses the user or password"}},
		"TLS to a plaintext port": {plain,
			func(o *system.Options) { o.TLS = stranger.ClientConfig() },
			[]string{"does not speak TLS", "remove tls from the target"}},
		"plaintext to a TLS port": {secured, func(o *system.Options) { o.TLS = nil },
			[]string{"give the target tls or correct the port"}},
		"untrusted certificate": {secured, func(o *system.Options) {
			o.TLS = o.TLS.Clone()
			o.TLS.RootCAs = x509.NewCertPool()
		}, []string{"without a trusted signature", "tls.ca_file"}},
	}
}

// Stranger returns the address of a server of another protocol. It writes a text to each
// connection, after it has read something if it waits to be asked, and closes it.
func Stranger(t testing.TB, asked bool, says string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if asked {
				_, _ = conn.Read(make([]byte, 1024))
			}
			_, _ = io.WriteString(conn, says)
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// TryConnect connects, and closes the connection if it succeeds.
func TryConnect(t testing.TB, s system.System, o system.Options) (began time.Time, err error) {
	t.Helper()
	began = time.Now()
	c, err := s.Connect(t.Context(), o)
	if err == nil {
		closeCluster(t, c)
	}
	return began, err
}

func closeCluster(t testing.TB, c system.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

// Connect connects for the time of the test. C is the system's own type of a connected cluster.
func Connect[C system.Cluster](t testing.TB, s system.System, o system.Options) C {
	t.Helper()
	c, err := s.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeCluster(t, c) })
	return c.(C)
}
