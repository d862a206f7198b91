package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/plimsoll-bench/plimsoll/system"
	"github.com/plimsoll-bench/plimsoll/system/driver"
)

const (
	connectWithin = 9 * time.Second // the contract allows ten
	dialWithin    = 3 * time.Second
	askWithin     = 10 * time.Second
)

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
	peer := driver.Peer{Endpoints: o.Endpoints, Protocol: "Kafka", Advertises: true,
		Encrypted: o.TLS != nil}
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		return peer.RefusesLogin(err, " and "+setSASL)
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return fmt.Errorf("%s does not know the %s: choose another: %w", peer.At(), setSASL, err)
	}
	if told := peer.Explain(err); told != nil {
		return told
	}
	var eof *kgo.ErrFirstReadEOF
	switch hungUp := errors.As(err, &eof); {
	case strings.Contains(err.Error(), "tls alert record"):
		return fmt.Errorf("%s speaks TLS and the target has none: add tls: {ca_file: …} to it, "+
			"or correct the port: %w", peer.At(), err)
	case hungUp && !peer.Encrypted && o.Credentials.User == "":
		return fmt.Errorf("%s closes the connection at once, as a port does that asks for TLS "+
			"or for a password: give the target tls or credentials, or correct the port: %w",
			peer.At(), err)
	case hungUp, errors.Is(err, io.EOF) && peer.Encrypted:
		return peer.HungUp(err)
	}
	return err
}
