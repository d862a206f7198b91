package authority

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// life is the validity of a certificate. No testbed runs longer.
const life = 365 * 24 * time.Hour

// Authority signs the certificates of one cluster's servers. It is immutable, and safe for
// concurrent use.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte // the certificate
}

// New returns an authority with a new private key.
func New() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	a := &Authority{key: key, certificate: template("plimsoll testbed authority")}
	a.certificate.IsCA, a.certificate.BasicConstraintsValid = true, true
	a.certificate.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.certificate, a.certificate, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority's certificate: %w", err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a, nil
}

// slack is how far behind the clock of another machine may be.
const slack = 24 * time.Hour

func template(name string) *x509.Certificate {
	now := time.Now()
	// An error here is as unlikely as an error of rand.Read.
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-slack), NotAfter: now.Add(life),
	}
}

// PEM returns the authority's certificate in PEM.
func (a *Authority) PEM() []byte { return a.pem }

// Issue returns a new private key (PKCS #8) and a certificate, both in PEM, for a server at
// an IP address. The certificate also serves the server as a client of other servers.
func (a *Authority) Issue(name, address string) (keyPEM, certificatePEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of %s: %w", name, err)
	}
	c := template(name)
	c.IPAddresses = []net.IP{net.ParseIP(address)}
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := a.sign(c, key.Public())
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("make the key of %s: %w", name, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// Certify returns the certificate, in DER, of a key that another process holds. It serves as that
// of a server or as that of a client, and never as both.
func (a *Authority) Certify(name string, key crypto.PublicKey, use x509.ExtKeyUsage) (
	[]byte, error,
) {
	c := template(name)
	c.ExtKeyUsage = []x509.ExtKeyUsage{use}
	return a.sign(c, key)
}

func (a *Authority) sign(c *x509.Certificate, key crypto.PublicKey) ([]byte, error) {
	c.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, key, a.key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of %s: %w", c.Subject.CommonName, err)
	}
	return der, nil
}

// DER returns the authority's certificate in DER.
func (a *Authority) DER() []byte {
	block, _ := pem.Decode(a.pem)
	return block.Bytes
}

// ClientConfig returns a client's TLS configuration that trusts this authority only.
func (a *Authority) ClientConfig() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
}
