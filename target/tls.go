package target

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/strict"
)

// TLS says whether connections are encrypted, and where the certificates are.
type TLS struct {
	Enabled bool
	// CAFile holds the certificates, in PEM, of the authorities that may sign the servers'
	// certificates; empty: the authorities that this machine trusts.
	CAFile string
	// CertFile and KeyFile hold the client certificate and its key, in PEM; empty: the client
	// shows none.
	CertFile, KeyFile string
	// ServerName is the name that the servers' certificates must hold; empty:
	// the one in the endpoint.
	ServerName string
}

func (t TLS) check(doc *strict.Document) {
	for _, f := range []struct{ key, path string }{{"ca_file", t.CAFile}, {"cert_file", t.CertFile},
		{"key_file", t.KeyFile}} {
		key := "tls." + f.key
		if doc.Has(key) && f.path == "" || len(f.path) > maxText || !strict.IsText(f.path) {
			doc.RejectSecret(key, "is not a path: write that of a file in PEM, or remove the key")
		}
	}
	if (t.CertFile == "") != (t.KeyFile == "") {
		doc.Reject("tls",
			"names a certificate without its key or a key without its certificate: give both "+
				"cert_file and key_file, or neither")
	}
	if len(t.ServerName) > maxText || strings.ContainsAny(t.ServerName, " :/@") ||
		!strict.IsText(t.ServerName) {
		doc.Reject("tls.server_name",
			"is not a host name: write the name that the servers' certificates hold")
	}
}

// Config reads the certificates. It returns nil when connections are not encrypted. The error
// names the wrong file and never shows its content.
func (t TLS) Config() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := strict.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf(
				"tls.ca_file: %s holds no certificate in PEM: export the authority's certificate "+
					"as PEM", t.CAFile)
		}
	}
	if t.CertFile != "" {
		pair, err := t.clientCertificate()
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func (t TLS) clientCertificate() (tls.Certificate, error) {
	cert, err := strict.ReadFile(t.CertFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tls.cert_file: %w", err)
	}
	key, err := strict.ReadFile(t.KeyFile)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tls.key_file: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf(
			"tls.cert_file and tls.key_file: %s and %s are not a certificate and its key, "+
				"unencrypted and in PEM", t.CertFile, t.KeyFile)
	}
	return pair, nil
}
