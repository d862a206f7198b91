package rabbitmq

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	connectWithin = 8 * time.Second // the contract allows ten
	dialWithin    = 3 * time.Second
	askWithin     = 10 * time.Second
	// closeGrace is what closing takes at most beyond the time that was given,
	// for what cannot be left undone.
	closeGrace = time.Second
	// firstPause is the wait before a lost connection is tried again; it
	// doubles up to longestPause.
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// checkURL holds that text is where a management API can be.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is not a URL: write it like http://rabbit-1:15672", text)
	case u.User != nil:
		return errors.New("holds a user or password: give them as credentials, so that they stay out of results")
	}
	return nil
}

// dialer makes connections to the cluster's nodes. Its methods may be called
// from any goroutine.
type dialer struct {
	endpoints   []string
	credentials system.Credentials
	tls         *tls.Config
	vhost, sasl string
	heartbeat   time.Duration
}

// dial connects to the endpoint of that number, counted round. heard, when it
// is not nil, is called each time before the library waits for the server: all
// that came before has by then been dealt with.
func (d dialer) dial(ctx context.Context, number int, name string, heard func()) (*amqp.Connection, error) {
	endpoint := d.endpoints[number%len(d.endpoints)]
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	deadline, _ := ctx.Deadline()
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	scheme := "amqp"
	config := amqp.Config{
		Vhost: d.vhost, Heartbeat: d.heartbeat, Properties: properties, Locale: "en_US",
		SASL: []amqp.Authentication{&amqp.PlainAuth{Username: d.credentials.User, Password: d.credentials.Password}},
		Dial: func(network, _ string) (net.Conn, error) {
			raw, err := (&net.Dialer{Timeout: dialWithin}).DialContext(ctx, network, endpoint)
			if err != nil {
				return nil, err
			}
			// The library removes it when the handshake is done.
			if err := raw.SetDeadline(deadline); err != nil {
				raw.Close()
				return nil, err
			}
			return newWire(raw, d.heartbeat, heard), nil
		},
	}
	if d.sasl == "external" {
		config.SASL = []amqp.Authentication{&amqp.ExternalAuth{}}
	}
	host, _, _ := net.SplitHostPort(endpoint)
	if d.tls != nil {
		scheme = "amqps"
		config.TLSClientConfig = d.tls.Clone()
		if config.TLSClientConfig.ServerName == "" {
			config.TLSClientConfig.ServerName = host
		}
	}
	// The address is dialled above; this one carries no secret.
	conn, err := amqp.DialConfig(scheme+"://"+endpoint, config)
	if err != nil {
		return nil, d.explain(err, endpoint)
	}
	return conn, nil
}

// dialAll connects to every endpoint side by side, and returns those
// connections that came about, by the endpoints' order, or why there is none.
func (d dialer) dialAll(ctx context.Context, name string) ([]*amqp.Connection, error) {
	conns := make([]*amqp.Connection, len(d.endpoints))
	errs := make([]error, len(d.endpoints))
	var wg sync.WaitGroup
	for i := range d.endpoints {
		wg.Go(func() { conns[i], errs[i] = d.dial(ctx, i, name, nil) })
	}
	wg.Wait()
	for _, conn := range conns {
		if conn != nil {
			return conns, nil
		}
	}
	return nil, errs[0]
}

// hangUp closes a connection within ctx, and at least closeGrace.
func hangUp(ctx context.Context, conn *amqp.Connection) error {
	deadline := time.Now().Add(askWithin)
	if at, bounded := ctx.Deadline(); bounded && at.Before(deadline) {
		deadline = at
	}
	if least := time.Now().Add(closeGrace); ctx.Err() != nil || deadline.Before(least) {
		deadline = least
	}
	if err := conn.CloseDeadline(deadline); err != nil && !errors.Is(err, amqp.ErrClosed) {
		return fmt.Errorf("closing the connection: %w", err)
	}
	return nil
}

// explain says in one sentence why a node cannot be talked to.
func (d dialer) explain(err error, at string) error {
	peer := driver.Peer{Endpoints: []string{at}, Protocol: "RabbitMQ", Encrypted: d.tls != nil}
	var answer *amqp.Error
	answered := errors.As(err, &answer)
	switch {
	case errors.Is(err, amqp.ErrCredentials), answered && answer.Server &&
		answer.Code == amqp.AccessRefused:
		return peer.RefusesLogin(err, "")
	case errors.Is(err, amqp.ErrSASL):
		return fmt.Errorf("%s does not know the %s: choose another: %w", at, setSASL, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	switch {
	case answered && answer.Server && answer.Code == amqp.NotAllowed, errors.Is(err, amqp.ErrVhost):
		return fmt.Errorf("%s does not let the user into virtual host %s: create it, grant the user rights in it, or correct %s: %w", at, d.vhost, setVhost, err)
	case peer.Encrypted && !strings.Contains(err.Error(), "EOF") && answered && !answer.Server:
		return fmt.Errorf("%s closes the connection at once: it may not be RabbitMQ's port for "+
			"TLS, correct the port: %w", at, err)
	case peer.Encrypted && strings.Contains(err.Error(), "EOF"), answered && !answer.Server:
		return peer.HungUp(err)
	}
	return fmt.Errorf("connecting to %s: %w", at, err)
}

// tries paces the attempts to reach a server again. The pause between two doubles.
type tries struct {
	until time.Time
	next  time.Duration
}

func newTries(patience time.Duration) tries {
	return tries{until: time.Now().Add(patience), next: firstPause}
}

// over says whether the patience is at its end.
func (t *tries) over() bool { return time.Now().After(t.until) }

// pause waits before the next attempt; false: ctx has ended.
func (t *tries) pause(ctx context.Context) bool {
	wait := t.next
	t.next = min(2*wait, longestPause)
	return driver.Sleep(ctx, wait)
}
