package driver

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

	"github.com/plimsoll-bench/plimsoll/system"
)

// Peer describes a client's servers in errors.
type Peer struct {
	Endpoints  []string
	Protocol   string // its name
	Advertises bool   // the servers redirect clients to other addresses
	Encrypted  bool   // the client uses TLS
}

// At returns the endpoints in one line.
func (p Peer) At() string { return strings.Join(p.Endpoints, ", ") }

// Explain returns an error that says in one sentence why a connection failed and what to
// do. It explains errors of the network and of TLS, and returns nil for others.
func (p Peer) Explain(err error) error {
	if told := p.explainTLS(err); told != nil {
		return told
	}
	advertised := ""
	if p.Advertises {
		advertised = ", and what the servers advertise"
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %s: check the target's endpoints%s: %w",
			dns.Name, advertised, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens there (connection refused): start the servers at %s "+
			"or correct the endpoints: %w", p.At(), err)
	case TimedOut(err):
		return p.Silent(err)
	}
	return nil
}

// Silent returns the error of servers that did not answer in time.
func (p Peer) Silent(err error) error {
	another := ""
	if p.Advertises {
		another = ", or a server that it advertises,"
	}
	return fmt.Errorf("%s%s does not answer: check the endpoints and the network: %w",
		p.At(), another, err)
}

// explainTLS is Explain for errors of TLS. It returns nil for others.
func (p Peer) explainTLS(err error) error {
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var alert tls.AlertError
	var header tls.RecordHeaderError
	says := func(what string) error { return fmt.Errorf("%s %s: %w", p.At(), what, err) }
	switch {
	case errors.As(err, &unknown):
		return says("presents a certificate without a trusted signature: " +
			"name its authority's certificate in tls.ca_file")
	case errors.As(err, &hostname), errors.As(err, &invalid):
		return says("presents a certificate that does not fit: " +
			"correct the endpoint or tls.server_name")
	case errors.As(err, &alert), strings.Contains(err.Error(), "remote error: tls"):
		return says("refuses the TLS connection: it may ask for a client certificate, " +
			"give tls.cert_file and tls.key_file")
	case errors.As(err, &header), errors.Is(err, errSilentTLS):
		return says("does not speak TLS: remove tls from the target or correct the port")
	}
	return nil
}

// HungUp returns the likely cause when a server closes a connection without an answer.
func (p Peer) HungUp(err error) error {
	if p.Encrypted {
		return fmt.Errorf("%s closes the connection at once, like a port without TLS: "+
			"remove tls from the target or correct the port: %w", p.At(), err)
	}
	return fmt.Errorf("%s closes the connection at once, like a port that requires TLS or is "+
		"not %s's: give the target tls or correct the port: %w", p.At(), p.Protocol, err)
}

// RefusesLogin returns the error of a server that refuses user and password. check, which
// may be empty, names what else to check.
func (p Peer) RefusesLogin(err error, check string) error {
	return fmt.Errorf("%s refuses the user or password: check the target's credentials%s: %w",
		p.At(), check, err)
}

// TimedOut reports whether an error is a time-out.
func TimedOut(err error) bool {
	var t net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &t) && t.Timeout() ||
		strings.Contains(err.Error(), "i/o timeout")
}

// Broken reports whether an error says that a connection ended before the answer came.
func Broken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Outcome returns the result of a message from a client library's error. After one of the
// refusals the servers have not written the message and will not. After any other error
// they may have written it.
func Outcome(err error, refusals []error) error {
	for _, refusal := range refusals {
		if errors.Is(err, refusal) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", err, system.ErrUnknown)
}
