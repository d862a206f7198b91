package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/plimsoll-bench/plimsoll/system"
)

const (
	connectWithin = 9 * time.Second // the contract allows ten
	dialWithin    = 3 * time.Second
	askWithin     = 10 * time.Second
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
			return fmt.Errorf("endpoint %q is not host:port, like broker-1:9092", e)
		}
	}
	return nil
}

// mechanism is how user and password are shown; nil: there are none.
func mechanism(name string, c system.Credentials) sasl.Mechanism {
	if c.User == "" && c.Password == "" {
		return nil
	}
	switch name {
	case "scram-sha-256":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism()
	}
	return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism()
}

// baseOptions are those of every client of a cluster.
func baseOptions(o system.Options, c config) []kgo.Opt {
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Endpoints...), kgo.ClientID("plimsoll"),
		kgo.DialTimeout(dialWithin), kgo.RequestTimeoutOverhead(dialWithin),
		// The brokers need not learn how this client does.
		kgo.DisableClientMetrics(),
		// What moves to another broker is found there soon.
		kgo.MetadataMinAge(100 * time.Millisecond),
	}
	if o.TLS != nil {
		options = append(options, kgo.DialTLSConfig(o.TLS))
	}
	if m := mechanism(c.sasl, o.Credentials); m != nil {
		options = append(options, kgo.SASL(m))
	}
	return options
}

// ping finds that one endpoint answers, within connectWithin.
func ping(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	return client.Ping(ctx)
}

// explain says in one sentence why the cluster cannot be talked to.
func (c *cluster) explain(err error) error { return explain(err, c.options) }

func explain(err error, o system.Options) error {
	at := strings.Join(o.Endpoints, ", ")
	if told := explainSecurity(err, at, o); told != nil {
		return told
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %s: check the target's endpoints, and what the brokers advertise: %w", dns.Name, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens there (connection refused): start the brokers at %s or correct the endpoints: %w", at, err)
	case isTimeout(err):
		return fmt.Errorf("%s, or a broker that it advertises, does not answer: check the endpoints and the network between: %w", at, err)
	}
	return err
}

// explainSecurity is explain for what TLS and passwords are about; nil: it is
// about something else.
func explainSecurity(err error, at string, o system.Options) error {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	var header tls.RecordHeaderError
	var eof *kgo.ErrFirstReadEOF
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return fmt.Errorf("%s refuses the user or password: check the target's credentials and %s: %w", at, setSASL, err)
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return fmt.Errorf("%s does not know the %s: choose another: %w", at, setSASL, err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%s shows a certificate that nobody trusted has signed: name its authority's in tls.ca_file: %w", at, err)
	case errors.As(err, &hostname), errors.As(err, &invalid):
		return fmt.Errorf("%s shows a certificate that does not fit: correct the endpoint or tls.server_name: %w", at, err)
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return fmt.Errorf("%s refuses the TLS connection: it may ask for a client certificate, give tls.cert_file and tls.key_file: %w", at, err)
	case errors.As(err, &header):
		return fmt.Errorf("%s does not speak TLS: remove tls from the target or correct the port: %w", at, err)
	case strings.Contains(err.Error(), "tls alert record"):
		return fmt.Errorf("%s speaks TLS and the target has none: add tls: {ca_file: …} to it, or correct the port: %w", at, err)
	case errors.As(err, &eof), errors.Is(err, io.EOF) && o.TLS != nil:
		return explainHangUp(err, at, o)
	}
	return nil
}

// explainHangUp guesses why a broker closed the connection without a word.
func explainHangUp(err error, at string, o system.Options) error {
	switch {
	case o.TLS != nil:
		return fmt.Errorf("%s closes the connection at once, as a port without TLS does: remove tls from the target or correct the port: %w", at, err)
	case o.Credentials.User == "":
		return fmt.Errorf("%s closes the connection at once, as a port does that asks for TLS or for a password: give the target tls or credentials, or correct the port: %w", at, err)
	}
	return fmt.Errorf("%s closes the connection at once, as a port does that asks for TLS or is not Kafka's: give the target tls or correct the port: %w", at, err)
}

func isTimeout(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout()
}
