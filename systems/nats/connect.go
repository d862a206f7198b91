package nats

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	// connectWithin bounds connecting to all endpoints together, and leaves
	// time for what follows within the ten seconds that the contract allows.
	connectWithin = 6 * time.Second
	askWithin     = 3 * time.Second // one question to a server that is connected
	pingEvery     = 10 * time.Second
	retryAfter    = 250 * time.Millisecond
)

// login is who connects, as what. It is a secret and is never printed.
type login struct {
	user, password string
	tls            *tls.Config // nil: not encrypted
}

// connectTo opens one connection, to the endpoint number first if it answers.
func connectTo(ctx context.Context, endpoints []string, first int, who login, name string, reconnectBuffer int) (*nats.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	order := make([]string, 0, len(endpoints))
	for i := range endpoints {
		order = append(order, endpoints[(first+i)%len(endpoints)])
	}
	each := connectWithin / time.Duration(2*len(endpoints))
	each = min(max(each, 500*time.Millisecond), 3*time.Second)
	d := &dialer{ctx: ctx, timeout: each}
	options := []nats.Option{
		nats.Name(name), nats.UserInfo(who.user, who.password),
		nats.SetCustomDialer(d), nats.SkipHostLookup(), nats.Timeout(each),
		nats.DontRandomize(), nats.MaxReconnects(-1), nats.ReconnectWait(retryAfter),
		nats.ReconnectBufSize(reconnectBuffer),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		// A server that takes nothing any more must not hold a Send for long.
		nats.FlusherTimeout(askWithin),
		// Without one the library prints to standard error.
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}
	if who.tls != nil {
		options = append(options, nats.Secure(who.tls))
	}
	conn, err := nats.Connect(strings.Join(order, ","), options...)
	if err != nil {
		return nil, explainDial(err, d.last(), endpoints)
	}
	d.connected()
	return conn, nil
}

// checkEndpoints refuses what the client library would misread, or print.
func checkEndpoints(endpoints []string) error {
	if len(endpoints) == 0 {
		return driver.ErrNoEndpoints
	}
	for _, e := range endpoints {
		address := e
		if !strings.Contains(address, "://") {
			address = "nats://" + address
		}
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || strings.Contains(e, ",") {
			return errors.New("an endpoint is not host:port or nats://host:port")
		}
		if u.User != nil {
			return fmt.Errorf("endpoint %s holds a user or password: give them as credentials, so that they stay out of results", u.Redacted())
		}
	}
	return nil
}

// dialer dials for the client library and remembers why it failed, which the
// library does not tell.
type dialer struct {
	timeout time.Duration

	mu  sync.Mutex
	ctx context.Context // of the first connection; nil afterwards
	err error
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	d.mu.Lock()
	ctx := d.ctx
	d.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	return conn, err
}

func (d *dialer) last() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *dialer) connected() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = nil
}

// explainDial says in one sentence why no endpoint could be connected to.
func explainDial(err, dialErr error, endpoints []string) error {
	peer := driver.Peer{Endpoints: endpoints, Protocol: "NATS"}
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		strings.Contains(strings.ToLower(err.Error()), "authorization violation"):
		return peer.RefusesLogin(err, "")
	case dialErr != nil:
		return cmp.Or(peer.Explain(dialErr), fmt.Errorf("%s: %w", peer.At(), dialErr))
	case errors.Is(err, nats.ErrNoInfoReceived), isTimeout(err), errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("something accepts connections at %s but does not greet as NATS does: "+
			"check the port: %w", peer.At(), err)
	}
	return cmp.Or(peer.Explain(err), fmt.Errorf("%s: %w", peer.At(), err))
}

func isTimeout(err error) bool { return errors.Is(err, nats.ErrTimeout) || driver.TimedOut(err) }

// checkJetStream says in one sentence why JetStream cannot be used.
func checkJetStream(ctx context.Context, js jetstream.JetStream, endpoints []string) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	_, err := js.AccountInfo(ctx)
	at := strings.Join(endpoints, ", ")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("JetStream is not enabled for this user's account at %s: enable it, or use another user: %w", at, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("JetStream is not enabled at %s: add a jetstream block to the servers' configuration: %w", at, err)
	case isTimeout(err):
		return fmt.Errorf("JetStream at %s does not answer: does the cluster have a leader? %w", at, err)
	}
	return fmt.Errorf("asking %s about JetStream: %w", at, err)
}
