package amqp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// openWithin bounds the login and the opening of a connection and its session.
	openWithin = 3 * time.Second
	// retryPause is the pause between two rounds over the endpoints.
	retryPause = 100 * time.Millisecond
)

// Client returns the name and the version of the client library.
func Client() string { return "go-amqp " + driver.LibraryVersion("github.com/Azure/go-amqp") }

// Dialer connects to servers. Its methods are safe for concurrent use.
type Dialer struct {
	Endpoints   []string // all are tried; some may accept no clients
	HostName    string   // that a client asks for; empty: the endpoint's
	Credentials system.Credentials
	TLS         *tls.Config // nil: not encrypted
	// Silence is how long a server may send nothing, not even a heartbeat, before the
	// connection is lost.
	Silence time.Duration
	// Patience is how long clients that lost their server look for another one before they
	// refuse messages or fail.
	Patience time.Duration
}

// Conn is a connection with a session.
type Conn struct {
	*goamqp.Session
	Endpoint string
	number   int // of the endpoint
	conn     *goamqp.Conn
	wire     net.Conn
}

// Done is closed when the connection is lost or closed.
func (c *Conn) Done() <-chan struct{} { return c.conn.Done() }

// Cut closes the connection at once.
func (c *Conn) Cut() {
	_ = c.wire.Close() // it ends every read and write
	_ = c.conn.Close()
}

// confirm returns when the server has read what was sent before.
func (c *Conn) confirm() error {
	ctx, cancel := context.WithTimeout(context.Background(), openWithin)
	defer cancel()
	s, err := c.conn.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	return s.Close(ctx)
}

// Close closes the connection cleanly, and cuts it if ctx ends first. The end of the session, which
// the server answers, comes after every acceptance: a connection that is closed while messages come
// would lose those that the server has not read.
func (c *Conn) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = c.wire.Close() })
	defer stop()
	_ = c.Session.Close(ctx) // every message was answered or never will be
	_ = c.conn.Close()
}

// Dial connects to the first endpoint that accepts clients. It begins with endpoint number from,
// modulo their count. The error is Explain's.
func (d *Dialer) Dial(ctx context.Context, from int) (*Conn, error) {
	var failed error
	for i := range d.Endpoints {
		c, err := d.dialOne(ctx, (from+i)%len(d.Endpoints))
		if err == nil {
			return c, nil
		}
		// The error of a server that answers explains more than that of an address where nothing
		// listens, such as a backup's.
		if failed == nil || errors.Is(failed, syscall.ECONNREFUSED) {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, d.Explain(failed)
}

func (d *Dialer) dialOne(ctx context.Context, number int) (*Conn, error) {
	endpoint := d.Endpoints[number]
	wire, err := driver.Dial(ctx, "tcp", endpoint, d.TLS)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	gathered := gather(wire)
	conn, err := goamqp.NewConn(ctx, gathered, d.options(endpoint))
	if err != nil {
		_ = gathered.Close() // the other error says more
		return nil, &openError{err}
	}
	c := &Conn{Endpoint: endpoint, number: number, conn: conn, wire: wire}
	if c.Session, err = conn.NewSession(ctx, nil); err != nil {
		c.Cut()
		return nil, &openError{err}
	}
	return c, nil
}

func (d *Dialer) options(endpoint string) *goamqp.ConnOptions {
	host, _, _ := net.SplitHostPort(endpoint) // it was dialled
	o := &goamqp.ConnOptions{
		HostName: cmp.Or(d.HostName, host), IdleTimeout: d.Silence, WriteTimeout: d.Silence,
		SASLType: goamqp.SASLTypeAnonymous(),
	}
	if d.Credentials.User != "" {
		o.SASLType = goamqp.SASLTypePlain(d.Credentials.User, d.Credentials.Password)
	}
	return o
}

// openError returns the error of a server that accepted the connection but did not open it.
type openError struct{ err error }

func (e *openError) Error() string { return e.err.Error() }
func (e *openError) Unwrap() error { return e.err }

// Explain returns an error that says in one sentence why no server can be reached and what to do.
func (d *Dialer) Explain(err error) error {
	peer := driver.Peer{Endpoints: d.Endpoints, Protocol: "AMQP 1.0", Encrypted: d.TLS != nil}
	var opening *openError
	if errors.As(err, &opening) && driver.TimedOut(err) {
		hint := ""
		if d.TLS == nil {
			hint = "give the target tls or "
		}
		return fmt.Errorf("%s accepts the connection and does not answer, like a server that "+
			"hangs or another protocol's port: %scorrect the port: %w", peer.At(), hint, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	var refusal *goamqp.Error
	switch {
	case errors.As(err, &refusal) && refusal.Condition == goamqp.ErrCondUnauthorizedAccess:
		if errors.As(err, &opening) {
			return peer.RefusesLogin(err, "")
		}
		return fmt.Errorf("the user lacks rights at %s that a run needs: grant them, "+
			"or name another one: %w", peer.At(), err)
	case !errors.As(err, &opening):
		return err
	case says(err, "auth failed"), says(err, "no supported auth mechanism"):
		return peer.RefusesLogin(err, "")
	case says(err, "protocol"): // the library's error for a protocol other than AMQP 1.0
		return fmt.Errorf("%s does not speak AMQP 1.0: correct the port: %w", peer.At(), err)
	case driver.Broken(err):
		return peer.HungUp(err)
	}
	return err
}

func says(err error, words string) bool { return strings.Contains(err.Error(), words) }

// redial reconnects after a connection was lost, and calls open with each new connection. It
// retries until open succeeds or life ends, and then returns nil. When Patience has passed, it
// calls over with the last error; if over returns false, redial gives up.
func (d *Dialer) redial(life context.Context, from int, open func(*Conn) error,
	over func(error) (goOn bool)) *Conn {
	began := time.Now()
	var found *Conn
	_ = driver.Until(life, retryPause, func() (again bool, err error) {
		c, err := d.Dial(life, from)
		if err == nil {
			if err = open(c); err == nil {
				found = c
				return false, nil
			}
			from = c.number + 1 // it answers, but is of no use
			c.Cut()
		}
		if life.Err() != nil {
			return false, err
		}
		if time.Since(began) > d.Patience {
			return over(fmt.Errorf("no server was reached for %s: %w", d.Patience, err)), err
		}
		return true, err
	})
	return found
}
