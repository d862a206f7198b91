package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"

	"github.com/plimsoll-bench/plimsoll/system/strict"
)

// TLS says whether connections are encrypted, and where the certificates are.
type TLS struct {
	Enabled bool
	// CAFile holds the certificates, in PEM, of the authorities that may sign the servers'
	// certificates; empty: the authorities that this machine trusts.
	CAFile string
	// CertFile and KeyFile hold the client certificate and its key, in PEM; empty: the client has
	// none.
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

// Trust is what encrypted connections need: the content of the files that TLS names. It is as
// secret as the key in it.
type Trust struct {
	CA               []byte // PEM; empty: the authorities that this machine trusts
	Certificate, Key []byte // of the client, PEM; empty: none
	ServerName       string // empty: the one in the endpoint
}

// String hides the key.
func (Trust) String() string { return redacted }

// GoString hides the key from %#v.
func (Trust) GoString() string { return redacted }

// Trust reads the certificates. It returns nil when connections are not encrypted. The error
// names the wrong file and never shows its content.
func (t TLS) Trust() (*Trust, error) {
	if !t.Enabled {
		return nil, nil
	}
	read := &Trust{ServerName: t.ServerName}
	for _, f := range []struct {
		key, path string
		into      *[]byte
	}{
		{"ca_file", t.CAFile, &read.CA}, {"cert_file", t.CertFile, &read.Certificate},
		{"key_file", t.KeyFile, &read.Key},
	} {
		if f.path == "" {
			continue
		}
		pem, err := strict.ReadFile(f.path)
		if err != nil {
			return nil, fmt.Errorf("tls.%s: %w", f.key, err)
		}
		*f.into = pem
	}
	switch _, err := read.Config(); {
	case errors.Is(err, errNoAuthority):
		return nil, fmt.Errorf(
			"tls.ca_file: %s holds no certificate in PEM: export the authority's certificate as "+
				"PEM", t.CAFile)
	case err != nil:
		return nil, fmt.Errorf(
			"tls.cert_file and tls.key_file: %s and %s are not a certificate and its key, "+
				"unencrypted and in PEM", t.CertFile, t.KeyFile)
	}
	return read, nil
}

var (
	errNoAuthority = errors.New("there is no certificate of an authority in PEM")
	errNoPair      = errors.New("there is no client certificate with its key in PEM")
)

// Config returns the configuration of a client; nil on nil.
func (t *Trust) Config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if len(t.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errNoAuthority
		}
	}
	if len(t.Certificate) > 0 {
		pair, err := tls.X509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, errNoPair // the cause may show a part of the key
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
