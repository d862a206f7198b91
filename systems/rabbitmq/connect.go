package rabbitmq

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	connectWithin = 8 * time.Second // the contract allows ten
	dialWithin    = 3 * time.Second
	askWithin     = 10 * time.Second
	// closeGrace is what closing takes at most beyond the time that was given,
	// for what cannot be left undone.
	closeGrace = time.Second
)

// checkEndpoints refuses what the client library would misread, or print.
func checkEndpoints(endpoints []string) error {
	if len(endpoints) == 0 {
		return errors.New("no endpoints: name at least one host:port, or let plimsoll start a cluster")
	}
	for _, e := range endpoints {
		if strings.Contains(e, "@") {
			return errors.New("an endpoint holds a user or password: give them as credentials, so that they stay out of results")
		}
		if host, port, err := net.SplitHostPort(e); err != nil || host == "" || port == "" || strings.ContainsAny(host, "/,") {
			return fmt.Errorf("endpoint %q is not host:port, like rabbit-1:5672", e)
		}
	}
	return nil
}

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
	if told := explainSecurity(err, at, d.tls != nil); told != nil {
		return told
	}
	var dns *net.DNSError
	var answer *amqp.Error
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %s: check the target's endpoints: %w", dns.Name, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s (connection refused): start the server or correct the endpoints: %w", at, err)
	case isTimeout(err):
		return fmt.Errorf("%s does not answer: check the endpoints and the network between: %w", at, err)
	case errors.As(err, &answer) && answer.Server && answer.Code == amqp.NotAllowed, errors.Is(err, amqp.ErrVhost):
		return fmt.Errorf("%s does not let the user into virtual host %s: create it, grant the user rights in it, or correct %s: %w", at, d.vhost, setVhost, err)
	case errors.As(err, &answer) && !answer.Server:
		if d.tls != nil {
			return fmt.Errorf("%s closes the connection at once: it may not be RabbitMQ's port for TLS, correct the port: %w", at, err)
		}
		return fmt.Errorf("%s closes the connection at once, as a port does that asks for TLS or is not RabbitMQ's: give the target tls or correct the port: %w", at, err)
	}
	return fmt.Errorf("connecting to %s: %w", at, err)
}

// explainSecurity is explain for what TLS and passwords are about; nil: it is
// about something else.
func explainSecurity(err error, at string, encrypted bool) error {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	var header tls.RecordHeaderError
	var answer *amqp.Error
	switch {
	case errors.Is(err, amqp.ErrCredentials), errors.As(err, &answer) && answer.Server && answer.Code == amqp.AccessRefused:
		return fmt.Errorf("%s refuses the user or password: check the target's credentials: %w", at, err)
	case errors.Is(err, amqp.ErrSASL):
		return fmt.Errorf("%s does not know the %s: choose another: %w", at, setSASL, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s shows a certificate that nobody trusted has signed: name its authority's in tls.ca_file: %w", at, err)
	case errors.As(err, &hostname), errors.As(err, &invalid):
		return fmt.Errorf("%s shows a certificate that does not fit: correct the endpoint or tls.server_name: %w", at, err)
	case errors.As(err, &header):
		return fmt.Errorf("%s does not speak TLS: remove tls from the target or correct the port: %w", at, err)
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return fmt.Errorf("%s refuses the TLS connection: it may ask for a client certificate, give tls.cert_file and tls.key_file: %w", at, err)
	case encrypted && strings.Contains(err.Error(), "EOF"):
		return fmt.Errorf("%s closes the connection at once, as a port without TLS does: remove tls from the target or correct the port: %w", at, err)
	}
	return nil
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout() || strings.Contains(err.Error(), "i/o timeout")
}
