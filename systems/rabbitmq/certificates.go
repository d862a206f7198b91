package rabbitmq

import (
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

// certificateLife is longer than any testbed stands.
const certificateLife = 365 * 24 * time.Hour

// authority signs the certificates of one cluster's servers. Its key is
// nowhere but in memory and gone with the start.
type authority struct {
	root *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte // the certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the authority's key: %w", err)
	}
	a := &authority{key: key, root: template("plimsoll testbed authority")}
	a.root.IsCA, a.root.BasicConstraintsValid = true, true
	a.root.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, a.root, a.root, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making the authority's certificate: %w", err)
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a, nil
}

func template(name string) *x509.Certificate {
	now := time.Now()
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // fails as little as rand.Read
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
	}
}

// certificate is a server's certificate and key, each in PEM.
func (a *authority) certificate(name, host string) (certificate, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making the key of %s: %w", name, err)
	}
	c := template(name)
	c.IPAddresses = []net.IP{net.ParseIP(host)}
	c.KeyUsage = x509.KeyUsageDigitalSignature
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, c, a.root, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("making the certificate of %s: %w", name, err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("making the key of %s: %w", name, err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}

// clientConfig is what clients connect with: they trust the authority and
// nobody else.
func (a *authority) clientConfig() *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.pem)
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
}
